"""Releases: finding and creating them. A feature has at most one open one in an environment."""

from datetime import datetime
from typing import TypedDict, Unpack
from uuid import UUID, uuid4

import sqlalchemy as sa

from app.catalogue.features import service as features
from app.catalogue.projects import service as projects
from app.catalogue.releases import queries
from app.catalogue.releases import service as ownership
from app.catalogue.releases.models import Release, ReleaseState, ReleaseTemplate
from app.catalogue.releases.queries import Filters, Located
from app.catalogue.strategies.service import project_environment
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, locked, save
from app.core.errors import Conflict, Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.releases.plans import acts, warrants
from app.releases.templates import service as templates
from app.releases.templates import steps as plan
from app.releases.templates.steps import NewStep

OFF, RESTORE = ENDINGS = ("off", "restore")
"""What stopping a release does."""


class Wish(TypedDict, total=False):
    """What a release is created from. Without ``milestones``: those of the template.

    ``start_at``: when its first step starts by itself. ``when_stopped``: OFF, or RESTORE to bring
    back the former strategies.
    """

    template_id: str
    milestones: list[NewStep]
    start_at: datetime | None
    when_stopped: str


def search(actor: Actor, *, limit: int, offset: int, **filters: Unpack[Filters]) -> Page[Located]:
    page = page_of(queries.rows(actor, **filters), limit=limit, offset=offset)
    return page.of([Located(*row) for row in page.items])


def latest(actor: Actor, project_id: str, feature: str, environment: str) -> Located | None:
    """The open release of the feature there, or the one that ended last."""
    found = features.get(actor, project_id, feature)
    found.state(environment)
    release = queries.of_feature(found.feature.id).get(environment)
    return None if release is None else Located(release, feature, project_id)


def get(
    actor: Actor,
    project_id: str,
    feature: str,
    environment: str,
    id: UUID | str,
    *,
    for_change: bool = False,
) -> Located:
    """The release. ``for_change``: locked with its feature, which is not archived."""
    if for_change:
        owner = features.lock_for_change(actor, project_id, feature)
    else:
        projects.require(actor, project_id)
        owner = features.find(project_id, feature)
    query = sa.select(Release).where(
        Release.id == str(id), Release.feature_id == owner.id, Release.environment == environment
    )
    release = db.session.scalar(locked(query) if for_change else query)
    if release is None:
        raise NotFound(f"{feature} has no release with the id {id} in {environment}.")
    return Located(release, feature, project_id)


def with_step(
    actor: Actor, project_id: str, feature: str, environment: str, step_id: str
) -> Located:
    """The open release that has this step, for change. Paths of progressions name only the step."""
    owner = features.lock_for_change(actor, project_id, feature)
    release = queries.open_in(owner.id, environment)
    if release is None or step_id not in {step["id"] for step in release.steps}:
        raise NotFound(f"{feature} has no open release with the step {step_id} in {environment}.")
    return get(actor, project_id, feature, environment, release.id, for_change=True)


def create(
    actor: Actor,
    project_id: str,
    feature: str,
    environment: str,
    *,
    start: bool = False,
    is_approved: bool = False,
    **wish: Unpack[Wish],
) -> Located:
    """Create a release. ``start``: start its first step at once.

    Without that it starts by itself at ``start_at``, or when someone starts it. ``is_approved``:
    whether people have approved it.

    Raises:
        Conflict: when the feature has an open one there.
        NeedsApprovals: when it would start by itself where that needs them.

    """
    if start and wish.get("start_at") is not None:
        raise Invalid.at("/startAt", "Send start or startAt, not both.")
    by = actor.for_act(actor.batch_id or events.new_batch())
    found = draft(by, project_id, feature, environment, wish)
    taken = Conflict(f"{feature} already has a release in {environment}.")
    save(found.release, if_taken=taken)
    ownership.record(by, EventType.RELEASE_PLAN_ADDED, found, **found.release.snapshot())
    if start:
        acts.start(by, found)
    elif found.release.is_automatic and not is_approved:
        warrants.require_for_later(by, found)
    return found


def draft(actor: Actor, project_id: str, feature: str, environment: str, wish: Wish) -> Located:
    """The release that ``create`` would store, with its feature locked.

    Raises:
        Conflict: when the feature has an open one there.

    """
    owner = features.lock_for_change(actor, project_id, feature)
    project_environment(project_id, environment)
    if (other := queries.open_in(owner.id, environment)) is not None:
        raise _second(feature, other)
    template = _template(actor, project_id, wish.get("template_id"))
    given = steps_asked_for(actor, project_id, feature, wish)
    start_at = wish.get("start_at")
    if start_at is not None and start_at < utcnow():
        raise Invalid.at("/startAt", "Choose a time that is still to come.")
    stickiness = projects.get(actor, project_id).default_stickiness
    defaults = {"stickiness": stickiness, "groupId": feature}
    release = Release(
        id=str(uuid4()),
        feature_id=owner.id,
        environment=environment,
        template_id=template and template.id,
        template=template and template.name,
        name=template.name if template else feature,
        description=template and template.description,
        state=ReleaseState.DRAFT,
        steps=plan.stored(given, project_id=project_id, defaults=defaults),
        next_at=start_at,
        is_automatic=start_at is not None,
        restores=wish.get("when_stopped") == RESTORE,
        former=[],
        holds=[],
        created_by=actor.username,
        created_by_id=actor.id,
    )
    return Located(release, feature, project_id)


def steps_asked_for(actor: Actor, project_id: str, feature: str, wish: Wish) -> list[NewStep]:
    """The steps of the wish, or those that its template has now."""
    template = _template(actor, project_id, wish.get("template_id"))
    if (given := wish.get("milestones")) is not None:
        return given
    if template is None:
        raise Invalid.at("/templateId", "Name a template, or send milestones.")
    return plan.of_feature(template.steps, feature)


def _template(actor: Actor, project_id: str, id: str | None) -> ReleaseTemplate | None:
    if id is None:
        return None
    try:
        found = templates.get(actor, id)
    except NotFound as error:
        raise Invalid.at("/templateId", error.message) from None
    if found.project_id not in {None, project_id}:
        raise Invalid.at("/templateId", templates.unknown(id).message)
    return found


def _second(feature: str, other: Release) -> Conflict:
    state = "not started" if other.position is None else f"at step {other.position + 1}"
    return Conflict(
        f"{feature} already has a release in {other.environment}, {other.name}, {state}. Stop it "
        "or leave it first."
    )
