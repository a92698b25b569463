"""Inactive users, and deleting them: list, review, result."""

from datetime import timedelta
from typing import Any

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.access.users import inactive, schemas, service
from app.accounts import service as accounts
from app.core.clock import utcnow
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.permissions import Permission
from app.core.words import counted
from app.web import exports
from app.web.browsers import require_password
from app.web.current import current_actor, current_settings
from app.web.forms import ReasonForm, show_form, submit
from app.web.listing import ids_in, is_number
from app.web.redirects import redirect_to, this_address
from app.web.routes import PageBlueprint

bp = PageBlueprint("inactive_pages", __name__, url_prefix="/users/inactive")

PAGE = 50
SUMMARIZED = 1_000
"""With more inactive users, the page does not count how many can be deleted safely."""
TYPED_FROM = 10
"""Deleting this many or more requires typing their number."""
AWAY = {
    "": ("All", None),
    "never": ("Never signed in", None),
    "365": ("365 days or more", timedelta(days=365)),
}
SKIPPED_WORDS = {
    "active": "Active since your review",
    "yourself": "Your own account",
    "the last Admin": "The last Admin who can sign in",
    "unknown": "Unknown",
    "already deleted": "Already deleted",
    "a service account": "A service account",
    inactive.MANAGED: "Managed by your directory: delete or deactivate them there",
}


@bp.get("", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """List inactive users, or export them."""
    away, offset = _away(), _offset()
    if exports.wanted():
        rows = schemas.InactiveUser()
        return exports.table("inactive-users", rows, inactive.search, _filters(away))
    after = current_settings().inactivity
    page = inactive.search(limit=PAGE, offset=offset, **_filters(away))
    everyone = inactive.search(after=after, limit=SUMMARIZED, offset=0)
    few = everyone.items if everyone.total <= SUMMARIZED else []
    summarized = {each.account.id: each for each in service.candidates(current_actor, few)}
    candidates = (
        [summarized[account.id] for account, _ in page.items]
        if summarized
        else service.candidates(current_actor, page.items)
    )
    counts = service.counts(inactivity=after)
    totals = {"": counts.inactive} | {
        choice: inactive.search(limit=0, offset=0, **_filters(choice)).total
        for choice in AWAY
        if choice
    }
    return render_template(
        "access/users/inactive.html",
        away=away,
        back=this_address(),
        page=page,
        since=utcnow() - after,
        days=after.days,
        total=everyone.total,
        verdict=service.verdict(summarized.values(), total=everyone.total, people=counts.all),
        candidates=candidates,
        deletable=[each.account.id for each in candidates if each.obstacle is None],
        choices=[(choice, name, totals[choice]) for choice, (name, _) in AWAY.items()],
        next_one=inactive.next_one(after=after),
        counts=counts,
    )


@bp.route("", needs=Permission.ADMIN, writes=False, methods=["POST"])
def review() -> ResponseReturnValue:
    """Everyone selected, and what deleting them would change."""
    return _review_page(ReasonForm(empty=True))


@bp.post("/delete", needs=Permission.ADMIN)
def remove() -> ResponseReturnValue:
    """Delete the selected users who are still inactive."""
    form, ids = ReasonForm(), _ids()
    if not ids:
        return _none_selected()
    if len(ids) >= TYPED_FROM and request.form.get("number", "").strip() != str(len(ids)):
        form.show([("", f"Type the number of users, {len(ids)}, to continue.")])
        return _review_page(form)
    require_password(f"delete {counted(len(ids), 'user')}")
    after = current_settings().inactivity
    outcome = submit(form, lambda: inactive.remove(current_actor, ids, after=after))
    if outcome is None:
        return _review_page(form)
    return redirect_to(".removed", batch=outcome.batch_id)


@bp.get("/removed", needs=Permission.ADMIN)
def removed() -> ResponseReturnValue:
    """Show who was deleted, and who was skipped and why; or export both."""
    if not exports.wanted():
        return _removed_page(ReasonForm())
    deleted, skipped = _deleted_and_skipped()
    rows = [person | {"outcome": "deleted"} for person in deleted]
    rows += [person | {"outcome": "skipped"} for person in skipped]
    return exports.file("inactive-users-deleted", ["id", "name", "outcome", "reason"], rows)


@bp.post("/removed", needs=Permission.ADMIN)
def restore_all() -> ResponseReturnValue:
    """Restore everyone who was deleted together and is still deleted."""
    form, ids = ReasonForm(), [person["id"] for person in _act()["deleted"]]
    restored = submit(form, lambda: accounts.restore_all(current_actor, ids))
    if restored is None:
        return _removed_page(form)
    people = counted(len(restored), "user")
    flash(f"{people} restored. Their roles are back, their tokens aren’t.", "ok")
    return redirect_to("user_pages.index")


def _removed_page(form: ReasonForm) -> ResponseReturnValue:
    deleted, skipped = _deleted_and_skipped()
    return show_form(
        "access/users/removed.html",
        form,
        deleted=deleted,
        restorable=accounts.restorable([person["id"] for person in deleted]),
        skipped=skipped,
        words=SKIPPED_WORDS,
    )


def _deleted_and_skipped() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The deleted and the skipped people of the batch; the latter with their present names."""
    act = _act()
    names = accounts.names({entry["id"] for entry in act["skipped"]})
    return act["deleted"], [entry | {"name": names.get(entry["id"])} for entry in act["skipped"]]


def _act() -> dict[str, Any]:
    """The data of the event for the batch in the address."""
    return events.of_act(request.args.get("batch", ""), EventType.INACTIVE_USERS_DELETED)


def _review_page(form: ReasonForm) -> ResponseReturnValue:
    rows = inactive.for_ids(_ids(), after=current_settings().inactivity)
    selected = [each for each in service.candidates(current_actor, rows) if each.obstacle is None]
    if not selected:
        return _none_selected()
    return show_form(
        "access/users/review.html",
        form,
        selected=selected,
        effects=service.effects(selected),
        typed_from=TYPED_FROM,
    )


def _none_selected() -> Response:
    flash("Select at least one person. Nothing has changed.", "warn")
    return redirect_to(".index")


def _ids() -> list[int]:
    return ids_in(request.form)


def _away() -> str:
    asked = request.args.get("away", "")
    return asked if asked in AWAY else ""


def _filters(away: str) -> dict[str, Any]:
    least = current_settings().inactivity
    return {"after": max(AWAY[away][1] or least, least), "never_signed_in": away == "never"}


def _offset() -> int:
    asked = request.args.get("offset", "0")
    return int(asked) if is_number(asked) else 0
