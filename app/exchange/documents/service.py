"""Applies a document to this instance: first a plan, then exactly that plan or nothing."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from app.catalogue.projects import service as projects
from app.core.actor import Actor
from app.core.connections import lift_time_limits
from app.core.db import db
from app.core.errors import MAX_DETAILS, ChangedSinceReview, Conflict, Detail, Invalid
from app.core.events import service as events
from app.core.words import spoken
from app.exchange.documents import planner, plans, reading, reading_features, words, writing
from app.exchange.documents.documents import Document, Kind, count
from app.exchange.documents.plans import Choice, Decisions, Plan, Wanted
from app.exchange.documents.writing import Result

TO_THE_FILE = Decisions(different=Choice.TAKE)
"""Mode for files kept under version control: the file overrides what it names."""


def export(actor: Actor, project_id: str | None = None) -> Document:
    """Everything of the instance, or of one project, without secrets."""
    if project_id is None:
        return reading.whole()
    projects.require(actor, project_id)
    return reading.of_project(project_id)


def plan(wanted: Wanted, decisions: Decisions = TO_THE_FILE) -> Plan:
    """Dry run of ``apply``: changes nothing."""
    return planner.make(wanted, decisions)


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """A plan in words. ``summary``: its numbers, and what is only here, a line each."""

    plan: Plan
    lines: list[str]
    summary: list[str]


def show(plan: Plan, wanted: Wanted) -> ShownPlan:
    """The plan of a file in words. Call it in the transaction that made the plan."""
    summary = [words.summary_of(plan), *_only_here(wanted)]
    return ShownPlan(plan, list(words.lines(plan)), summary)


class Prepared(NamedTuple):
    """A plan, with the id of the last event when it was made."""

    plan: Plan
    last_event: int


def prepare(wanted: Wanted, decisions: Decisions = TO_THE_FILE) -> Prepared:
    """Make a plan before the transaction that carries it out, to keep that short."""
    return Prepared(plan(wanted, decisions), events.end().last_id)


@dataclass(frozen=True, slots=True)
class Applied:
    """A plan that was carried out, and the batch of its events."""

    batch_id: str
    plan: Plan
    result: Result


def apply(
    actor: Actor,
    wanted: Wanted,
    decisions: Decisions = TO_THE_FILE,
    *,
    cause: str,
    shown: str | None = None,
    prepared: Prepared | None = None,
    progress: Callable[[Kind, int], object] = lambda _kind, _number: None,
) -> Applied:
    """Carry out a plan as one batch of events with the reason ``cause``; all or nothing.

    ``shown``: the digest of the plan that someone has read; exactly that plan is carried out.
    ``prepared``: a plan made earlier, which is used if no event was recorded since.

    Raises:
        ChangedSinceReview: when the plan is different now.
        Invalid: when anything of a file is impossible.

    """
    if prepared is not None and prepared.last_event == events.end().last_id:
        found = prepared.plan
    else:
        found = plan(wanted, decisions)
    if shown is not None and shown != found.digest:
        raise ChangedSinceReview
    is_file = decisions is TO_THE_FILE
    if is_file and found.is_impossible:
        raise Invalid(_refusal(found), details=_details(found, wanted)[:MAX_DETAILS])
    batch_id = events.new_batch()
    act = actor.for_act(batch_id, cause)
    if is_file:  # what needs approvals is proposed, and no reason changes that
        act = replace(act, reason=None, cause=actor.reason or cause)
    return Applied(batch_id, found, writing.write(act, found, progress, owns_new=not is_file))


def write(actor: Actor, plan: Plan) -> Result:
    """Carry out a plan that was made in this transaction, as part of the actor’s current act."""
    lift_time_limits(db.session.connection())
    return writing.write(actor, plan, lambda _kind, _number: None, owns_new=True)


def refuse_impossible(plan: Plan) -> None:
    """Refuse a plan with any step that can’t be done."""
    if plan.is_impossible:
        raise Conflict(_refusal(plan))


def _refusal(plan: Plan) -> str:
    return words.refusal(
        [(each.kind, each.name, str(each.faults[0])) for each in plans.impossible(plan.entries)]
    )


def _details(plan: Plan, wanted: Wanted) -> list[Detail]:
    """Every fault, with its place in the file."""
    places = {
        (kind, name): place
        for kind, items in wanted.document.items()
        for place, name in enumerate(items)
    }
    return [
        {
            "path": f"/{entry.kind}/{places[entry.kind, entry.was]}/{fault.path}".rstrip("/"),
            "message": f"({entry.name}) {fault.message}",
        }
        for entry in plans.impossible(plan.entries)
        for fault in entry.faults
    ]


def _only_here(wanted: Wanted) -> list[str]:
    """A line with the number of things of this instance that the file does not name."""
    here = reading.smaller()
    number = {
        kind: len(here[kind].keys() - wanted.document[kind].keys())
        for kind in (Kind.PROJECTS, Kind.SEGMENTS, Kind.USERS)
    }
    known = reading_features.names()
    number[Kind.FEATURES] = len(known - wanted.document[Kind.FEATURES].keys())
    found = [kind.counted(many) for kind, many in Counter(number).items() if many]
    if not found or not count(wanted.document):
        return []
    return [f"Only here, and stays as it is: {spoken(found, len(found))}."]
