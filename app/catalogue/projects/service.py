from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from app.accounts.models import Account
from app.catalogue.environments import service as known_environments
from app.catalogue.features.models import Feature
from app.catalogue.projects import queries
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
from app.core.clock import utcnow
from app.core.connections import can_write
from app.core.db import db, flush, once, one_or_none, save
from app.core.errors import Conflict, Detail, Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.paging import Page, page_of
from app.core.permissions import DEFAULT_PROJECT, Permission, Role
from app.core.statements import Prepared


class ApprovalRule(TypedDict):
    name: str
    required_approvals: int


class Changes(TypedDict, total=False):
    """Fields of an update. Omitted fields keep their value; None clears one."""

    name: str
    description: str | None
    mode: ProjectMode
    default_stickiness: str


# The database filters out a project that the actor can't see. Reading it first would take
# measurably longer than finding nothing, and so reveal that it exists.
_select_archived_at = sa.select(Project.archived_at).where(
    Project.id == sa.bindparam("id"),
    sa.or_(Project.mode != ProjectMode.PRIVATE, sa.bindparam("is_insider", type_=sa.Boolean)),
)
_archived_at = Prepared(_select_archived_at)
# FOR KEY SHARE: blocks ``get_for_change``, but not others who change features of the project
_archived_at_locked = Prepared(_select_archived_at.with_for_update(read=True, key_share=True))


class Filters(TypedDict, total=False):
    """Filters and order of a list of projects."""

    text: str
    mode: ProjectMode
    membership: Membership
    environment: str
    sort: str


def search(
    actor: Actor, *, archived: bool, limit: int, offset: int, **filters: Unpack[Filters]
) -> Page[Project]:
    return page_of(queries.rows(actor, archived=archived, **filters), limit=limit, offset=offset)


def names(actor: Actor, limit: int, permission: Permission | None = None) -> list[tuple[str, str]]:
    """The ids and names of active projects that the actor can see, by name.

    ``permission``: only those in which the actor holds it.
    """
    query = sa.select(Project.id, Project.name).where(
        Project.visible_to(actor), Project.archived_at.is_(None)
    )
    if permission is not None and not actor.may(permission):
        known = {DEFAULT_PROJECT, *actor.project_roles}
        query = query.where(Project.id.in_([id for id in known if actor.may(permission, id)]))
    found = db.session.execute(query.order_by(Project.name, Project.id).limit(limit))
    return [(id, name) for id, name in found]


def owners(page: Page[Project]) -> dict[str, list[Account]]:
    """The Owners of each project in a list."""
    return queries.owners([project.id for project in page.items])


def numbers_on(page: Page[Project]) -> dict[str, int]:
    """How many features of each project in a list are on in production."""
    return queries.numbers_on([project.id for project in page.items])


@dataclass(frozen=True, slots=True)
class Overview:
    """A project with the numbers and names shown at the top of each of its pages."""

    project: Project
    feature_count: int
    member_count: int
    owners: list[Account]
    changed: Event | None


def overview(actor: Actor, project_id: str) -> Overview:
    query = queries.counted(actor).where(Project.id == project_id)
    # Counts are only filled in when a project is loaded, and this one may be loaded already.
    query = query.execution_options(populate_existing=True)
    project = _found(db.session.scalar(query), project_id)
    return Overview(
        project,
        project.feature_count,
        project.member_count,
        queries.owners([project_id]).get(project_id, []),
        queries.last_event(project_id),
    )


@dataclass(frozen=True, slots=True)
class Audience:
    """How many accounts can see a project, how many can’t, and how many can propose and change."""

    see: int
    cannot_see: int
    propose: int
    change: int


def reach_by_mode(actor: Actor, project_id: str | None = None) -> dict[ProjectMode, Audience]:
    """How many accounts each mode would reach now. Without ``project_id``: for a new project."""
    count = queries.head_count(project_id, actor.id)
    is_default = project_id == DEFAULT_PROJECT
    editors_too = count.insiders_and_editors if is_default else count.insiders
    outsiders = count.everyone - count.insiders
    return {
        ProjectMode.OPEN: Audience(count.everyone, 0, count.everyone, editors_too),
        ProjectMode.PROTECTED: Audience(count.everyone, 0, count.insiders, count.insiders),
        ProjectMode.PRIVATE: Audience(count.insiders, outsiders, count.insiders, count.insiders),
    }


@dataclass(frozen=True, slots=True)
class Approvers:
    """How many people can approve changes in a project, and where that is too few."""

    number: int
    too_few: list[Approval]


def approvers(project: Project) -> Approvers:
    """Count approvers. No one approves their own change, so it takes one more than approvals."""
    number = queries.head_count(project.id).approvers
    rules = project.change_request_environments
    return Approvers(number, [rule for rule in rules if rule.required_approvals >= number])


def get(actor: Actor, project_id: str) -> Project:
    """The project, active or archived, if the actor can see it."""
    return _find(actor, project_id)


def get_for_change(actor: Actor, project_id: str) -> Project:
    """The project, locked until the transaction ends. Refuses an archived one."""
    project = _find(actor, project_id, for_change=True)
    if project.archived_at is not None:
        raise _archived(project_id)
    return project


def require(actor: Actor, project_id: str) -> None:
    """Refuse unless the project exists, active or archived, and the actor can see it."""
    _require(actor, project_id)


def require_for_content(actor: Actor, project_id: str) -> None:
    """Refuse like ``require``, or if it is archived. Lock it against archiving."""
    if _require(actor, project_id, for_change=can_write()) is not None:
        raise _archived(project_id)


def may_propose(actor: Actor, permission: Permission, project: Project) -> bool:
    """Whether the actor may propose what takes the permission.

    In an open project, anyone may propose what a Member may do.
    """
    is_for_all = project.mode is ProjectMode.OPEN and permission.least_role is Role.MEMBER
    return is_for_all or actor.may(permission, project.id)


def require_proposer(actor: Actor, permission: Permission, project_id: str) -> None:
    """Refuse unless ``may_propose``; an unknown or hidden project like one that is not open."""
    if actor.may(permission, project_id):
        return
    query = sa.select(Project).where(Project.id == project_id, Project.visible_to(actor))
    project = db.session.scalar(query)
    if project is None or not may_propose(actor, permission, project):
        actor.require(permission, project_id)


def create(
    actor: Actor,
    *,
    id: str,
    name: str,
    description: str | None = None,
    mode: ProjectMode = ProjectMode.OPEN,
    default_stickiness: str = "default",
    environments: list[str] | None = None,
    change_request_environments: Collection[ApprovalRule] = (),
    owned: bool = True,
) -> Project:
    """Create a project and, if ``owned``, make the actor its Owner.

    Without ``environments`` it uses all that are not deprecated.
    """
    if environments is None:
        environments = known_environments.all_names(with_deprecated=False)
    _refuse_unknown(environments, change_request_environments)
    project = Project(
        id=id,
        name=name,
        description=description,
        mode=mode,
        default_stickiness=default_stickiness,
        enabled=[ProjectEnvironment(environment=name) for name in dict.fromkeys(environments)],
        approvals=[
            Approval(environment=rule["name"], required_approvals=rule["required_approvals"])
            for rule in change_request_environments
        ],
    )
    taken = NameExists(
        f"A project with the id {id!r} already exists (it may be archived).", field="id"
    )
    save(project, if_taken=taken)
    if owned and actor.id is not None:
        creator = Member(project_id=id, account_id=actor.id)
        creator.give(actor, Role.OWNER)
        save(creator)
    events.record(actor, EventType.PROJECT_CREATED, project=id, data=project.snapshot())
    return project


def update(actor: Actor, project: Project, **changes: Unpack[Changes]) -> bool:
    """Change a project from ``get_for_change``. Return whether anything changed."""
    before = project.snapshot()
    for key, value in changes.items():
        setattr(project, key, value)
    return _record_change(actor, EventType.PROJECT_UPDATED, project, before)


def set_environments(
    actor: Actor,
    project: Project,
    *,
    environments: list[str],
    change_request_environments: Collection[ApprovalRule] | None = None,
) -> bool:
    """Replace the environments of a project and, unless None, its approvals.

    ``project``: from ``get_for_change``. Return whether anything changed.
    """
    _refuse_unknown(environments, change_request_environments or ())
    before = project.snapshot()
    if removed := set(project.environments).difference(environments):
        _switch_off(project, removed)
    kept = {row.environment: row for row in project.enabled}
    project.enabled = [
        kept.get(name) or ProjectEnvironment(environment=name)
        for name in dict.fromkeys(environments)
    ]
    if change_request_environments is not None:
        rules = {row.environment: row for row in project.approvals}
        project.approvals = [
            rules.get(rule["name"]) or Approval(environment=rule["name"])
            for rule in change_request_environments
        ]
        for row, rule in zip(project.approvals, change_request_environments, strict=True):
            row.required_approvals = rule["required_approvals"]
    flush()
    _record_lowered_approvals(actor, project, before["changeRequestEnvironments"])
    return _record_change(actor, EventType.PROJECT_ENVIRONMENTS_UPDATED, project, before)


def lowered(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, int | None]:
    """Environments that need fewer approvals after than before, with the new number.

    None: the project no longer uses it. Either takes the approvals of before. ``before``,
    ``after``: ``{"environments": names, "approvals": numbers by name}``.
    """
    found: dict[str, int | None] = {}
    for name, most in sorted(before["approvals"].items()):
        number = after["approvals"].get(name, 0)
        if name in before["environments"] and name not in after["environments"]:
            found[name] = None
        elif number < most:
            found[name] = number
    return found


def archive(actor: Actor, project: Project) -> None:
    """Archive a project without active features. Its id stays taken."""
    if queries.has_active_features(project.id):
        raise Conflict(f"Project {project.id} still has active features. Archive them first.")
    project.archived_at = utcnow()
    events.record(
        actor, EventType.PROJECT_ARCHIVED, project=project.id, pre_data=project.snapshot()
    )


def revive(actor: Actor, project_id: str) -> Project:
    project = _find(actor, project_id, for_change=True)
    if project.archived_at is None:
        raise Conflict(f"Project {project_id} is not archived.")
    project.archived_at = None
    events.record(actor, EventType.PROJECT_REVIVED, project=project_id, data=project.snapshot())
    return project


def _switch_off(project: Project, environments: Collection[str]) -> None:
    """Switch off all features that are on there. They keep their strategies."""
    off = sa.update(FeatureState).where(
        FeatureState.enabled,
        FeatureState.environment.in_(environments),
        FeatureState.feature_id.in_(sa.select(Feature.id).where(Feature.project_id == project.id)),
    )
    db.session.execute(off.values(enabled=False, changed_at=utcnow()))


def _find(actor: Actor, project_id: str, *, for_change: bool = False) -> Project:
    query = sa.select(Project).where(Project.id == project_id, Project.visible_to(actor))
    project = one_or_none(
        query,
        "whole project",
        project_id,
        queries.is_insider(actor, project_id),
        for_change=for_change,
    )
    return _found(project, project_id)


def _found(project: Project | None, project_id: str) -> Project:
    if project is None:
        raise _not_found(project_id)
    return project


def _require(actor: Actor, project_id: str, *, for_change: bool = False) -> Any:
    """Time at which the project was archived; None if it is active.

    Each service asks, so that it is safe by itself.
    """
    is_insider = queries.is_insider(actor, project_id)
    statement = _archived_at_locked if for_change else _archived_at
    found = once(
        ("project", project_id, is_insider),
        lambda: statement.run(id=project_id, is_insider=is_insider),
        locks=for_change,
    )
    if not found:
        raise _not_found(project_id)
    return found[0].archived_at


def _not_found(project_id: str) -> NotFound:
    return NotFound(f"There is no project with the id {project_id}.")


def _archived(project_id: str) -> Conflict:
    return Conflict(f"Project {project_id} is archived. Revive it before you change it.")


def _refuse_unknown(environments: Collection[str], rules: Collection[ApprovalRule]) -> None:
    known = set(known_environments.all_names())
    named = {
        "/environments/{}": environments,
        "/changeRequestEnvironments/{}/name": [rule["name"] for rule in rules],
    }
    unknown: list[Detail] = [
        {"path": path.format(index), "message": f"There is no environment named {name!r}."}
        for path, names in named.items()
        for index, name in enumerate(names)
        if name not in known
    ]
    if unknown:
        raise Invalid.because(unknown)


def _record_lowered_approvals(actor: Actor, project: Project, before: dict[str, int]) -> None:
    """Record events for environments that need fewer approvals than before."""
    now = {row.environment: row.required_approvals for row in project.approvals}
    for name in sorted(before):
        if now.get(name, 0) < before[name]:
            events.record(
                actor,
                EventType.APPROVALS_LOWERED,
                project=project.id,
                pre_data={"environment": name, "requiredApprovals": before[name]},
                data={"environment": name, "requiredApprovals": now.get(name, 0)},
            )


def _record_change(
    actor: Actor, type: EventType, project: Project, before: dict[str, object]
) -> bool:
    after = project.snapshot()
    if after != before:
        events.record(actor, type, project=project.id, pre_data=before, data=after)
    return after != before
