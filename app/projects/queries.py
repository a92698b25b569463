"""Reading projects, as far as the one who asks may know of them."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import selectinload, with_expression

from app.accounts.models import Account
from app.core.actor import Actor
from app.core.db import MAX_ID, chunks, db
from app.core.paging import sorted_by
from app.projects.models import Member, Project, ProjectMode

# Counted here for the list of projects; described in app/features, which builds upon projects.
_features = sa.table("features", sa.column("project_id"), sa.column("archived_at"))


def visible_to(actor: Actor) -> sa.ColumnElement[bool]:
    """Projects that the actor may know of: a private one only as its member, or as an Admin."""
    if actor.is_admin:
        return sa.true()
    return sa.or_(Project.mode != ProjectMode.PRIVATE, Project.id.in_(list(actor.project_roles)))


def visible_projects(actor: Actor) -> sa.Select[str]:
    """The ids of all projects that the actor may know of."""
    return sa.select(Project.id).where(visible_to(actor))


def hidden_from(actor: Actor) -> sa.Select[str]:
    """The ids of all projects that the actor may not know of."""
    return sa.select(Project.id).where(~visible_to(actor))


def rows(actor: Actor, *, archived: bool, sort: str | None = None) -> sa.Select[Project]:
    """Projects with their counts, by name unless ``sort`` says otherwise."""
    features, members = _active_features(), _members()
    columns = {
        "id": Project.id,
        "name": sa.func.lower(Project.name),
        "createdAt": Project.created_at,
        "featureCount": features,
        "memberCount": members,
    }
    condition = Project.archived_at.is_not(None) if archived else Project.archived_at.is_(None)
    return (
        sa.select(Project)
        .where(visible_to(actor), condition)
        .options(
            with_expression(Project.feature_count, features),
            with_expression(Project.member_count, members),
            selectinload(Project.enabled),
            selectinload(Project.approvals),
        )
        .order_by(*sorted_by(sort, columns), sa.func.lower(Project.name), Project.id)
    )


def has_active_features(project_id: str) -> bool:
    query = sa.exists().where(
        _features.c.project_id == project_id, _features.c.archived_at.is_(None)
    )
    return bool(db.session.scalar(sa.select(query)))


def members(project_id: str) -> list[tuple[Account, Member]]:
    query = (
        sa.select(Account, Member)
        .join(Member, Member.account_id == Account.id)
        .where(Member.project_id == project_id, Account.deleted_at.is_(None))
        .order_by(Member.role, Account.id)
    )
    return [(account, member) for account, member in db.session.execute(query)]


def living(account_ids: Collection[int]) -> set[int]:
    """Those of the ids that belong to accounts that exist and are not deleted."""
    possible = [id for id in account_ids if 0 < id <= MAX_ID]
    found: set[int] = set()
    for chunk in chunks(possible):
        query = sa.select(Account.id).where(Account.id.in_(chunk), Account.deleted_at.is_(None))
        found.update(db.session.scalars(query))
    return found


def _active_features() -> sa.ScalarSelect[int]:
    return (
        sa.select(sa.func.count())
        .select_from(_features)
        .where(_features.c.project_id == Project.id, _features.c.archived_at.is_(None))
        .correlate(Project)
        .scalar_subquery()
    )


def _members() -> sa.ScalarSelect[int]:
    return (
        sa.select(sa.func.count())
        .select_from(Member)
        .join(Account, Account.id == Member.account_id)
        .where(Member.project_id == Project.id, Account.deleted_at.is_(None))
        .correlate(Project)
        .scalar_subquery()
    )
