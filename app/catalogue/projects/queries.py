"""Reading projects that an actor can see."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import selectinload, with_expression

from app.accounts.models import Account, AccountKind
from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.features.models import Feature
from app.catalogue.projects.models import (
    Approval,
    Member,
    Membership,
    Project,
    ProjectEnvironment,
    ProjectMode,
)
from app.catalogue.strategies.models import FeatureState
from app.core.actor import Actor
from app.core.db import MAX_ID, chunks, contains, db, once
from app.core.events.models import Event
from app.core.paging import sorted_by
from app.core.permissions import Role


class HeadCount(NamedTuple):
    """Numbers of accounts. Insiders are the members of a project, and all Admins.

    ``approvers``: insiders who can approve; see ``can_approve``.
    """

    people: int
    service_accounts: int
    insiders: int
    insiders_and_editors: int
    approvers: int

    @property
    def everyone(self) -> int:
        return self.people + self.service_accounts


def is_insider(actor: Actor, project_id: str) -> bool:
    """Whether the actor can see the project even if it is private."""
    return actor.is_admin or project_id in actor.project_roles


def can_approve(
    project_id: sa.SQLColumnExpression[str], account: type[Account] = Account
) -> sa.ColumnElement[bool]:
    """Condition for accounts that can approve in the project: active people, as member or Admin."""
    is_member = (
        sa.exists()
        .where(Member.account_id == account.id, Member.project_id == project_id)
        .correlate_except(Member)  # also where it stands two levels below the table of project_id
    )
    return sa.and_(
        account.kind == AccountKind.PERSON,
        account.deleted_at.is_(None),
        account.deactivated_at.is_(None),
        sa.or_(account.role == Role.ADMIN, is_member),
    )


def visible_projects(actor: Actor, project_id: str | None = None) -> sa.Select[str]:
    """Select the ids of projects that the actor can see. ``project_id``: of this one only."""
    query = sa.select(Project.id).where(Project.visible_to(actor))
    return query if project_id is None else query.where(Project.id == project_id)


def for_ids(ids: Collection[str]) -> dict[str, Project]:
    """The projects with these ids, by id."""
    query = sa.select(Project).where(Project.id.in_(ids))
    return {project.id: project for project in db.session.scalars(query)}


def hidden_from(actor: Actor) -> sa.Select[str]:
    """Select the ids of all projects that the actor can't see."""
    return sa.select(Project.id).where(~Project.visible_to(actor))


def rows(
    actor: Actor,
    *,
    archived: bool,
    text: str | None = None,
    mode: ProjectMode | None = None,
    membership: Membership | None = None,
    environment: str | None = None,
    sort: str | None = None,
) -> sa.Select[Project]:
    """Projects that match every filter, with counts, by name unless ``sort`` says otherwise."""
    features, members, changed = _active_features(), _members(), _last_change()
    columns = {
        "id": Project.id,
        "name": sa.func.lower(Project.name),
        "createdAt": Project.created_at,
        "featureCount": features,
        "memberCount": members,
        "changedAt": changed,
    }
    condition = Project.archived_at.is_not(None) if archived else Project.archived_at.is_(None)
    query = counted(actor).where(condition)
    if text is not None:
        query = query.where(contains(text, Project.id, Project.name))
    if mode is not None:
        query = query.where(Project.mode == mode)
    if membership is Membership.MINE:
        query = query.where(Project.id.in_(list(actor.project_roles)))
    if membership is Membership.OWNERLESS:
        query = query.where(Project.id.not_in(_with_owner()))
    if environment is not None:
        uses = sa.select(ProjectEnvironment.project_id)
        query = query.where(
            Project.id.in_(uses.where(ProjectEnvironment.environment == environment))
        )
    order = (*sorted_by(sort, columns), sa.func.lower(Project.name), Project.id)
    return query.options(selectinload(Project.enabled), selectinload(Project.approvals)).order_by(
        *order
    )


def counted(actor: Actor) -> sa.Select[Project]:
    """Select projects that the actor can see, with their counts and the time of the last change."""
    return (
        sa.select(Project)
        .where(Project.visible_to(actor))
        .options(
            with_expression(Project.feature_count, _active_features()),
            with_expression(Project.member_count, _members()),
            with_expression(Project.changed_at, _last_change()),
        )
    )


def owners(project_ids: Collection[str]) -> dict[str, list[Account]]:
    """The Owners of each project that has any, oldest account first."""
    query = (
        sa.select(Member.project_id, Account)
        .join(Account, Account.id == Member.account_id)
        .where(
            Member.project_id.in_(project_ids),
            Member.role == Role.OWNER,
            Account.deleted_at.is_(None),
        )
        .order_by(Account.id)
    )
    found: dict[str, list[Account]] = {}
    for project_id, account in db.session.execute(query):
        found.setdefault(project_id, []).append(account)
    return found


def on_in_production(*columns: sa.SQLColumnExpression[Any]) -> sa.Select[*tuple[Any, ...]]:
    """Select from states of active features that are on in a production environment."""
    uses = sa.and_(
        ProjectEnvironment.project_id == Feature.project_id,
        ProjectEnvironment.environment == FeatureState.environment,
    )
    return (
        sa.select(*columns)
        .select_from(Feature)
        .join(FeatureState, FeatureState.feature_id == Feature.id)
        .join(Environment, Environment.name == FeatureState.environment)
        .join(ProjectEnvironment, uses)
        .where(
            Feature.archived_at.is_(None),
            FeatureState.enabled,
            Environment.type == EnvironmentType.PRODUCTION,
        )
    )


def numbers_on(project_ids: Collection[str]) -> dict[str, int]:
    """How many features are on in production, by project that has any."""
    number = sa.func.count(sa.distinct(Feature.id))
    query = on_in_production(Feature.project_id, number).group_by(Feature.project_id)
    found = db.session.execute(query.where(Feature.project_id.in_(project_ids)))
    return dict(found.all())


def last_event(project_id: str) -> Event | None:
    query = sa.select(Event).where(Event.project == project_id).order_by(Event.id.desc()).limit(1)
    return db.session.scalar(query)


def head_count(project_id: str | None, creator: int | None = None) -> HeadCount:
    """How many accounts there are, and how many could see the project if it were private.

    Without ``project_id``: a project that ``creator`` is about to create.
    """
    inside: sa.ColumnElement[bool] = Account.id == creator
    if project_id is not None:
        members = sa.select(Member.account_id).where(Member.project_id == project_id)
        inside = Account.id.in_(members)
    is_insider = sa.or_(inside, Account.role == Role.ADMIN)
    query = sa.select(
        Account.kind,
        sa.func.count(),
        sa.func.count().filter(is_insider),
        sa.func.count().filter(sa.or_(inside, Account.role.in_([Role.ADMIN, Role.EDITOR]))),
        sa.func.count().filter(is_insider, Account.deactivated_at.is_(None)),
    ).where(Account.deleted_at.is_(None))
    rows = once(
        ("heads", project_id), lambda: db.session.execute(query.group_by(Account.kind)).all()
    )
    found = {kind: counts for kind, *counts in rows}
    people = found.get(AccountKind.PERSON, [0, 0, 0, 0])
    service = found.get(AccountKind.SERVICE, [0, 0, 0, 0])
    return HeadCount(
        people[0], service[0], people[1] + service[1], people[2] + service[2], people[3]
    )


def has_active_features(project_id: str) -> bool:
    query = sa.exists().where(Feature.project_id == project_id, Feature.archived_at.is_(None))
    return bool(db.session.scalar(sa.select(query)))


def members(project_id: str) -> list[tuple[Account, Member]]:
    query = (
        sa.select(Account, Member)
        .join(Member, Member.account_id == Account.id)
        .where(Member.project_id == project_id, Account.deleted_at.is_(None))
        .order_by(Member.role, Account.id)
    )
    return once(
        ("members", project_id),
        lambda: [(account, member) for account, member in db.session.execute(query)],
    )


def not_deleted(account_ids: Collection[int]) -> set[int]:
    """Ids among these of accounts that exist and aren't deleted."""
    possible = [id for id in account_ids if 0 < id <= MAX_ID]
    found: set[int] = set()
    for chunk in chunks(possible):
        query = sa.select(Account.id).where(Account.id.in_(chunk), Account.deleted_at.is_(None))
        found.update(db.session.scalars(query))
    return found


def accounts_like(text: str, limit: int) -> list[Account]:
    """Accounts with the text in the user name, the full name or the e-mail address."""
    query = (
        sa.select(Account)
        .where(
            Account.deleted_at.is_(None),
            contains(text, Account.username, Account.name, Account.email),
        )
        .order_by(Account.username_key, Account.id)
        .limit(limit)
    )
    return list(db.session.scalars(query))


def _last_change() -> sa.ScalarSelect[datetime]:
    return (
        sa.select(Event.created_at)
        .where(Event.project == Project.id)
        .order_by(Event.id.desc())
        .limit(1)
        .correlate(Project)
        .scalar_subquery()
    )


def _with_owner() -> sa.Select[str]:
    return (
        sa.select(Member.project_id)
        .join(Account, Account.id == Member.account_id)
        .where(Member.role == Role.OWNER, Account.deleted_at.is_(None))
    )


def _active_features() -> sa.ScalarSelect[int]:
    return (
        sa.select(sa.func.count())
        .select_from(Feature)
        .where(Feature.project_id == Project.id, Feature.archived_at.is_(None))
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


def needing_approval(project_id: str, environments: Iterable[str]) -> list[str]:
    """Environments among these in which changes need approvals, sorted by name."""
    query = sa.select(Approval.environment).where(
        Approval.project_id == project_id, Approval.environment.in_(list(environments))
    )
    return list(db.session.scalars(query.order_by(Approval.environment)))
