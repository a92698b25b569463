"""People link their own account to the person they are at the provider."""

from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.access.sign_on import cookies, people
from app.access.sign_on.cookies import Purpose
from app.access.sign_on.pages import send_away
from app.accounts import identities
from app.accounts import service as accounts
from app.core.errors import Invalid
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.web.browsers import require_password
from app.web.current import current_actor, current_settings
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

PATH = "/account/single-sign-on"

bp = PageBlueprint("linking_pages", __name__)


@bp.get(PATH, needs=Access.SIGNED_IN)
def show() -> ResponseReturnValue:
    """Show the account's links to single sign-on, and the person to link next."""
    return render_template(
        "access/sign_on/linking.html",
        account=accounts.get(current_actor.account_id),
        identities=identities.of_account(current_actor.account_id),
        pending=cookies.pending_person(),
        settings=current_settings(),
    )


@bp.get(f"{PATH}/begin", needs=Access.SIGNED_IN)
def begin() -> ResponseReturnValue:
    """Redirect to the provider, which says who the browser's user is there."""
    return send_away(Purpose.LINK, PATH, current_actor.session_id)


@bp.post(PATH, needs=Access.SIGNED_IN, keeps=NOTHING)
def link() -> ResponseReturnValue:
    """Link the account to the person who just signed in at the provider."""
    person = cookies.pending_person()
    if person is None:
        raise Invalid("This took longer than 10 minutes. Nothing has changed. Start again.")
    require_password(f"sign in as {person.label} from now on")
    people.link(current_actor, accounts.get_for_change(current_actor.account_id), person)
    cookies.drop_person()
    name = current_settings().sign_on_name
    flash(f"Linked. You can sign in with {name} from now on.", "ok")
    return redirect_to(".show")


@bp.post("/users/<id:account_id>/single-sign-on/<id:identity_id>/unlink", needs=Permission.ADMIN)
def unlink(account_id: int, identity_id: int) -> Response:
    """Remove a wrong link between an account and a person at the provider."""
    account = accounts.get_for_change(account_id)
    known = identities.get(account_id, identity_id)
    require_password(f"unlink {known.subject} from {account.called}")
    identities.unlink(current_actor, account, known)
    flash(f"{known.subject} unlinked. They can’t sign in as {account.called} any more.", "ok")
    return redirect_to("user_pages.show", account_id=account_id)
