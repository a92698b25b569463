from functools import partial

from flask import flash, render_template
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.accounts import inactive, passwords, schemas
from app.accounts import service as accounts
from app.accounts.forms import in_words, makes_admin
from app.accounts.models import Account, AccountKind
from app.auth import second_factor
from app.core import exports
from app.core.actor import current_actor
from app.core.conflicts import Values, Watch
from app.core.forms import ReasonForm, attempt, carry_out, show_form
from app.core.pages import PageBlueprint, Query, prove, proven, read_query, see
from app.core.permissions import ROOT_ROLES, Permission, Role
from app.core.settings import current_settings
from app.people import service
from app.people.forms import NewUserForm, UserForm, settings_of

bp = PageBlueprint("people", __name__, url_prefix="/users")

WORDS = {"username": "User name", "email": "E-mail", "name": "Full name", "root_role": "Role"}


@bp.get("", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """Everybody who has an account; or all that match as a file."""
    query = read_query(schemas.UserQuery)
    query.values["deleted"] = False
    if exports.wanted():
        return _file("users", query)
    return render_template(
        "people/index.html",
        query=query,
        page=accounts.search(AccountKind.PERSON, **query.values),
        roles=ROOT_ROLES,
        people=accounts.count_people(),
        inactive=inactive.search(after=current_settings().inactivity, limit=0, offset=0).total,
        deleted=accounts.search(AccountKind.PERSON, deleted=True, limit=0, offset=0).total,
    )


@bp.route("/new", methods=["GET", "POST"], needs=Permission.ADMIN)
@proven
def new() -> ResponseReturnValue:
    """Create a person; the one-time link to set the password is in this answer alone."""
    form = NewUserForm(data={"root_role": str(Role.VIEWER.value)})
    if account := attempt(form, lambda: accounts.create(current_actor, **form.values)):
        return _link_page(account, is_new=True)
    return show_form("people/new.html", form, roles=ROOT_ROLES)


@bp.get("/<id:account_id>", needs=Permission.ADMIN)
def show(account_id: int) -> ResponseReturnValue:
    """A person: who he is, what he holds, what can be done."""
    account = accounts.get(account_id)
    return _user_page(account, UserForm(data=settings_of(account)))


@bp.post("/<id:account_id>", needs=Permission.ADMIN)
def update(account_id: int) -> ResponseReturnValue:
    """Save, unless somebody else was quicker: then say what he changed."""
    account = accounts.get_for_change(account_id)
    present = settings_of(account)
    form = UserForm(data=present)
    if makes_admin(form, account):
        prove()
    if overtaken := _watch(account_id).overtaken(present):
        return _user_page(account, form, overtaken)
    if carry_out(form, lambda: accounts.update(current_actor, account, **form.values)):
        flash(f"{account.called} saved.", "ok")
        return see(".show", account_id=account_id)
    return _user_page(accounts.get(account_id), form)


@bp.post("/<id:account_id>/link", needs=Permission.ADMIN)
@proven
def make_link(account_id: int) -> ResponseReturnValue:
    """A new one-time link to set the password; it is in this answer alone."""
    return _link_page(accounts.get_for_change(account_id), is_new=False)


@bp.post("/<id:account_id>/sign-out", needs=Permission.ADMIN)
def sign_out(account_id: int) -> Response:
    """End all sessions of a person."""
    account = accounts.get_for_change(account_id)
    accounts.sign_out(current_actor, account)
    flash(f"{account.called} is signed out everywhere, and can sign in again.", "ok")
    return see(".show", account_id=account_id)


@bp.post("/<id:account_id>/second-step/off", needs=Permission.ADMIN)
@proven
def turn_second_step_off(account_id: int) -> Response:
    """Let the password be enough for somebody who lost his phone."""
    account = accounts.get_for_change(account_id)
    second_factor.turn_off(current_actor, account)
    flash(f"Two-step sign-in of {account.called} is off.", "ok")
    return see(".show", account_id=account_id)


@bp.get("/<id:account_id>/delete", needs=Permission.ADMIN)
def review_removal(account_id: int) -> ResponseReturnValue:
    """What deleting a person would do."""
    return _removal_page(accounts.get(account_id), ReasonForm())


@bp.post("/<id:account_id>/delete", needs=Permission.ADMIN)
@proven
def remove(account_id: int) -> ResponseReturnValue:
    """Delete a person, who can be restored for a while."""
    account, form = accounts.get_for_change(account_id), ReasonForm()
    if carry_out(form, lambda: accounts.remove(current_actor, account)):
        flash(f"{account.called} is deleted, and can be restored for 30 days.", "ok")
        return see(".index")
    return _removal_page(accounts.get(account_id), form)


@bp.get("/deleted", needs=Permission.ADMIN)
def index_deleted() -> ResponseReturnValue:
    """Who was deleted lately and can be restored; or all of them as a file."""
    query = read_query(schemas.UserQuery)
    query.values["deleted"] = True
    if exports.wanted():
        return _file("deleted-users", query)
    page = accounts.search(AccountKind.PERSON, **query.values)
    return render_template(
        "people/deleted.html", query=query, page=page, restorable=accounts.RESTORABLE
    )


@bp.post("/<id:account_id>/restore", needs=Permission.ADMIN)
def restore(account_id: int) -> Response:
    """Bring a deleted person back."""
    account = accounts.restore(current_actor, account_id)
    flash(f"{account.called} is back, with roles and without tokens.", "ok")
    return see(".show", account_id=account_id)


def _file(name: str, query: Query) -> ResponseReturnValue:
    search = partial(accounts.search, AccountKind.PERSON)
    return exports.table(name, schemas.UserDetail(), search, query.values)


def _link_page(account: Account, *, is_new: bool) -> ResponseReturnValue:
    address = current_settings().address(passwords.make_link(account))
    return render_template("people/link.html", account=account, link=address, is_new=is_new)


def _watch(account_id: int) -> Watch:
    return Watch(f"user {account_id}", WORDS, in_words)


def _user_page(
    account: Account, form: UserForm, overtaken: Values | None = None
) -> ResponseReturnValue:
    return _watch(account.id).show(
        "people/show.html",
        form,
        settings_of(account),
        overtaken,
        account=account,
        holdings=service.holdings([account.id])[account.id],
        roles=ROOT_ROLES,
        has_second_step=second_factor.is_on(account.id),
        activity=service.recent(account.id),
    )


def _removal_page(account: Account, form: ReasonForm) -> ResponseReturnValue:
    [candidate] = service.candidates(current_actor, [(account, None)])
    return show_form("people/delete.html", form, account=account, candidate=candidate)
