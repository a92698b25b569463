"""Reading releases and templates."""

from collections.abc import Collection
from typing import Any, NamedTuple, TypedDict, Unpack

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Project
from app.catalogue.releases.models import (
    MOVING,
    OPEN,
    Release,
    ReleaseState,
    ReleaseTemplate,
)
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import chunks, contains, db, once
from app.core.paging import sorted_by


class Filters(TypedDict, total=False):
    """Filters of a list of releases. ``is_open``: under way, or ended."""

    text: str
    project: str
    feature: str
    environment: str
    state: ReleaseState
    is_open: bool
    waits: bool
    created_by: int
    sort: str


class Located(NamedTuple):
    """A release with the feature that it is of."""

    release: Release
    feature: str
    project_id: str


class TemplateUse(NamedTuple):
    """How many releases started from a template; ``under_way``, ``stopped``: those among them."""

    started: int = 0
    under_way: int = 0
    stopped: int = 0


_released = sa.select(Release, Feature.name, Feature.project_id).join(
    Feature, Feature.id == Release.feature_id
)


def rows(actor: Actor, **filters: Unpack[Filters]) -> sa.Select[Release, str, str]:
    """Select releases in projects that the actor can see; those that need someone first."""
    query = _released.join(Project, Project.id == Feature.project_id).where(
        Project.visible_to(actor)
    )
    if "text" in filters:
        query = query.where(contains(filters["text"], Feature.name, Release.name))
    for column, key in (
        (Feature.project_id, "project"),
        (Feature.name, "feature"),
        (Release.environment, "environment"),
        (Release.state, "state"),
        (Release.created_by_id, "created_by"),
    ):
        if key in filters:
            query = query.where(column == filters[key])  # type: ignore[literal-required] # from the tuple
    if "is_open" in filters:
        query = query.where(Release.ended_at.is_(None) == filters["is_open"])
    if filters.get("waits"):
        query = query.where(waits_for_someone())
    urgency = sa.case((Release.state == ReleaseState.HELD, 0), (waits_for_someone(), 1), else_=2)
    columns = {
        "feature": Feature.name,
        "createdAt": Release.created_at,
        "endedAt": Release.ended_at,
    }
    return query.order_by(
        *sorted_by(filters.get("sort"), columns),
        Release.ended_at.desc().nulls_last(),
        urgency,
        Release.next_at.asc().nulls_last(),
        Release.id,
    )


def waits_for_someone() -> sa.ColumnElement[bool]:
    """Whether someone can start the next step now, and it does not start by itself."""
    return sa.and_(
        Release.state == ReleaseState.RUNNING,
        ~Release.is_automatic,
        sa.func.coalesce(Release.next_at, sa.literal(utcnow(), Release.next_at.type)) <= utcnow(),
    )


def numbers(actor: Actor) -> dict[str, int]:
    """Releases under way that the actor can see: ``all``, ``held``, ``waiting`` and ``mine``."""
    columns = {
        "all": sa.func.count(),
        "held": sa.func.count().filter(Release.state == ReleaseState.HELD),
        "waiting": sa.func.count().filter(waits_for_someone()),
        "mine": sa.func.count().filter(Release.created_by_id == actor.id),
    }
    found = rows(actor, is_open=True).order_by(None)
    query = found.with_only_columns(*columns.values(), maintain_column_froms=True)
    return dict(zip(columns, db.session.execute(query).one(), strict=True))


def latest(ids: Collection[int]) -> dict[tuple[int, str], Release]:
    """The open release of each feature and environment, or the one that ended last."""
    found: dict[tuple[int, str], Release] = {}
    for chunk in chunks(ids):
        query = sa.select(Release).where(Release.feature_id.in_(chunk))
        newest_last = query.order_by(Release.ended_at.asc().nulls_last(), Release.created_at)
        for release in db.session.scalars(newest_last):
            found[release.feature_id, release.environment] = release
    return found


def of_feature(id: int) -> dict[str, Release]:
    """The latest release of a feature by environment."""
    found = once(("releases", id), lambda: latest([id]))
    return {environment: release for (_, environment), release in found.items()}


def open_in(feature_id: int, environment: str) -> Release | None:
    return open_of(environment, [feature_id]).get(feature_id)


def open_of(environment: str, ids: Collection[int]) -> dict[int, Release]:
    """The open releases of features in the environment, by the id of the feature."""
    return {
        release.feature_id: release
        for chunk in chunks(ids)
        for release in db.session.scalars(
            sa.select(Release).where(
                Release.feature_id.in_(chunk),
                Release.environment == environment,
                Release.ended_at.is_(None),
            )
        )
    }


def moving(names: Collection[str], projects: Collection[str]) -> list[Located]:
    """Releases that strategies belong to, of features with these names or in these projects."""
    found: list[Any] = []
    query = _released.where(Release.state.in_(MOVING))
    for column, values in ((Feature.name, names), (Feature.project_id, projects)):
        for chunk in chunks(values):
            found += db.session.execute(query.where(column.in_(chunk))).all()
    return [Located(*row) for row in found]


def templates(
    actor: Actor, *, project: str | None = None, with_root: bool = True, text: str | None = None
) -> sa.Select[ReleaseTemplate]:
    """Select templates that the actor can see. ``project``: those that it can use."""
    visible = sa.select(Project.id).where(Project.visible_to(actor))
    is_root = ReleaseTemplate.project_id.is_(None)
    query = sa.select(ReleaseTemplate).where(
        sa.or_(is_root, ReleaseTemplate.project_id.in_(visible))
    )
    if project is not None:
        is_own = ReleaseTemplate.project_id == project
        query = query.where(sa.or_(is_root, is_own) if with_root else is_own)
    if text is not None:
        query = query.where(contains(text, ReleaseTemplate.name, ReleaseTemplate.description))
    return query.order_by(ReleaseTemplate.name)


def template_uses(ids: Collection[str]) -> dict[str, TemplateUse]:
    """How often each template was used; without those that never were."""
    query = (
        sa.select(
            Release.template_id,
            sa.func.count(),
            sa.func.count().filter(Release.state.in_(OPEN)),
            sa.func.count().filter(Release.state == ReleaseState.STOPPED),
        )
        .where(Release.template_id.in_(ids))
        .group_by(Release.template_id)
    )
    return {str(id): TemplateUse(*uses) for id, *uses in db.session.execute(query)}
