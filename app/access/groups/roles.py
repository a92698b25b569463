"""Roles that people have through groups. The rows of accounts and project members store them."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from app.access.groups.models import Group, GroupMember, GroupProject
from app.accounts import admins
from app.accounts.models import Account
from app.catalogue.projects.models import Member, Project
from app.core.actor import Actor
from app.core.db import chunks, db, flush, locked
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.logs import LOGGER
from app.core.permissions import Role

Held = dict[tuple[int, str], Role]
"""Roles by account and project; the project is empty for root roles."""


def settle(
    actor: Actor, account_ids: Collection[int], *, because: str, keeps_last_admin: bool = False
) -> None:
    """Give these accounts exactly the roles that their groups give now, with events.

    ``because``: the reason in the events. ``keeps_last_admin``: let the last Admin who can sign in
    keep the role, instead of refusing.

    Raises:
        Conflict: if no Admin who can sign in would be left.

    """
    by_group = actor.for_act(actor.batch_id or events.new_batch(), because)
    for chunk in chunks(sorted(set(account_ids))):
        if _given(chunk) != _recorded(chunk):
            # Two sign-ons of one group wait for each other here; _settle reads the roles again.
            admins.guard()
            _settle(by_group, chunk, keeps_last_admin=keeps_last_admin)


def _settle(actor: Actor, ids: list[int], *, keeps_last_admin: bool) -> None:
    given, recorded = _given(ids), _recorded(ids)
    places = given.keys() | recorded.keys()
    changed = {place for place in places if given.get(place) != recorded.get(place)}
    people = {id for id, project in changed if not project}
    _set_root_roles(actor, people, given, keeps_last_admin=keeps_last_admin)
    by_project: defaultdict[str, list[int]] = defaultdict(list)
    for id, project in sorted(changed):
        if project:
            by_project[project].append(id)
    payloads = [
        _set_project_roles(project, of_project, given)
        for project, of_project in sorted(by_project.items())
    ]
    events.record_all(actor, EventType.PROJECT_ACCESS_UPDATED, [p for p in payloads if p])


def _set_root_roles(
    actor: Actor, ids: Collection[int], given: Held, *, keeps_last_admin: bool
) -> None:
    query = sa.select(Account).where(Account.id.in_(ids)).order_by(Account.id)
    accounts = list(db.session.scalars(locked(query)))
    losing = {
        a.id
        for a in accounts
        if a.role is Role.ADMIN and Role.ADMIN not in (a.own_role, given.get((a.id, "")))
    }
    if losing and keeps_last_admin and not admins.other_can_sign_in(losing):
        LOGGER.warning("the last Admin who can sign in keeps the role although no group gives it")
        accounts = [account for account in accounts if account.id not in losing]
    elif losing:
        admins.keep_one(besides=losing)
    payloads = []
    for account in accounts:
        before = account.snapshot()
        if not account.give_by_groups(given.get((account.id, ""))):
            account.role = Role.VIEWER
        if account.snapshot() != before:
            payloads.append(EventPayload(pre_data=before, data=account.snapshot()))
    flush()
    events.record_all(actor, EventType.USER_UPDATED, payloads)


def _set_project_roles(project: str, ids: list[int], given: Held) -> EventPayload | None:
    """Update these members of a project. Return the event's payload; None without a change."""
    db.session.execute(locked(sa.select(Project.id).where(Project.id == project)))
    query = sa.select(Member).where(Member.project_id == project, Member.account_id.in_(ids))
    members = {member.account_id: member for member in db.session.scalars(query)}
    before: dict[str, Any] = {str(id): member.role.title for id, member in members.items()}
    after: dict[str, Any] = {}
    for id in ids:
        role = given.get((id, project))
        member = members.get(id)
        if member is None and role is not None:
            db.session.add(Member(project_id=project, account_id=id, role=role, group_role=role))
            after[str(id)] = role.title
        elif member is not None and member.give_by_groups(role):
            after[str(id)] = member.role.title
        elif member is not None:
            db.session.delete(member)
    flush()
    if before == after:
        return None
    return EventPayload(project=project, pre_data={"members": before}, data={"members": after})


def _given(ids: list[int]) -> Held:
    """The strongest role that groups give each of these accounts, everywhere and by project."""
    root = (
        sa.select(GroupMember.account_id, sa.literal(""), sa.func.min(Group.root_role))
        .join(Group, Group.id == GroupMember.group_id)
        .where(GroupMember.account_id.in_(ids), Group.root_role.is_not(None))
        .group_by(GroupMember.account_id)
    )
    inside = (
        sa.select(GroupMember.account_id, GroupProject.project_id, sa.func.min(GroupProject.role))
        .join(GroupProject, GroupProject.group_id == GroupMember.group_id)
        .where(GroupMember.account_id.in_(ids))
        .group_by(GroupMember.account_id, GroupProject.project_id)
    )
    return _held(root, inside)


def _recorded(ids: list[int]) -> Held:
    """The roles by group that the rows have now, everywhere and by project."""
    root = sa.select(Account.id, sa.literal(""), Account.group_role).where(
        Account.id.in_(ids), Account.group_role.is_not(None)
    )
    inside = sa.select(Member.account_id, Member.project_id, Member.group_role).where(
        Member.account_id.in_(ids), Member.group_role.is_not(None)
    )
    return _held(root, inside)


def _held(*queries: sa.Executable) -> Held:
    return {
        (id, project): Role(role)
        for query in queries
        for id, project, role in db.session.execute(query)
    }
