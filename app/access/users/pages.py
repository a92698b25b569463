from functools import partial
from typing import Any

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.access.auth import second_factor
from app.access.groups import service as groups
from app.access.groups import sources
from app.access.users import schemas, service
from app.access.users.forms import NewUserForm, UserForm, form_data
from app.access.users.requests import create_link
from app.accounts import directory, identities, pages
from app.accounts import service as accounts
from app.accounts.forms import display_values
from app.accounts.models import Account, AccountKind
from app.core.events import service as events
from app.core.permissions import ROOT_ROLES, Permission, Role
from app.core.words import counted
from app.web import exports
from app.web.browsers import require_password
from app.web.conflicts import EditPage
from app.web.current import current_actor, current_settings
from app.web.forms import ReasonForm, flash_errors, show_form, submit, submitted
from app.web.listing import Query, ids_in, read_query
from app.web.redirects import flash_with_undo, own_path, redirect_to, redirect_to_path
from app.web.routes import PageBlueprint

bp = PageBlueprint("user_pages", __name__, url_prefix="/users")

TOKENS_STAY = "Their roles are back, their tokens aren’t."


@bp.get("", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """List users, or export all that match."""
    query = read_query(schemas.UserQuery)
    query.values["deleted"] = False
    if exports.wanted():
        return _file("users", query)
    return render_template(
        "access/users/index.html",
        query=query,
        filters=_filters(query),
        page=accounts.search(AccountKind.PERSON, **query.values),
        role_choices=[(role.value, role.title) for role in ROOT_ROLES],
        counts=service.counts(inactivity=current_settings().inactivity),
    )


@bp.form("/new", needs=Permission.ADMIN)
def new() -> ResponseReturnValue:
    """Create a user; only this response shows the one-time link to set the password."""
    require_password("create a user")
    form = NewUserForm(data={"root_role": str(Role.VIEWER.value)})
    if account := submit(form, lambda: accounts.create(current_actor, **form.values)):
        return _link_page(account, is_new=True)
    return show_form("access/users/new.html", form, roles=ROOT_ROLES)


@bp.get("/<id:account_id>", needs=Permission.ADMIN)
def show(account_id: int) -> ResponseReturnValue:
    """A user: settings, access and actions."""
    return _edit(accounts.get(account_id)).show()


@bp.post("/<id:account_id>", needs=Permission.ADMIN)
def update(account_id: int) -> ResponseReturnValue:
    """Save, unless someone else changed the user first: then show what they changed."""
    account = accounts.get_for_change(account_id)
    return pages.save(_edit(account), account)


@bp.form("/<id:account_id>/link", needs=Permission.ADMIN)
def make_link(account_id: int) -> ResponseReturnValue:
    """Create a one-time link to set the password; only this response shows it."""
    account, form = accounts.get_for_change(account_id), ReasonForm()
    if form.validate_on_submit():
        require_password(f"create a link to set the password of {account.called}")
        return _link_page(account, is_new=False)
    return show_form("access/users/new_link.html", form, account=account)


@bp.post("/<id:account_id>/sign-out", needs=Permission.ADMIN)
def sign_out(account_id: int) -> Response:
    """End all sessions of a user."""
    account = accounts.get_for_change(account_id)
    accounts.sign_out(current_actor, [account])
    flash(f"{account.called} signed out everywhere. They can sign in again.", "ok")
    return redirect_to(".show", account_id=account_id)


@bp.post("/<id:account_id>/second-step/off", needs=Permission.ADMIN)
def turn_second_step_off(account_id: int) -> Response:
    """Turn off two-step sign-in for someone who lost their phone."""
    account = accounts.get_for_change(account_id)
    require_password(f"turn off two-step sign-in for {account.called}")
    second_factor.turn_off(current_actor, account)
    flash(f"Two-step sign-in turned off for {account.called}.", "ok")
    return redirect_to(".show", account_id=account_id)


@bp.route(
    "/<id:account_id>/tokens/<id:token_id>/revoke",
    methods=["GET", "POST"],
    needs=Permission.ADMIN,
    writes=True,
)
def revoke_token(account_id: int, token_id: int) -> ResponseReturnValue:
    """Revoke a user's personal token, after a page that shows what it is."""
    account = accounts.get(account_id)
    return pages.revoke_token(
        account_id,
        token_id,
        above=[
            ("Users", url_for(".index")),
            (account.called, url_for(".show", account_id=account_id)),
        ],
        api_path=f"/api/admin/user-admin/{account_id}/token/{token_id}",
    )


@bp.get("/<id:account_id>/delete", needs=Permission.ADMIN)
def review_removal(account_id: int) -> ResponseReturnValue:
    """What deleting a user would change."""
    return _removal_page(accounts.get(account_id), ReasonForm())


@bp.post("/<id:account_id>/delete", needs=Permission.ADMIN)
def remove(account_id: int) -> ResponseReturnValue:
    """Delete a user, who can be restored for a while."""
    account, form = accounts.get_for_change(account_id), ReasonForm()
    require_password(f"delete user {account.called}")
    if submitted(form, lambda: accounts.remove(current_actor, account)):
        flash(f"{account.called} deleted. You can restore them for 30 days.", "ok")
        return redirect_to(".index_deleted")
    return _removal_page(accounts.get(account_id), form)


@bp.get("/deleted", needs=Permission.ADMIN)
def index_deleted() -> ResponseReturnValue:
    """List deleted users who can be restored, or export them."""
    query = read_query(schemas.UserQuery)
    query.values["deleted"] = True
    if exports.wanted():
        return _file("deleted-users", query)
    return render_template(
        "access/users/deleted.html",
        page=accounts.search(AccountKind.PERSON, **query.values),
        restorable=accounts.RESTORABLE,
        counts=service.counts(inactivity=current_settings().inactivity),
    )


@bp.post("/<id:account_id>/restore", needs=Permission.ADMIN)
def restore(account_id: int) -> Response:
    """Restore a deleted user."""
    account = accounts.restore(current_actor, account_id)
    flash(f"{account.called} restored. Their roles are back, their tokens aren’t.", "ok")
    return redirect_to(".show", account_id=account_id)


@bp.post("/deactivate", needs=Permission.ADMIN)
def deactivate() -> Response:
    """Deactivate the selected people at once, and return to where they were selected."""
    form, ids = ReasonForm(), ids_in(request.form)
    back = _page_in_form()
    if not ids:
        flash("Select at least one person. Nothing has changed.", "warn")
        return back
    batch = events.new_batch()
    deactivated = submit(form, lambda: accounts.deactivate_all(current_actor.for_act(batch), ids))
    if deactivated is None:
        return flash_errors(form, back)
    people, ended = deactivated
    who = people[0].called if len(people) == 1 else counted(len(people), "person", "people")
    done = f"{who} deactivated. {counted(ended, 'token')} ended."
    flash_with_undo(done, batch=batch, what=f"deactivating {who}")
    return back


@bp.post("/<id:account_id>/reactivate", needs=Permission.ADMIN)
def reactivate(account_id: int) -> Response:
    """Let a deactivated user sign in again."""
    account = accounts.get_for_change(account_id)
    accounts.reactivate(current_actor, account)
    flash(f"{account.called} can sign in again. {TOKENS_STAY}", "ok")
    return redirect_to(".show", account_id=account_id)


def _page_in_form() -> Response:
    """Redirect to the page that the form was sent from."""
    return redirect_to_path(own_path(request.form.get("back"), otherwise="/users"))


def _filters(query: Query) -> list[tuple[str, str, str]]:
    """The filters in use, for the chips of the list."""
    filters = []
    if text := query.given.get("text"):
        filters.append(("text", "Text", text))
    if role := query.values.get("root_role"):
        filters.append(("rootRole", "Role", role.title))
    return filters


def _file(name: str, query: Query) -> ResponseReturnValue:
    search = partial(accounts.search, AccountKind.PERSON)
    return exports.table(name, schemas.UserDetail(), search, query.values)


def _link_page(account: Account, *, is_new: bool) -> ResponseReturnValue:
    link, is_sent = create_link(account, is_new=is_new)
    return render_template(
        "access/users/link.html", account=account, link=link, is_new=is_new, is_sent=is_sent
    )


def _edit(account: Account) -> EditPage[UserForm]:
    id, data = account.id, form_data(account)

    def context() -> dict[str, Any]:
        holdings = service.holdings([id])[id]
        return {
            "account": account,
            "holdings": holdings,
            "roles": ROOT_ROLES,
            "has_second_step": second_factor.is_on(id),
            "activity": service.recent(id),
            "tokens": holdings.tokens,
            "origins": {
                place: sources.describe(found) for place, found in sources.of_account(id).items()
            },
            "groups": groups.of_account(id),
            "identities": identities.of_account(id),
            "no_deletion": _no_deletion(account),
        }

    return EditPage(
        f"user {id}",
        "access/users/show.html",
        UserForm(data=data),
        data,
        context,
        describe=display_values,
    )


def _no_deletion(account: Account) -> str:
    """Why the user can’t be deleted; empty if they can."""
    if account.id == current_actor.id:
        return "You can’t delete your own account. Ask another Admin."
    return directory.no_deletion(account)


def _removal_page(account: Account, form: ReasonForm) -> ResponseReturnValue:
    [candidate] = service.candidates(current_actor, [(account, None)])
    return show_form(
        "access/users/delete.html",
        form,
        account=account,
        candidate=candidate,
        effects=service.effects([candidate]),
    )
