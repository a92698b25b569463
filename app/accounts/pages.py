from typing import Any
from zlib import crc32

from flask import Response, flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.utils import redirect

from app.accounts import service as accounts
from app.accounts.forms import ends_admin, makes_admin
from app.accounts.models import Account
from app.accounts.tokens import service as tokens
from app.accounts.tokens.models import Issued, Token
from app.core.events import service as events
from app.core.permissions import Access
from app.web.browsers import require_password
from app.web.conflicts import EditPage
from app.web.current import current_actor, current_settings
from app.web.forms import ReasonForm, show_form, submitted
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

COLOURS = (
    *("#0b6074", "#6b4fa3", "#9a4a12", "#2f6b2f"),
    *("#a3285f", "#2c5aa8", "#75610a", "#56656b"),
)
"""The light hues of static/css/tokens.css; white on them is easy to read."""
YEAR = 31_536_000

bp = PageBlueprint("avatar_pages", __name__)


@bp.get("/avatars/<string(maxlength=2):initials>.svg", needs=Access.PUBLIC)
def avatar(initials: str) -> Response:
    """A picture of initials. Public, because it shows nothing that its address doesn't."""
    colour = COLOURS[crc32(initials.encode()) % len(COLOURS)]
    picture = render_template("accounts/avatar.svg", initials=initials, colour=colour)
    response = Response(picture, mimetype="image/svg+xml")
    response.cache_control.public = True
    response.cache_control.max_age = YEAR
    return response


EXAMPLE = """\
export FLAGSTAFF_URL={base}
read -rs FLAGSTAFF_TOKEN   # paste the token, press Enter
curl "$FLAGSTAFF_URL/api/admin/user" -H "Authorization: $FLAGSTAFF_TOKEN\""""


def secret_page(issued: Issued[Token], owner: str, *, back: tuple[str, str]) -> str:
    """The only page that shows the secret of a new token. ``back``: (title, address)."""
    example = EXAMPLE.format(base=current_settings().address(""))
    return render_template(
        "accounts/tokens/secret.html", issued=issued, owner=owner, back=back, example=example
    )


def revoke_token(
    account_id: int, token_id: int, *, above: list[tuple[str, str]], api_path: str
) -> ResponseReturnValue:
    """Revoke a token, after a page that shows what it is.

    ``above``: the pages above this one, (title, address); the last one comes next. ``api_path``:
    of the token.
    """
    token, form = tokens.get(account_id, token_id), ReasonForm()
    if submitted(form, lambda: tokens.revoke(current_actor, account_id, token_id)):
        flash(f"Token {token.description} revoked. It no longer works.", "ok")
        return redirect(above[-1][1], 303)
    return show_form(
        "accounts/tokens/revoke.html", form, token=token, above=above, api_path=api_path
    )


def save(edit: EditPage[Any], account: Account) -> ResponseReturnValue:
    """Save changes to a locked account, unless someone else changed it first."""
    if makes_admin(edit.form, account):
        require_password(f"make {account.called} an Admin")
    batch = events.new_batch()
    # Undo would make them an Admin again, without the password.
    has_undo = not ends_admin(edit.form, account)
    return edit.save(
        lambda: accounts.update(current_actor.for_act(batch), account, **edit.form.values),
        lambda: f"{account.called} saved.",
        redirect_to(".show", account_id=account.id),
        batch=batch if has_undo else None,
    )
