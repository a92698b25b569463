from typing import TypedDict, Unpack

import sqlalchemy as sa

from app.catalogue.environments.models import MAX_ORDER, Environment, EnvironmentType
from app.catalogue.projects.models import Project, ProjectEnvironment
from app.core.actor import Actor
from app.core.db import by_id, db, once, save
from app.core.errors import NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of


class Changes(TypedDict, total=False):
    """Fields of an update. Omitted fields keep their value."""

    type: EnvironmentType
    sort_order: int
    deprecated: bool


def search(*, limit: int, offset: int) -> Page[Environment]:
    return page_of(_in_order(), limit=limit, offset=offset)


def list_all() -> list[Environment]:
    """All environments, in the order Admins chose."""
    return list(db.session.scalars(_in_order()))


def all_names(*, with_deprecated: bool = True) -> list[str]:
    """The names of all environments, in the order Admins chose."""
    query = _in_order().with_only_columns(Environment.name)
    if not with_deprecated:
        query = query.where(~Environment.deprecated)
    key = "names of environments", with_deprecated
    return list(once(key, lambda: db.session.scalars(query).all()))


def create(
    actor: Actor, *, name: str, type: EnvironmentType, sort_order: int | None = None
) -> Environment:
    """Create an environment. Without ``sort_order`` it comes last."""
    if sort_order is None:
        last = db.session.scalar(sa.select(sa.func.max(Environment.sort_order)))
        sort_order = min((last or 0) + 1, MAX_ORDER)
    environment = Environment(name=name, type=type, sort_order=sort_order)
    taken = NameExists(f"An environment named {name!r} already exists.", field="name")
    save(environment, if_taken=taken)
    events.record(actor, EventType.ENVIRONMENT_CREATED, data=environment.snapshot())
    return environment


def get_for_change(name: str) -> Environment:
    """The environment, locked until the transaction ends."""
    return get(name, for_change=True)


def project_counts(actor: Actor) -> dict[str, int]:
    """Number of active, visible projects by environment that they use; no zeros."""
    query = _counts(actor)
    return {row.environment: row.projects for row in db.session.execute(query)}


def with_project_counts(actor: Actor) -> dict[Environment, int]:
    """All environments, in the order Admins chose, with their ``project_counts``."""
    counts = _counts(actor).subquery()
    query = _in_order().add_columns(sa.func.coalesce(counts.c.projects, 0))
    query = query.outerjoin(counts, counts.c.environment == Environment.name)
    return {row[0]: row[1] for row in db.session.execute(query)}


def _counts(actor: Actor) -> sa.Select[str, int]:
    return (
        sa.select(ProjectEnvironment.environment, sa.func.count().label("projects"))
        .join(Project, Project.id == ProjectEnvironment.project_id)
        .where(Project.archived_at.is_(None), Project.visible_to(actor))
        .group_by(ProjectEnvironment.environment)
    )


def get(name: str, *, for_change: bool = False) -> Environment:
    environment = by_id(Environment, name, for_change=for_change)
    if environment is None:
        raise NotFound(f"There is no environment named {name}.")
    return environment


def update(actor: Actor, environment: Environment, **changes: Unpack[Changes]) -> bool:
    """Change an environment from ``get_for_change``. Return whether anything changed."""
    before = environment.snapshot()
    for key, value in changes.items():
        setattr(environment, key, value)
    after = environment.snapshot()
    if after != before:
        events.record(actor, EventType.ENVIRONMENT_UPDATED, pre_data=before, data=after)
    return after != before


def _in_order() -> sa.Select[Environment]:
    return sa.select(Environment).order_by(Environment.sort_order, Environment.name)
