"""Groups and the roles that they give. Members come from sign-ons, or from a directory by SCIM."""

from collections.abc import Collection, Sequence
from typing import TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.orm import with_expression

from app.access.groups import roles
from app.access.groups.models import Group, GroupMember, GroupProject
from app.accounts.models import Account, key_of
from app.catalogue.projects.models import Project
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import chunks, contains, db, flush, insert_all, locked, save
from app.core.errors import Conflict, Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.core.permissions import Role


class ProjectGrant(TypedDict):
    """A role that a group gives in the project with this id."""

    id: str
    role: Role


class GroupChanges(TypedDict, total=False):
    """The fields of an update. A missing key means no change; None clears."""

    name: str
    root_role: Role | None
    projects: Sequence[ProjectGrant]


def create(
    actor: Actor,
    *,
    name: str,
    root_role: Role | None = None,
    projects: Sequence[ProjectGrant] = (),
) -> Group:
    """Create a group without members: sign-ons or SCIM add them."""
    group = Group(name=name, name_key=key_of(name), root_role=root_role, projects=[])
    _set_projects(group, projects)
    save(group, if_taken=_taken(name))
    events.record(actor, EventType.GROUP_CREATED, data=group.snapshot())
    return group


def update(
    actor: Actor, group: Group, *, by_directory: bool = False, **changes: Unpack[GroupChanges]
) -> bool:
    """Change a group from ``get_for_change``. Return whether anything changed.

    Its members get or lose the roles that changed. ``by_directory``: the caller is the directory
    that names the group.

    Raises:
        Conflict: if no Admin who can sign in would be left; for the name of a directory’s group.

    """
    before = group.snapshot()
    if "name" in changes and changes["name"] != group.name:
        if group.scim_id is not None and not by_directory:
            raise Conflict("The directory names this group. Rename it there.")
        group.name, group.name_key = changes["name"], key_of(changes["name"])
        flush(if_taken=_taken(group.name))
    if "root_role" in changes:
        group.root_role = changes["root_role"]
    if "projects" in changes:
        _set_projects(group, changes["projects"])
    flush()
    after = group.snapshot()
    if after != before:
        group.changed_at = utcnow()
        events.record(actor, EventType.GROUP_UPDATED, pre_data=before, data=after)
        roles.settle(actor, member_ids(group), because=f"group {group.name}")
    return after != before


def remove(actor: Actor, group: Group) -> None:
    """Delete a group; its members lose what it gave.

    Raises:
        Conflict: if no Admin who can sign in would be left.

    """
    before, ids = group.snapshot(), member_ids(group)
    db.session.execute(sa.delete(GroupMember).where(GroupMember.group_id == group.id))
    db.session.delete(group)
    flush()
    events.record(actor, EventType.GROUP_DELETED, pre_data=before)
    roles.settle(actor, ids, because=f"group {group.name}")


def set_members(
    actor: Actor, group: Group, *, added: Collection[int] = (), removed: Collection[int] = ()
) -> bool:
    """Add and remove members of a group, with one event. Return whether anything changed."""
    present = set(member_ids(group))
    joining = sorted(set(added) - present)
    leaving = sorted((set(removed) - set(added)) & present)
    for chunk in chunks(leaving):
        db.session.execute(
            sa.delete(GroupMember).where(
                GroupMember.group_id == group.id, GroupMember.account_id.in_(chunk)
            )
        )
    insert_all([{"group_id": group.id, "account_id": id} for id in joining], GroupMember)
    if not joining and not leaving:
        return False
    group.changed_at = utcnow()
    events.record(
        actor,
        EventType.GROUP_MEMBERS_CHANGED,
        data={"id": group.id, "name": group.name, "added": joining, "removed": leaving},
    )
    roles.settle(actor, [*joining, *leaving], because=f"group {group.name}")
    return True


def claim(actor: Actor, account: Account, names: Collection[str]) -> list[Group]:
    """Put someone who signs on into exactly the groups that their provider named.

    Unknown names are ignored, and groups of a directory don't change. The last Admin who can sign
    in keeps that role, so that someone can fix a wrong claim.
    """
    own = Group.scim_id.is_(None)
    keys = {key_of(name) for name in names}
    named = [
        group
        for chunk in chunks(sorted(keys))
        for group in db.session.scalars(sa.select(Group).where(own, Group.name_key.in_(chunk)))
    ]
    of_account = GroupMember.account_id == account.id
    query = sa.select(GroupMember.group_id).join(Group, Group.id == GroupMember.group_id)
    present = set(db.session.scalars(query.where(of_account, own)))
    wanted = {group.id for group in named}
    if left := present - wanted:
        db.session.execute(
            sa.delete(GroupMember).where(of_account, GroupMember.group_id.in_(sorted(left)))
        )
    rows = [{"group_id": id, "account_id": account.id} for id in sorted(wanted - present)]
    insert_all(rows, GroupMember)
    roles.settle(actor, [account.id], because="groups at sign-on", keeps_last_admin=True)
    return named


def search(*, limit: int, offset: int, text: str | None = None) -> Page[Group]:
    """The groups, by name."""
    query = sa.select(Group).options(with_expression(Group.member_count, _member_count()))
    if text is not None:
        query = query.where(contains(text, Group.name))
    return page_of(query.order_by(Group.name_key), limit=limit, offset=offset)


def get(group_id: int) -> Group:
    group = db.session.get(Group, group_id)
    if group is None:
        raise NotFound(f"There is no group with the id {group_id}.")
    return group


def get_for_change(group_id: int) -> Group:
    """The group, locked for a change."""
    group = db.session.scalar(locked(sa.select(Group).where(Group.id == group_id)))
    if group is None:
        raise NotFound(f"There is no group with the id {group_id}.")
    return group


def named(name: str) -> Group | None:
    return db.session.scalar(sa.select(Group).where(Group.name_key == key_of(name)))


def member_ids(group: Group) -> list[int]:
    query = sa.select(GroupMember.account_id).where(GroupMember.group_id == group.id)
    return list(db.session.scalars(query.order_by(GroupMember.account_id)))


def members(group: Group, *, limit: int, offset: int) -> Page[Account]:
    """The members of the group who are not deleted, by name."""
    query = (
        sa.select(Account)
        .join(GroupMember, GroupMember.account_id == Account.id)
        .where(GroupMember.group_id == group.id, Account.deleted_at.is_(None))
        .order_by(Account.username_key, Account.id)
    )
    return page_of(query, limit=limit, offset=offset)


def of_account(account_id: int) -> list[Group]:
    """The groups that someone is in, by name."""
    query = (
        sa.select(Group)
        .join(GroupMember, GroupMember.group_id == Group.id)
        .where(GroupMember.account_id == account_id)
        .order_by(Group.name_key)
    )
    return list(db.session.scalars(query))


def _set_projects(group: Group, grants: Sequence[ProjectGrant]) -> None:
    wanted = {grant["id"]: grant["role"] for grant in grants}
    known = set(db.session.scalars(sa.select(Project.id).where(Project.id.in_(list(wanted)))))
    faults = [
        {"path": f"/projects/{place}/id", "message": f"There is no project {grant['id']!r}."}
        for place, grant in enumerate(grants)
        if grant["id"] not in known
    ]
    ids = [grant["id"] for grant in grants]
    faults += [
        {"path": f"/projects/{place}/id", "message": f"Name {id!r} once."}
        for place, id in enumerate(ids)
        if id in ids[:place]
    ]
    if faults:
        raise Invalid.because(faults)
    present = {row.project_id: row for row in group.projects}
    for id, role in wanted.items():
        if id in present:
            present[id].role = role
        else:
            group.projects.append(GroupProject(project_id=id, role=role))
    group.projects = sorted(
        (row for row in group.projects if row.project_id in wanted), key=lambda row: row.project_id
    )


def _taken(name: str) -> NameExists:
    return NameExists(f"There is a group {name!r} already.", field="name")


def _member_count() -> sa.ScalarSelect[int]:
    return (
        sa.select(sa.func.count())
        .select_from(GroupMember)
        .join(Account, Account.id == GroupMember.account_id)
        .where(GroupMember.group_id == Group.id, Account.deleted_at.is_(None))
        .correlate(Group)
        .scalar_subquery()
    )
