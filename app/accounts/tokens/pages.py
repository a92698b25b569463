from flask import render_template
from flask.typing import ResponseReturnValue

from app.accounts.tokens.models import Token
from app.accounts.tokens.service import IssuedToken
from app.web.forms import ReasonForm, show_form
from app.web.settings import current_settings

EXAMPLE = """\
export FLAGSTAFF_URL={base}
read -rs FLAGSTAFF_TOKEN   # paste the token, press Enter
curl "$FLAGSTAFF_URL/api/admin/user" -H "Authorization: $FLAGSTAFF_TOKEN\""""


def secret_page(issued: IssuedToken, owner: str, *, back: tuple[str, str]) -> str:
    """The only page that shows the secret of a new token. ``back``: (title, address)."""
    example = EXAMPLE.format(base=current_settings().address(""))
    return render_template(
        "accounts/tokens/secret.html", issued=issued, owner=owner, back=back, example=example
    )


def revoke_page(
    token: Token, form: ReasonForm, *, above: list[tuple[str, str]], api_path: str
) -> ResponseReturnValue:
    """What revoking a token changes. ``above``: the pages above this one, (title, address)."""
    return show_form(
        "accounts/tokens/revoke.html", form, token=token, above=above, api_path=api_path
    )
