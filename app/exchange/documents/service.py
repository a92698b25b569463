"""Applies a document to this instance: first a plan, then exactly that plan or nothing."""

from collections.abc import Callable
from typing import NamedTuple

from app.catalogue.projects import service as projects
from app.core.actor import Actor
from app.core.connections import lift_time_limits
from app.core.db import db
from app.core.errors import ChangedSinceReview, Conflict
from app.core.events import service as events
from app.core.words import counted
from app.exchange.documents import planner, plans, reading, writing
from app.exchange.documents.documents import Document, Kind
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


class Prepared(NamedTuple):
    """A plan, with the id of the last event when it was made."""

    plan: Plan
    last_event: int


def prepare(wanted: Wanted, decisions: Decisions = TO_THE_FILE) -> Prepared:
    """Make a plan before the transaction that carries it out, to keep that short."""
    return Prepared(plan(wanted, decisions), events.end().last_id)


def apply(
    actor: Actor,
    wanted: Wanted,
    decisions: Decisions = TO_THE_FILE,
    *,
    cause: str,
    shown: str | None = None,
    prepared: Prepared | None = None,
    progress: Callable[[Kind, int], object] = lambda _kind, _number: None,
) -> tuple[str, Plan, Result]:
    """Carry out a plan as one batch of events with the reason ``cause``; all or nothing.

    ``shown``: the digest of the plan that someone has read; exactly that plan is carried out.
    ``prepared``: a plan made earlier, which is used if no event was recorded since.

    Raises:
        ChangedSinceReview: when the plan is different now.
        Conflict: when something is impossible that no one decided about.

    """
    lift_time_limits(db.session.connection())
    if prepared is not None and prepared.last_event == events.end().last_id:
        found = prepared.plan
    else:
        found = plan(wanted, decisions)
    if shown is not None and shown != found.digest:
        raise ChangedSinceReview
    batch_id = events.new_batch()
    result = writing.write(actor.for_act(batch_id, cause), found, progress)
    return batch_id, found, result


def write(actor: Actor, plan: Plan) -> Result:
    """Carry out a plan that was made in this transaction, as part of the actor’s current act."""
    lift_time_limits(db.session.connection())
    return writing.write(actor, plan, lambda _kind, _number: None)


def refuse_impossible(plan: Plan) -> None:
    """Refuse a plan with any step that can’t be done."""
    faulty = plans.impossible(plan.entries)
    if faulty:
        first = "; ".join(
            f"{entry.kind.one} {entry.name}: {entry.faults[0]}" for entry in faulty[:3]
        )
        raise Conflict(
            f"{counted(len(faulty), 'thing')} of the file can’t be applied, so none was: {first}."
        )
