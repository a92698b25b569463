"""Inactive people, and deleting them: list, review, result."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.accounts import inactive, schemas
from app.accounts import service as accounts
from app.accounts.models import AccountKind
from app.core import exports
from app.core.actor import current_actor
from app.core.db import utcnow
from app.core.forms import ReasonForm, attempt, show_form
from app.core.pages import PageBlueprint, is_number, proven, see
from app.core.permissions import Permission
from app.core.settings import current_settings
from app.events import service as events
from app.events.models import EventType
from app.people import service
from app.people.service import Candidate

bp = PageBlueprint("inactive_pages", __name__, url_prefix="/users/inactive")

PAGE = 50
SUMMED_UP = 1_000
"""Beyond it the page does not say in advance how many of all could be deleted safely."""
TYPED_FROM = 10
"""From so many on, their number has to be typed before they are deleted."""
SHOWN_AWAY = {"": None, "never": None, "365": timedelta(days=365)}


@bp.get("", needs=Permission.ADMIN)
def index() -> ResponseReturnValue:
    """Who was away for so long that he may be deleted; or all of them as a file."""
    shown, offset = _shown(), _offset()
    if exports.wanted():
        rows = schemas.InactiveUser()
        return exports.table("inactive-users", rows, inactive.search, _narrowed(shown))
    after = current_settings().inactivity
    page = inactive.search(limit=PAGE, offset=offset, **_narrowed(shown))
    everybody = inactive.search(after=after, limit=SUMMED_UP, offset=0)
    others = [way for way in SHOWN_AWAY if way]
    counts = {w: inactive.search(limit=0, offset=0, **_narrowed(w)).total for w in others}
    return render_template(
        "people/inactive.html",
        shown=shown,
        offset=offset,
        page=page,
        limit=PAGE,
        since=utcnow() - after,
        days=after.days,
        people=accounts.count_people(),
        total=everybody.total,
        summary=service.candidates(current_actor, everybody.items)
        if everybody.total <= SUMMED_UP
        else [],
        candidates=service.candidates(current_actor, page.items),
        counts={"": everybody.total} | counts,
        next_one=inactive.next_one(after=after),
        deleted=accounts.search(AccountKind.PERSON, deleted=True, limit=0, offset=0).total,
    )


@bp.post("", needs=Permission.ADMIN)
def review() -> ResponseReturnValue:
    """Name everybody who was chosen, and what deleting them would do."""
    return _review_page(ReasonForm(empty=True))


@bp.post("/delete", needs=Permission.ADMIN)
@proven
def remove() -> ResponseReturnValue:
    """Delete those of the chosen who are inactive at this very moment."""
    form, ids = ReasonForm(), _ids()
    if not ids:
        return _nobody_chosen()
    if len(ids) >= TYPED_FROM and request.form.get("number", "").strip() != str(len(ids)):
        form.show([("", f"Type the number of people, {len(ids)}, to go on.")])
        return _review_page(form)
    after = current_settings().inactivity
    outcome = attempt(form, lambda: inactive.remove(current_actor, ids, after=after))
    if outcome is None:
        return _review_page(form)
    return see(".removed", batch=outcome.batch_id)


@bp.get("/removed", needs=Permission.ADMIN)
def removed() -> ResponseReturnValue:
    """Who was deleted, and who was left alone and why; or both as a file."""
    batch_id = request.args.get("batch", "")
    told = events.of_act(batch_id, EventType.INACTIVE_USERS_DELETED)
    names = accounts.names({entry["id"] for entry in told["skipped"]})
    skipped = [entry | {"name": names.get(entry["id"])} for entry in told["skipped"]]
    if exports.wanted():
        gone = [person | {"outcome": "deleted"} for person in told["deleted"]]
        left = [person | {"outcome": "left alone"} for person in skipped]
        return exports.file(
            "inactive-users-deleted", ["id", "name", "outcome", "reason"], gone + left
        )
    return render_template(
        "people/removed.html", deleted=told["deleted"], skipped=skipped, batch=batch_id
    )


def _review_page(form: ReasonForm) -> ResponseReturnValue:
    chosen = _chosen(_ids())
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
    return see(".index")


def _chosen(ids: Collection[int]) -> list[Candidate]:
    """Those of the chosen who are inactive, and may be deleted."""
    found = inactive.among(ids, after=current_settings().inactivity)
    return [one for one in service.candidates(current_actor, found) if one.obstacle is None]


def _ids() -> list[int]:
    return sorted({int(id) for id in request.form.getlist("id") if is_number(id)})


def _shown() -> str:
    asked = request.args.get("away", "")
    return asked if asked in SHOWN_AWAY else ""


def _narrowed(shown: str) -> dict[str, Any]:
    least = current_settings().inactivity
    return {"after": max(SHOWN_AWAY[shown] or least, least), "never_signed_in": shown == "never"}


def _offset() -> int:
    asked = request.args.get("offset", "0")
    return int(asked) if is_number(asked) else 0
