from datetime import timedelta
from typing import Any

from flask import current_app, flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.accounts import inactive, passwords, schemas
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.core import exports, plans
from app.core.actor import current_actor
from app.core.conflicts import sides
from app.core.db import utcnow
from app.core.forms import ReasonForm, attempt, show_form
from app.core.pages import PageBlueprint, Query, is_number, read_query, see
from app.core.permissions import ROOT_ROLES, Permission, Role
from app.events import service as events
from app.events.models import EventType
from app.people import service
from app.people.forms import NewUserForm, UserForm, in_words, settings_of
from app.people.service import Candidate

bp = PageBlueprint("people", __name__, url_prefix="/users")

WORDS = {"username": "User name", "email": "E-mail", "name": "Full name", "root_role": "Role"}
PAGE = 50
MOST_AT_ONCE = 1_000_000
SUMMED_UP = 1_000
"""Beyond it the page does not say in advance how many of all could be deleted safely."""
TYPED_FROM = 10
"""From so many on, their number has to be typed before they are deleted."""
SHOWN_AWAY = {"": None, "never": None, "365": timedelta(days=365)}


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
        inactive=inactive.search(after=_threshold(), limit=0, offset=0).total,
        deleted=accounts.search(AccountKind.PERSON, deleted=True, limit=0, offset=0).total,
    )


@bp.route("/new", methods=["GET", "POST"], needs=Permission.ADMIN)
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
    seen = plans.opened(current_actor, f"user {account_id}", request.form.get("seen", ""))
    if seen != present:
        return _user_page(account, form, seen)
    if attempt(form, lambda: accounts.update(current_actor, account, **form.values)):
        flash(f"{account.called} saved.", "ok")
        return see(".show", account_id=account_id)
    return _user_page(accounts.get(account_id), form)


@bp.post("/<id:account_id>/link", needs=Permission.ADMIN)
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


@bp.get("/<id:account_id>/delete", needs=Permission.ADMIN)
def review_removal(account_id: int) -> ResponseReturnValue:
    """What deleting a person would do."""
    return _removal_page(accounts.get(account_id), ReasonForm())


@bp.post("/<id:account_id>/delete", needs=Permission.ADMIN)
def remove(account_id: int) -> ResponseReturnValue:
    """Delete a person, who can be restored for a while."""
    account, form = accounts.get_for_change(account_id), ReasonForm()

    def delete() -> bool:
        accounts.remove(current_actor, account)
        return True

    if attempt(form, delete):
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


@bp.get("/inactive", needs=Permission.ADMIN)
def index_inactive() -> ResponseReturnValue:
    """Who was away for so long that he may be deleted; or all of them as a file."""
    shown, offset = _shown(), _offset()
    if exports.wanted():
        return exports.table(
            "inactive-users",
            schemas.InactiveUser(),
            lambda limit, offset: inactive.search(limit=limit, offset=offset, **_narrowed(shown)),
        )
    rows = inactive.search(limit=PAGE, offset=offset, **_narrowed(shown))
    everybody = inactive.search(after=_threshold(), limit=SUMMED_UP, offset=0)
    return render_template(
        "people/inactive.html",
        shown=shown,
        offset=offset,
        page=rows,
        limit=PAGE,
        since=utcnow() - _threshold(),
        days=_threshold().days,
        people=accounts.count_people(),
        total=everybody.total,
        summary=service.candidates(current_actor, everybody.items)
        if everybody.total <= SUMMED_UP
        else [],
        candidates=service.candidates(current_actor, rows.items),
        counts={
            way: inactive.search(limit=0, offset=0, **_narrowed(way)).total for way in SHOWN_AWAY
        },
        next_one=inactive.next_one(after=_threshold()),
        deleted=accounts.search(AccountKind.PERSON, deleted=True, limit=0, offset=0).total,
    )


@bp.post("/inactive", needs=Permission.ADMIN)
def review_inactive() -> ResponseReturnValue:
    """Name everybody who was chosen, and what deleting them would do."""
    return _review_page(ReasonForm(empty=True))


@bp.route("/inactive/delete", methods=["POST"], needs=Permission.ADMIN)
def remove_inactive() -> ResponseReturnValue:
    """Delete those of the chosen who are inactive at this very moment."""
    form, ids = ReasonForm(), _ids()
    if not ids:
        return _nobody_chosen()
    if len(ids) >= TYPED_FROM and request.form.get("number", "").strip() != str(len(ids)):
        form.show([("", f"Type the number of people, {len(ids)}, to go on.")])
        return _review_page(form)
    outcome = attempt(form, lambda: inactive.remove(current_actor, ids, after=_threshold()))
    if outcome is None:
        return _review_page(form)
    return see(".removed", batch=outcome.batch_id)


@bp.get("/inactive/removed", needs=Permission.ADMIN)
def removed() -> str:
    """Who was deleted, and who was left alone and why."""
    batch_id = request.args.get("batch", "")
    told = events.of_act(batch_id, EventType.INACTIVE_USERS_DELETED)
    skipped = {entry["id"]: entry["reason"] for entry in told["skipped"]}
    return render_template(
        "people/removed.html",
        deleted=told["deleted"],
        skipped=skipped,
        names=accounts.names(skipped),
        batch=batch_id,
    )


def _file(name: str, query: Query) -> ResponseReturnValue:
    return exports.table(
        name,
        schemas.UserDetail(),
        lambda limit, offset: accounts.search(
            AccountKind.PERSON, **query.values | {"limit": limit, "offset": offset}
        ),
    )


def _link_page(account: Account, *, is_new: bool) -> ResponseReturnValue:
    address = current_app.config["SETTINGS"].address(passwords.make_link(account))
    return render_template("people/link.html", account=account, link=address, is_new=is_new)


def _user_page(
    account: Account, form: UserForm, seen: dict[str, str] | None = None
) -> ResponseReturnValue:
    """``seen``: the person as he was when a form was opened that came too late."""
    present = settings_of(account)
    before, after = (in_words(one) for one in (seen or present, present))
    page, status = show_form(
        "people/show.html",
        form,
        account=account,
        holdings=service.holdings([account.id])[account.id],
        roles=ROOT_ROLES,
        changed=sides(WORDS, before, before, after),
        seen=plans.seal(current_actor, f"user {account.id}", present),
    )
    return page, 409 if seen else status


def _removal_page(account: Account, form: ReasonForm) -> ResponseReturnValue:
    [candidate] = service.candidates(current_actor, [(account, None)])
    return show_form("people/delete.html", form, account=account, candidate=candidate)


def _review_page(form: ReasonForm) -> ResponseReturnValue:
    chosen = _chosen()
    if not chosen:
        return _nobody_chosen()
    return show_form(
        "people/review.html",
        form,
        chosen=chosen,
        tokens=sum(candidate.holdings.tokens for candidate in chosen),
        without_owner=service.without_owner_after(chosen),
        typed_from=TYPED_FROM,
    )


def _nobody_chosen() -> Response:
    flash("Choose at least one person first; nothing was changed.", "warn")
    return see(".index_inactive")


def _chosen() -> list[Candidate]:
    """Those of the chosen who are inactive, and may be deleted."""
    wanted = set(_ids())
    rows = inactive.search(after=_threshold(), limit=MOST_AT_ONCE, offset=0).items
    found = service.candidates(current_actor, [row for row in rows if row[0].id in wanted])
    return [candidate for candidate in found if candidate.obstacle is None]


def _ids() -> list[int]:
    return sorted({int(id) for id in request.form.getlist("id") if is_number(id)})


def _shown() -> str:
    asked = request.args.get("away", "")
    return asked if asked in SHOWN_AWAY else ""


def _narrowed(shown: str) -> dict[str, Any]:
    after = max(SHOWN_AWAY[shown] or _threshold(), _threshold())
    return {"after": after, "never_signed_in": shown == "never"}


def _offset() -> int:
    asked = request.args.get("offset", "0")
    return int(asked) if is_number(asked) else 0


def _threshold() -> timedelta:
    return timedelta(days=current_app.config["SETTINGS"].inactivity_days)
