"""The strategies of a feature belong to its release while that is under way.

This holds whatever changes them: before each commit, what the transaction recorded is looked at.
"""

from collections.abc import Iterable

from app.catalogue.features.models import Feature
from app.catalogue.releases import queries
from app.catalogue.releases.models import Release, ReleaseState
from app.catalogue.releases.queries import Located
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies.queries import environments_of
from app.core.actor import Actor
from app.core.clock import in_text, utcnow
from app.core.db import db
from app.core.errors import Conflict
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import Recorded

EDITS = {
    EventType.FEATURE_STRATEGIES_SORTED,
    EventType.FEATURE_STRATEGY_ADDED,
    EventType.FEATURE_STRATEGY_REMOVED,
    EventType.FEATURE_STRATEGY_UPDATED,
}
TOUCHING = EDITS | {
    EventType.FEATURE_ARCHIVED,
    EventType.FEATURE_ENVIRONMENT_DISABLED,
    EventType.PROJECT_ENVIRONMENTS_UPDATED,
}
"""After the others, a feature may be off in some environments."""


def check(since: int = 0) -> None:
    """Stop releases whose feature went off, and refuse edits of strategies that belong to one.

    ``since``: how many entries ``events.recorded`` had before what is checked.

    Raises:
        Conflict: with the release, and how to stop or leave it.

    """
    actors, edited = _touched(events.recorded()[since:])
    if not actors:
        return
    for found in queries.moving(actors.keys(), actors.keys()):
        if found.release.id in _moved():
            continue
        if (found.feature, found.release.environment) in edited:
            raise _owned(found)
        if why := _why_off(found):
            stop(actors.get(found.feature) or actors[found.project_id], found, why)


def _touched(recorded: Iterable[Recorded]) -> tuple[dict[str, Actor], set[tuple[str, str]]]:
    """Who changed a feature or a project, by its name or id; and (feature, environment) edited."""
    actors: dict[str, Actor] = {}
    edited: set[tuple[str, str]] = set()
    for each in recorded:
        for load in each.payloads if each.type in TOUCHING else ():
            name = load.get("feature_name") or str(load.get("project"))
            actors[name] = each.actor
            if each.type in EDITS:
                facts = load.get("data") or load.get("pre_data") or {}
                edited.add((name, facts.get("environment", "")))
    return actors, edited


def move(release: Release) -> None:
    """Let this transaction change the strategies that belong to the release."""
    _moved().add(release.id)


def stop(actor: Actor, found: Located, reason: str | None) -> None:
    """Note that a release was stopped. What applications get has been changed already."""
    close(actor, found.release, ReleaseState.STOPPED)
    found.release.reason = reason
    record(actor, EventType.RELEASE_PLAN_STOPPED, found, reason=reason)


def close(actor: Actor, release: Release, state: ReleaseState) -> None:
    """Set how and when a release ended."""
    now = utcnow()
    if hold := release.hold:
        release.holds = [*release.holds[:-1], {**hold, "until": in_text(now)}]
    release.state, release.ended_at = state, now
    release.ended_by, release.ended_by_id = actor.username, actor.id
    release.next_at, release.is_automatic = None, False
    db.session.flush()


def record(actor: Actor, type: EventType, found: Located, **more: object) -> None:
    """Record an act on a release, with its present step."""
    release, facts = found.release, dict(more)
    if (step := release.step) is not None and release.position is not None:
        facts.setdefault(
            "milestone",
            {"id": step["id"], "name": step["name"], "number": release.position + 1},
        )
    facts |= {"id": release.id, "name": release.name, "environment": release.environment}
    events.record(actor, type, project=found.project_id, feature_name=found.feature, data=facts)


def _moved() -> set[str]:
    """Ids of the releases that this transaction moves."""
    found: set[str] = db.session.info.setdefault("moved_releases", set())
    return found


def _why_off(found: Located) -> str | None:
    """Why no application gets the feature there any more; None if some may."""
    environment = found.release.environment
    feature = db.session.get_one(Feature, found.release.feature_id, populate_existing=True)
    if feature.archived_at is not None:
        return "The feature was archived"
    uses = environments_of([feature.project_id]).get(feature.project_id, [])
    if environment not in {use.name for use in uses}:
        return f"Project {feature.project_id} no longer uses {environment}"
    if feature.id not in strategies.on_in(environment, [feature.id]):
        return "The feature was switched off"
    return None


def _owned(found: Located) -> Conflict:
    release, place = found.release, (found.release.position or 0) + 1
    path = (
        f"/api/admin/projects/{found.project_id}/features/{found.feature}/environments/"
        f"{release.environment}/release-plans/{release.id}"
    )
    return Conflict(
        f"A release decides who gets {found.feature} in {release.environment}. It is at step "
        f"{place} of {len(release.steps)}. Stop it (POST {path}/stop), or leave it (DELETE {path}) "
        "before you change the strategies yourself."
    )
