"""Who belongs to a project, and with which role."""

from collections.abc import Mapping

from app.accounts import service as accounts
from app.accounts.models import Account, key_of
from app.catalogue.projects import queries, service
from app.catalogue.projects.models import Member, Project
from app.core.actor import Actor
from app.core.db import db, flush
from app.core.errors import Conflict, Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.permissions import Role

SUGGESTIONS = 20


def of(actor: Actor, project_id: str) -> list[tuple[Account, Member]]:
    """The accounts with a role in the project, Owners first."""
    return queries.members(service.get(actor, project_id).id)


def roles(actor: Actor, project_id: str) -> dict[int, Role]:
    """The role of each member, by the id of the account."""
    return {account.id: member.role for account, member in of(actor, project_id)}


def replace(actor: Actor, project: Project, roles: dict[int, Role]) -> bool:
    """Replace all members of a project locked for change. Return whether anything changed."""
    unknown = sorted(set(roles) - queries.not_deleted(roles.keys()))
    if unknown:
        places = {id: place for place, id in enumerate(roles)}
        raise Invalid.because(
            [
                {"path": f"/members/{places[id]}/id", "message": f"There is no account {id}."}
                for id in unknown
            ]
        )
    return _replace(actor, project, roles)


def set_role(actor: Actor, project: Project, account_id: int, role: Role) -> bool:
    """Add one member, or change their role. Return whether anything changed."""
    if account_id not in queries.not_deleted([account_id]):
        raise Invalid.at("/id", f"There is no account {account_id}.")
    return change(actor, project, {account_id: role})


def remove(actor: Actor, project: Project, account_id: int) -> None:
    if account_id not in _roles_in(project):
        raise NotFound(f"Account {account_id} is not a member of project {project.id}.")
    change(actor, project, {account_id: None})


def change(actor: Actor, project: Project, changes: Mapping[int, Role | None]) -> bool:
    """Set roles of some members of a project locked for change; None removes a member.

    Return whether anything changed.
    """
    roles: dict[int, Role | None] = {**_roles_in(project), **changes}
    return _replace(actor, project, {id: role for id, role in roles.items() if role is not None})


def accounts_called(text: str) -> list[Account]:
    """Accounts with this user name, e-mail address or full name."""
    if not text:
        return []
    account = accounts.named(text)
    if account is not None:
        return [account]
    key = key_of(text)
    return [found for found in accounts_like(text) if found.name and key_of(found.name) == key]


def accounts_like(text: str) -> list[Account]:
    """Some accounts with the text in a name or an e-mail address."""
    return queries.accounts_like(text, SUGGESTIONS)


def _replace(actor: Actor, project: Project, roles: dict[int, Role]) -> bool:
    current = {account.id: member for account, member in queries.members(project.id)}
    before = {str(id): member.role.title for id, member in current.items()}
    had_owner = Role.OWNER.title in before.values()
    if had_owner and Role.OWNER not in roles.values():
        raise Conflict(
            f"Project {project.id} needs at least one Owner. Make someone else an Owner first."
        )
    for id, member in current.items():
        if id not in roles:
            _take_own_role(member)
        elif member.role is not roles[id]:
            member.give(actor, roles[id])
    for id in sorted(set(roles) - set(current)):
        added = Member(project_id=project.id, account_id=id)
        added.give(actor, roles[id])
        db.session.merge(added)
    flush()
    left = {account.id: member for account, member in queries.members(project.id)}
    after = {str(id): left[id].role.title for id in sorted(left)}
    if after != before:
        events.record(
            actor,
            EventType.PROJECT_ACCESS_UPDATED,
            project=project.id,
            pre_data={"members": before},
            data={"members": after},
        )
    return after != before


def _take_own_role(member: Member) -> None:
    """Remove the role that people gave. The member stays if a group gives a role too."""
    if not member.take():
        db.session.delete(member)


def _roles_in(project: Project) -> dict[int, Role]:
    return {account.id: member.role for account, member in queries.members(project.id)}
