"""A change request for its page: the diff of each change, and the history."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from app.accounts import service as accounts
from app.accounts.models import Account
from app.catalogue.usage.queries import NEVER, PlaceUse, by_place
from app.core.actor import Actor
from app.core.words import spoken
from app.releases.change_requests import snapshots, words
from app.releases.change_requests.diff import DiffSide, Field, differing, segment_ids, sides
from app.releases.change_requests.models import CLOSED, Change, State, Step, StepKind
from app.releases.change_requests.reversing import inverse
from app.releases.change_requests.views import ChangeView, View

PEOPLE_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ChangeDiff:
    """A change from ``before`` to ``after``. ``now``: the current state, if it no longer fits."""

    change: Change
    number: int
    act: str
    before: DiffSide
    after: DiffSide
    now: DiffSide | None
    fields: list[Field]
    use: PlaceUse | None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A step of the history. ``at``: the time of the schedule, if it is about one."""

    by: str
    is_reader: bool
    words: str
    when: datetime
    text: str | None
    at: datetime | None


def change_diffs(view: View) -> list[ChangeDiff]:
    """Diffs of the changes in order, with a fixed number of statements."""
    request, changes = view.request, view.request.changes
    stuck = [change for change in changes if change.id in view.conflicts]
    now = snapshots.of_changes(request.project_id, request.environment, stuck) if stuck else {}
    stored = [snapshot for change in changes for snapshot in (change.before, change.after)]
    names = snapshots.segment_names(segment_ids(*stored, *now.values()))
    uses = by_place({change.feature_id for change in changes if change.feature_id})
    shown: set[int] = set()

    def diff_of(number: int, change_view: ChangeView) -> ChangeDiff:
        change = change_view.change
        before, after = sides(change, change.before, change.after, names)
        present = None
        if change_view.conflict:
            present = sides(change, change.before, now.get(snapshots.key(change)), names)[1]
        return ChangeDiff(
            change,
            number,
            words.act(change),
            before,
            after,
            present,
            differing(change, change.before, change.after),
            use(change),
        )

    def use(change: Change) -> PlaceUse | None:
        """Usage of the feature, for its first change only; None if the request is closed."""
        if change.feature_id is None or change.feature_id in shown or not request.is_open:
            return None
        shown.add(change.feature_id)
        return uses.get((change.feature_id, request.environment), NEVER)

    return [diff_of(number, change_view) for number, change_view in enumerate(view.changes, 1)]


def history(actor: Actor, view: View) -> list[HistoryEntry]:
    """The history with the comments, oldest first."""
    ids = {step.created_by_id for step in view.steps if step.created_by_id is not None}
    known = accounts.names(ids)
    return [_entry(actor, step, known) for step in view.steps]


def _entry(actor: Actor, step: Step, known: dict[int, str]) -> HistoryEntry:
    is_schedule = step.kind is StepKind.SCHEDULED and step.text
    return HistoryEntry(
        by=known.get(step.created_by_id or 0, step.created_by),
        is_reader=actor.id is not None and step.created_by_id == actor.id,
        words=words.STEPS[step.kind],
        when=step.created_at,
        text=None if is_schedule else step.text,
        at=datetime.fromisoformat(step.text) if is_schedule and step.text else None,
    )


def authors(views: Collection[View]) -> dict[int, str]:
    """Names of the authors, by the id of the request."""
    requests = [view.request for view in views]
    known = accounts.names({id for each in requests if (id := each.created_by_id) is not None})
    return {each.id: known.get(each.created_by_id or 0, each.created_by) for each in requests}


def people(actor: Actor, found: Collection[Account]) -> str:
    """Names in a sentence, the reader first."""
    others = [account.called for account in found if account.id != actor.id]
    return spoken(["you"] * (len(others) < len(found)) + others, PEOPLE_SHOWN)


def undoing(view: View) -> list[str]:
    """Headlines of the changes that would reverse an applied request."""
    if view.state is not State.APPLIED:
        return []
    return [
        words.headline(
            Change(
                action=each.action,
                subject=each.feature or each.payload["name"],
                payload=each.payload,
            )
        )
        for each in inverse(view.request)
    ]


def state(view: View) -> tuple[str, str]:
    """Label of the state, and kind of its badge."""
    if view.conflicts and view.request.state not in CLOSED:
        return "Changed since then", "warn"
    if view.schedule is not None and view.schedule.status == "failed":
        return "Not applied at its time", "bad"
    return view.state.value, KINDS.get(view.state, "")


KINDS = {
    State.IN_REVIEW: "info",
    State.APPROVED: "ok",
    State.SCHEDULED: "info",
    State.APPLIED: "ok",
    State.REJECTED: "warn",
}
