"""A change request for its page: the diff of each change, and the history."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.accounts import service as accounts
from app.accounts.models import Account
from app.catalogue.receipts.service import Receipts, of_batch
from app.catalogue.strategies.models import Strategy
from app.catalogue.usage.queries import NEVER, PlaceUse, by_place
from app.core.actor import Actor
from app.core.words import spoken
from app.releases.change_requests import snapshots, words
from app.releases.change_requests.diff import (
    DiffSide,
    Field,
    Names,
    described,
    differing,
    documents,
    segment_ids,
    segments_in,
    sides,
)
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import (
    Action,
    Change,
    Outcome,
    State,
    Step,
    StepKind,
)
from app.releases.change_requests.reversing import inverse
from app.releases.change_requests.views import View
from app.releases.templates.steps import waiting

PEOPLE_SHOWN = 5


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of a release that a change starts.

    ``after``: how long after the first one it can start; None: when someone starts one before it.
    """

    name: str
    strategies: list[Strategy]
    after: timedelta | None
    by_hand: bool


@dataclass(frozen=True, slots=True)
class ChangeDiff:
    """A change from ``before`` to ``after``; ``steps``: of the release that it starts."""

    change: Change
    number: int
    act: str
    before: DiffSide
    after: DiffSide
    fields: list[Field]
    use: PlaceUse | None
    steps: Sequence[PlannedStep] = ()


@dataclass(frozen=True, slots=True)
class OutcomeDiff:
    """What applications get of a feature before and after the request.

    ``approved``: what people had approved, if that is something else.
    """

    feature: str
    before: DiffSide
    after: DiffSide
    approved: DiffSide | None


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
    stored = [snapshot for change in changes for snapshot in (change.before, change.after)]
    plans = [change.payload for change in changes if change.action is Action.ADD_RELEASE_PLAN]
    of_plans = [step for plan in plans for step in plan["milestones"]]
    names = snapshots.segment_names(segment_ids(*stored, *of_plans))
    uses = by_place({change.feature_id for change in changes if change.feature_id})
    shown: set[int] = set()

    def diff_of(number: int, change: Change) -> ChangeDiff:
        return ChangeDiff(
            change,
            number,
            words.act(change),
            *sides(change, change.before, change.after, names),
            differing(change, change.before, change.after),
            use(change),
            list(_planned(change, names)),
        )

    def use(change: Change) -> PlaceUse | None:
        """Usage of the feature, for its first change only; None if the request is closed."""
        if change.feature_id is None or change.feature_id in shown or not request.is_open:
            return None
        shown.add(change.feature_id)
        return uses.get((change.feature_id, request.environment), NEVER)

    return [diff_of(number, change) for number, change in enumerate(changes, 1)]


def _planned(change: Change, names: Names) -> Iterator[PlannedStep]:
    """The steps of the release that a change starts."""
    if change.action is not Action.ADD_RELEASE_PLAN:
        return
    after: timedelta | None = timedelta()
    by_hand = False
    for step in change.payload["milestones"]:
        strategies = [described(each, names) for each in step["strategies"]]
        yield PlannedStep(step["name"], strategies, after, by_hand)
        seconds, by_hand = waiting(step.get("transition_condition"))
        if after is not None:
            after = None if seconds is None else after + timedelta(seconds=seconds)


def outcome_diffs(view: View) -> list[OutcomeDiff]:
    """What the request leads to. What people had approved and has changed comes first."""
    rows = sorted(view.outcomes, key=lambda row: (row.approved == row.after, row.feature))
    known = [document for row in rows for document in (row.before, row.after, row.approved)]
    names = snapshots.segment_names(segments_in(*known))
    return [_outcome_diff(row, names) for row in rows]


def _outcome_diff(row: Outcome, names: Names) -> OutcomeDiff:
    if row.approved == row.after:
        return OutcomeDiff(row.feature, *documents(row.before, row.after, names), None)
    approved, after = documents(row.approved, row.after, names)
    before, _ = documents(row.before, row.before, names)
    return OutcomeDiff(row.feature, before, after, approved)


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
    return [words.headline(change) for change in proposed(inverse(view.request))]


def receipts(view: View) -> Receipts | None:
    """The receipts of an applied request; None if there is nothing to say."""
    request = view.request
    found = request.batch_id and of_batch(request.batch_id, request.environment)
    return found if found and found.total else None


def proposed(proposals: Sequence[Proposal]) -> list[Change]:
    """The changes of proposals, for their words only; never saved."""
    return [
        Change(
            action=each.action,
            subject=each.feature or each.payload.get("name", "a segment"),
            payload=each.payload,
        )
        for each in proposals
    ]


def state(view: View) -> tuple[str, str]:
    """Label of the state, and kind of its badge."""
    if view.request.is_open and view.request.obstacle:
        return "Can’t be applied", "warn"
    if view.request.is_open and view.request.is_outdated:
        return "Changed since it was approved", "warn"
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
