"""What happens to a release: a step starts, or someone holds, resumes, stops or leaves it.

All acts take a release that ``service.get`` has locked with its feature.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from app.catalogue.features import service as features
from app.catalogue.releases import service as ownership
from app.catalogue.releases.models import OPEN, Release, ReleaseState, Step
from app.catalogue.releases.queries import Located
from app.catalogue.strategies.service import project_environment
from app.core.actor import Actor
from app.core.clock import from_text, in_text, utcnow
from app.core.db import db
from app.core.errors import Conflict, Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.permissions import Role
from app.releases.plans import giving, warrants
from app.releases.templates.steps import Transition, waiting


def start(actor: Actor, found: Located, step_id: str | None = None) -> None:
    """Start a later step, by default the next one.

    Where the environment needs approvals, it needs none after the waiting time: people approved
    that with the release.

    Raises:
        Conflict: when it is no later step, or the release is on hold or over.

    """
    release = found.release
    place = _place_to_start(found, step_id)
    is_planned = place == release.next_position and (
        release.next_at is None or release.next_at <= utcnow()
    )
    _start(actor, found, place, is_planned=is_planned)


def start_approved(actor: Actor, found: Located, step_id: str | None, request_id: int) -> None:
    """Start a step, and note that people approved the release from here on as it is now.

    One on hold is resumed by that. The caller lets the guard pass what the step changes.
    """
    if found.release.state is ReleaseState.HELD:
        resume(actor, found)
    place = _place_to_start(found, step_id)
    warrants.grant(actor, found, request_id)
    _start(actor, found, place, is_planned=False)


def start_by_itself(found: Located) -> None:
    """Start the step whose time has come, as the release."""
    place = _place_to_start(found, None)
    _start(acting(found.release), found, place, is_planned=True, is_automatic=True)


def give_up(found: Located, why: str) -> None:
    """Put a release on hold whose step can’t start; one that hasn’t begun waits for someone."""
    release = found.release
    if release.position is not None:
        hold(acting(release), found, why)
        return
    release.next_at, release.is_automatic, release.reason = None, False, why
    db.session.flush()
    type = EventType.RELEASE_PLAN_PROGRESSIONS_PAUSED
    ownership.record(acting(release), type, found, reason=why)


def hold(actor: Actor, found: Located, reason: str | None = None) -> None:
    """Let no step start until someone resumes. Who gets the feature stays as it is."""
    release = found.release
    _require_open(found)
    if release.state is ReleaseState.HELD:
        raise Conflict(f"The release of {found.feature} is on hold already.")
    if release.state is ReleaseState.DRAFT:
        raise Conflict(f"The release of {found.feature} has not started. There is nothing to hold.")
    release.holds = [
        *release.holds,
        {
            "since": in_text(utcnow()),
            "by": actor.username,
            "by_id": actor.id,
            "reason": reason,
        },
    ]
    release.state, release.next_at, release.is_automatic = ReleaseState.HELD, None, False
    db.session.flush()
    ownership.record(actor, EventType.RELEASE_PLAN_PROGRESSIONS_PAUSED, found, reason=reason)


def resume(actor: Actor, found: Located) -> None:
    """Let steps start again. The present one waits its whole time from now."""
    release, hold = found.release, found.release.hold
    _require_open(found)
    if hold is None:
        raise Conflict(f"The release of {found.feature} is not on hold.")
    release.holds = [*release.holds[:-1], {**hold, "until": in_text(utcnow())}]
    release.state = ReleaseState.RUNNING
    _plan_next(release, since=utcnow())
    db.session.flush()
    ownership.record(actor, EventType.RELEASE_PLAN_PROGRESSIONS_RESUMED, found)


def stop(actor: Actor, found: Located, reason: str | None = None) -> None:
    """End the release at once: the feature goes off, or gets its former strategies back.

    It needs no approval. If the former strategies would need some, because something that they use
    has changed since, the feature goes off.
    """
    release = found.release
    _require_open(found)
    if release.position is None:
        raise Conflict(
            f"The release of {found.feature} has not started. There is nothing to stop. Leave it."
        )
    feature = features.lock_for_change(actor, found.project_id, found.feature)
    by = actor.for_act(actor.batch_id or events.new_batch())
    is_restored = release.restores and warrants.can_restore(by, found)
    since = len(events.recorded())
    ownership.move(release)
    if is_restored:
        giving.give(by, feature, release.environment, release.former, on=release.was_on)
    else:
        giving.switch(by, feature, release.environment, on=False)
    warrants.pass_anything(found, since=since)
    release.restores = is_restored
    ownership.stop(by, found, reason)


def leave(actor: Actor, found: Located) -> None:
    """End the release without a change for applications: its strategies are the feature’s again."""
    _require_open(found)
    ownership.close(actor, found.release, ReleaseState.LEFT)
    ownership.record(actor, EventType.RELEASE_PLAN_REMOVED, found)


def set_transition(
    actor: Actor,
    found: Located,
    step_id: str,
    transition: Transition | None,
    target: str | None = None,
) -> None:
    """Change when the step after another one starts. None: when someone starts it.

    ``target``: the id of the step that starts then, by default the next one.

    Raises:
        NeedsApprovals: where people approved the release as it is.

    """
    release = found.release
    _require_open(found)
    place = _place_of(found, step_id)
    before = release.steps[place]
    if release.position is not None and place < release.position:
        raise Conflict(f"Step {place + 1} is over. Change the present step or a later one.")
    if place == len(release.steps) - 1:
        raise Conflict(f"Step {place + 1} is the last one. No step follows it.")
    later = {each["id"] for each in release.steps[place + 1 :]}
    if target is not None and target not in later:
        raise Invalid.at("/targetMilestone", f"Name a step after step {place + 1}.")
    warrants.require_bypass(actor, found)
    seconds, by_hand = waiting(transition)
    step = {**before, "target": target, "seconds": seconds, "by_hand": by_hand}
    release.steps = _with(release.steps, place, step)
    if place == release.position and release.state is ReleaseState.RUNNING:
        _plan_next(release, since=_waiting_since(release))
    db.session.flush()
    changed, removed = (
        EventType.MILESTONE_PROGRESSION_UPDATED,
        EventType.MILESTONE_PROGRESSION_DELETED,
    )
    about = {"id": step_id, "name": before["name"], "number": place + 1}
    facts = {"milestone": about, "seconds": seconds, "byHand": by_hand}
    ownership.record(actor, changed if transition else removed, found, **facts)


def acting(release: Release) -> Actor:
    """The release itself as who acts, with who started it."""
    by = release.started_by or release.created_by
    name = f"Release {release.name}, started by {by}"
    return Actor(id=None, username=name[:255], role=Role.ADMIN)


def _start(
    actor: Actor, found: Located, place: int, *, is_planned: bool, is_automatic: bool = False
) -> None:
    release, now = found.release, utcnow()
    feature = features.lock_for_change(actor, found.project_id, found.feature)
    project_environment(found.project_id, release.environment)
    by = actor.for_act(actor.batch_id or events.new_batch())
    if release.position is None:
        if warrants.is_bypass(actor, found):
            warrants.grant(by, found, None)
            is_planned = False  # so that the guard records it
        giving.remember(release)
        release.started_by, release.started_by_id = actor.username, actor.id
    since = len(events.recorded())
    ownership.move(release)
    step, steps = release.steps[place], release.steps
    try:
        giving.give(by, feature, release.environment, step["strategies"], on=True)
    except Invalid as error:
        why = " ".join(detail["message"] for detail in error.details or ())
        raise Conflict(f"Step {place + 1}, {step['name']}, can’t start. {why}") from None
    if is_planned:
        warrants.pass_step(found, step, since=since)
    if release.position is not None:
        former = {**steps[release.position], "ended_at": in_text(now)}
        if is_automatic:
            former["executed_at"] = in_text(now)
        steps = _with(steps, release.position, former)
    started = {
        "started_at": in_text(now),
        "started_by": actor.username,
        "started_by_id": actor.id,
        "is_automatic": is_automatic,
        "batch": by.batch_id,
    }
    release.steps = _with(steps, place, {**step, **started})
    release.position, release.state, release.reason = place, ReleaseState.RUNNING, None
    _plan_next(release, since=now)
    ownership.record(by, EventType.RELEASE_PLAN_MILESTONE_STARTED, found)
    if release.next_position is None:
        ownership.close(by, release, ReleaseState.DONE)
    db.session.flush()


def _plan_next(release: Release, *, since: datetime) -> None:
    """Set when the next step can start. ``since``: when the waiting begins."""
    step = release.step
    if step is None or step["seconds"] is None or release.next_position is None:
        release.next_at, release.is_automatic = None, False
    else:
        release.next_at = since + timedelta(seconds=step["seconds"])
        release.is_automatic = not step["by_hand"]


def _waiting_since(release: Release) -> datetime:
    """When the waiting time of the present step began, or began again after a hold."""
    resumed = [until for hold in release.holds if (until := hold.get("until"))]
    started = release.step["started_at"] if release.step else in_text(utcnow())
    return from_text(max([started, *resumed]))


def _place_to_start(found: Located, step_id: str | None) -> int:
    release = found.release
    _require_open(found)
    if release.state is ReleaseState.HELD:
        raise Conflict(
            f"The release of {found.feature} in {release.environment} is on hold. Resume it first."
        )
    place = release.next_position if step_id is None else _place_of(found, step_id)
    if place is None:
        raise Conflict(f"The release of {found.feature} is at its last step.")
    if release.position is not None and place <= release.position:
        raise Conflict(
            f"The release is at step {release.position + 1} of {len(release.steps)}. Only a later "
            "step can start, so that no one loses the feature. To go back, stop the release and "
            "start a new one."
        )
    return place


def _place_of(found: Located, step_id: str) -> int:
    for place, step in enumerate(found.release.steps):
        if step["id"] == step_id:
            return place
    raise NotFound(f"The release of {found.feature} has no step with the id {step_id}.")


def _with(steps: Sequence[Step], place: int, step: Any) -> list[Step]:
    """A new list, since SQLAlchemy doesn’t notice changes inside JSON."""
    return [*steps[:place], step, *steps[place + 1 :]]


def _require_open(found: Located) -> None:
    release = found.release
    if release.state not in OPEN:
        raise Conflict(
            f"The release of {found.feature} in {release.environment} is over: "
            f"{release.state.value}. Start a new one."
        )
