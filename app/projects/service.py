from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from app.accounts.models import Account
from app.core.actor import Actor
from app.core.db import db, flush, rows, save, utcnow
from app.core.errors import Conflict, Detail, Invalid, NameExists, NotFound
from app.core.paging import Page, page_of
from app.core.permissions import DEFAULT_PROJECT, Role
from app.environments import service as known_environments
from app.events import service as events
from app.events.models import Event, EventType
from app.projects import queries
from app.projects.models import (
    Approval,
    Member,
    Membership,
    Project,
    ProjectEnvironment,
    ProjectMode,
)


class ApprovalRule(TypedDict):
    name: str
    required_approvals: int


class Changes(TypedDict, total=False):
    """What an update may name. A key left out is left alone; None clears."""

    name: str
    description: str | None
    mode: ProjectMode
    default_stickiness: str


# What is hidden is not even read: to read and then refuse it would take longer than to find none.
_state = sa.select(Project.archived_at).where(
    Project.id == sa.bindparam("id"),
    sa.or_(Project.mode != ProjectMode.PRIVATE, sa.bindparam("is_insider", type_=sa.Boolean)),
)
_state_for_content = _state.with_for_update(read=True, key_share=True)


class Filters(TypedDict, total=False):
    """What the list of projects can be narrowed by, and sorted."""

    text: str
    mode: ProjectMode
    membership: Membership
    sort: str


def search(
    actor: Actor, *, archived: bool, limit: int, offset: int, **filters: Unpack[Filters]
) -> Page[Project]:
    return page_of(queries.rows(actor, archived=archived, **filters), limit=limit, offset=offset)


def owners(page: Page[Project]) -> dict[str, list[Account]]:
    """The Owners of each project of a list."""
    return queries.owners([project.id for project in page.items])


@dataclass(frozen=True, slots=True)
class Overview:
    """A project with what stands at the head of each of its pages."""

    project: Project
    feature_count: int
    member_count: int
    owners: list[Account]
    changed: Event | None


def overview(actor: Actor, project_id: str) -> Overview:
    query = queries.counted(actor).where(Project.id == project_id)
    query = query.execution_options(populate_existing=True)
    project = _found(query, project_id)
    return Overview(
        project,
        project.feature_count,
        project.member_count,
        queries.owners([project_id]).get(project_id, []),
        queries.last_event(project_id),
    )


@dataclass(frozen=True, slots=True)
class Reach:
    """How many accounts see a project, and how many change something in it."""

    see: int
    change: int


def reaches(actor: Actor, project_id: str | None = None) -> dict[ProjectMode, Reach]:
    """What each mode would mean in numbers of today; for a new project without an id."""
    count = queries.head_count(project_id, actor.id)
    is_default = project_id == DEFAULT_PROJECT
    editors_too = count.insiders_and_editors if is_default else count.insiders
    return {
        ProjectMode.OPEN: Reach(count.everybody, editors_too),
        ProjectMode.PROTECTED: Reach(count.everybody, count.insiders),
        ProjectMode.PRIVATE: Reach(count.insiders, count.insiders),
    }


def get(actor: Actor, project_id: str) -> Project:
    """The project, archived or not, if the actor may know of it."""
    return _found(_select(actor, project_id), project_id)


def get_for_change(actor: Actor, project_id: str) -> Project:
    """The project, for this transaction alone to change; an archived one can't be."""
    project = _found(_select(actor, project_id).with_for_update(), project_id)
    return _active(project)


def require(actor: Actor, project_id: str) -> None:
    """Refuse to go on without such a project, archived or not, that the actor may know of."""
    _known(actor, project_id, _state)


def require_for_content(actor: Actor, project_id: str) -> None:
    """Refuse as ``require`` does, and if it is archived; nobody can archive it meanwhile."""
    if _known(actor, project_id, _state_for_content).archived_at is not None:
        raise _is_archived(project_id)


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
) -> Project:
    """Make a project with its creator as Owner; without ``environments`` it has all in use."""
    if environments is None:
        environments = known_environments.all_names(with_deprecated=False)
    else:
        _refuse_unknown(environments, "/environments/{}")
    _refuse_unknown(
        [rule["name"] for rule in change_request_environments],
        "/changeRequestEnvironments/{}/name",
    )
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
    if actor.id is not None:
        save(Member(project_id=id, account_id=actor.id, role=Role.OWNER))
    events.record(actor, EventType.PROJECT_CREATED, project=id, data=project.snapshot())
    return project


def update(actor: Actor, project: Project, **changes: Unpack[Changes]) -> Project:
    """Change a project that came from ``get_for_change``."""
    before = project.snapshot()
    for key, value in changes.items():
        setattr(project, key, value)
    _tell_change(actor, EventType.PROJECT_UPDATED, project, before)
    return project


def set_environments(
    actor: Actor,
    project: Project,
    *,
    environments: list[str],
    change_request_environments: Collection[ApprovalRule] | None = None,
) -> Project:
    """Say where the project runs and, unless None, which environments need how many approvals."""
    _refuse_unknown(environments, "/environments/{}")
    before = project.snapshot()
    kept = {row.environment: row for row in project.enabled}
    project.enabled = [
        kept.get(name) or ProjectEnvironment(environment=name)
        for name in dict.fromkeys(environments)
    ]
    if change_request_environments is not None:
        names = [rule["name"] for rule in change_request_environments]
        _refuse_unknown(names, "/changeRequestEnvironments/{}/name")
        rules = {row.environment: row for row in project.approvals}
        project.approvals = [
            rules.get(rule["name"]) or Approval(environment=rule["name"])
            for rule in change_request_environments
        ]
        for row, rule in zip(project.approvals, change_request_environments, strict=True):
            row.required_approvals = rule["required_approvals"]
    flush()
    _tell_change(actor, EventType.PROJECT_ENVIRONMENTS_UPDATED, project, before)
    return project


def archive(actor: Actor, project: Project) -> None:
    """Put an empty project away; its id stays taken."""
    if queries.has_active_features(project.id):
        raise Conflict(
            f"Project {project.id} still has active features; archive or move them first."
        )
    project.archived_at = utcnow()
    events.record(
        actor, EventType.PROJECT_ARCHIVED, project=project.id, pre_data=project.snapshot()
    )


def revive(actor: Actor, project_id: str) -> Project:
    project = _found(_select(actor, project_id).with_for_update(), project_id)
    if project.archived_at is None:
        raise Conflict(f"Project {project_id} is not archived.")
    project.archived_at = None
    events.record(actor, EventType.PROJECT_REVIVED, project=project_id, data=project.snapshot())
    return project


def members(actor: Actor, project_id: str) -> list[tuple[Account, Member]]:
    """The accounts that hold a role in the project, Owners first."""
    return queries.members(get(actor, project_id).id)


def roles(actor: Actor, project_id: str) -> dict[int, Role]:
    """The role of each member, by the account's id."""
    return {account.id: member.role for account, member in members(actor, project_id)}


def set_members(actor: Actor, project: Project, roles: dict[int, Role]) -> None:
    """Let exactly these accounts be members, each with its role; one Owner must remain."""
    present = {account.id: member for account, member in queries.members(project.id)}
    unknown = sorted(set(roles) - queries.living(roles.keys()))
    if unknown:
        places = {id: place for place, id in enumerate(roles)}
        raise Invalid.because(
            [
                {"path": f"/members/{places[id]}/id", "message": f"There is no account {id}."}
                for id in unknown
            ]
        )
    before = {str(id): member.role.title for id, member in present.items()}
    had_owner = Role.OWNER.title in before.values()
    if had_owner and Role.OWNER not in roles.values():
        raise Conflict(f"Project {project.id} must keep at least one Owner.")
    for id, member in present.items():
        if id not in roles:
            db.session.delete(member)
        else:
            member.role = roles[id]
    for id in sorted(set(roles) - set(present)):
        db.session.merge(Member(project_id=project.id, account_id=id, role=roles[id]))
    flush()
    after = {str(id): roles[id].title for id in sorted(roles)}
    if after != before:
        events.record(
            actor,
            EventType.PROJECT_ACCESS_UPDATED,
            project=project.id,
            pre_data={"members": before},
            data={"members": after},
        )


def _select(actor: Actor, project_id: str) -> sa.Select[Project]:
    return sa.select(Project).where(Project.id == project_id, queries.visible_to(actor))


def _found(query: sa.Select[Project], project_id: str) -> Project:
    project = db.session.scalar(query)
    if project is None:
        raise _is_unknown(project_id)
    return project


def _known(actor: Actor, project_id: str, statement: sa.Executable) -> Any:
    found = rows(statement, id=project_id, is_insider=queries.is_insider(actor, project_id))
    if not found:
        raise _is_unknown(project_id)
    return found[0]


def _active(project: Project) -> Project:
    if project.archived_at is not None:
        raise _is_archived(project.id)
    return project


def _is_unknown(project_id: str) -> NotFound:
    return NotFound(f"There is no project with the id {project_id}.")


def _is_archived(project_id: str) -> Conflict:
    return Conflict(f"Project {project_id} is archived; revive it to change it.")


def _refuse_unknown(names: list[str], path: str) -> None:
    known = set(known_environments.all_names())
    unknown: list[Detail] = [
        {"path": path.format(index), "message": f"There is no environment named {name!r}."}
        for index, name in enumerate(names)
        if name not in known
    ]
    if unknown:
        raise Invalid.because(unknown)


def _tell_change(
    actor: Actor, type: EventType, project: Project, before: dict[str, object]
) -> None:
    after = project.snapshot()
    if after != before:
        events.record(actor, type, project=project.id, pre_data=before, data=after)
