"""What a directory does to users and groups."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.access.groups import service as groups
from app.access.groups.models import Group, GroupMember
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind, key_of
from app.core.actor import Actor
from app.core.db import MAX_ID, chunks, db
from app.core.errors import NameExists, NotFound
from app.core.paging import Page, page_of
from app.core.permissions import Role


@dataclass(frozen=True, slots=True)
class UserFacts:
    """A user as a directory describes them. ``active``: None if it doesn't say.

    ``attributes``: the names and e-mails as it sent them.
    """

    username: str
    name: str | None
    email: str | None
    external_id: str | None
    active: bool | None
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """A group as a directory describes it. ``members``: account ids; None if it doesn't say."""

    name: str
    external_id: str | None
    members: Sequence[int] | None


def number(id: str) -> int:
    """The row id of a SCIM id; 0, which no row has, if it isn't one."""
    return int(id) if re.fullmatch(r"[1-9][0-9]{0,8}", id) else 0


def user(id: str, *, for_change: bool = False) -> Account:
    """The person with this id, even if they were here before the directory."""
    if for_change:
        return accounts.get_for_change(number(id))
    return accounts.get(number(id))


def users(*conditions: sa.ColumnElement[bool], limit: int | None, offset: int = 0) -> Page[Account]:
    """The people who are not deleted and match, by id; without ``limit`` all of them."""
    query = sa.select(Account).where(
        Account.kind == AccountKind.PERSON, Account.deleted_at.is_(None), *conditions
    )
    return _page(query.order_by(Account.id), limit, offset)


def create_user(actor: Actor, facts: UserFacts) -> Account:
    """Create a Viewer, who can sign in by single sign-on.

    Raises:
        NameExists: if the user name or the e-mail is taken.

    """
    account = accounts.create(
        actor,
        root_role=Role.VIEWER,
        username=facts.username,
        email=facts.email,
        name=facts.name,
    )
    _manage(account, facts)
    account.scim_attributes = {"active": True} | facts.attributes
    if facts.active is False:
        accounts.deactivate(actor, account)
    db.session.flush()
    return account


def change_user(actor: Actor, account: Account, facts: UserFacts) -> None:
    """Update a person from ``user``. The directory manages them from now on.

    Raises:
        NameExists: if the user name or the e-mail is taken.
        Conflict: if the last Admin who can sign in would be deactivated.

    """
    accounts.update(
        actor,
        account,
        by_directory=True,
        username=facts.username,
        email=facts.email,
        name=facts.name,
    )
    _manage(account, facts)
    is_active = account.deactivated_at is None
    if facts.active is False and is_active:
        accounts.deactivate(actor, account)
    elif facts.active is True and not is_active:
        accounts.reactivate(actor, account, by_directory=True)
    db.session.flush()


def remove_user(actor: Actor, account: Account) -> None:
    accounts.remove(actor, account, by_directory=True)


def group(id: str, *, for_change: bool = False) -> Group:
    """A group of the directory."""
    found = groups.get_for_change(number(id)) if for_change else groups.get(number(id))
    if found.scim_id is None:
        raise NotFound(f"There is no group with the id {id}.")
    return found


def groups_of_directory(
    *conditions: sa.ColumnElement[bool], limit: int | None, offset: int = 0
) -> Page[Group]:
    """The groups of the directory that match, by id; without ``limit`` all of them."""
    query = sa.select(Group).where(Group.scim_id.is_not(None), *conditions)
    return _page(query.order_by(Group.id), limit, offset)


def create_group(actor: Actor, facts: GroupFacts) -> Group:
    """Create a group, or let the directory manage the one with this name, which keeps its roles.

    Raises:
        NameExists: if the directory has a group with this name already.

    """
    existing = groups.named(facts.name)
    if existing is not None and existing.scim_id is not None:
        raise NameExists(f"There is a group {facts.name!r} already.", field="displayName")
    group = existing or groups.create(actor, name=facts.name)
    group.scim_id, group.external_id = str(group.id), facts.external_id
    _set_members(actor, group, facts.members or ())
    return group


def change_group(actor: Actor, group: Group, facts: GroupFacts) -> None:
    """Update a group from ``group``.

    Raises:
        NameExists: if another group has the name.
        Conflict: if no Admin who can sign in would be left.

    """
    groups.update(actor, group, by_directory=True, name=facts.name)
    group.external_id = facts.external_id
    _set_members(actor, group, facts.members or ())


def change_members(
    actor: Actor, group: Group, *, added: Collection[int], removed: Collection[int]
) -> None:
    """Add members to a group and remove others. Needs no list of all members."""
    groups.set_members(actor, group, added=_known(added), removed=removed)
    db.session.flush()


def remove_group(actor: Actor, group: Group) -> None:
    """Delete a group, unless it gives roles: then only remove its members.

    So it gives the roles again when the directory sends it again.
    """
    if group.root_role is None and not group.projects:
        groups.remove(actor, group)
        return
    groups.set_members(actor, group, removed=groups.member_ids(group))
    group.scim_id = group.external_id = None
    db.session.flush()


def members(group_ids: Collection[int]) -> dict[int, list[int]]:
    """The ids of the members of each group."""
    found: dict[int, list[int]] = {id: [] for id in group_ids}
    for chunk in chunks(group_ids):
        query = (
            sa.select(GroupMember.group_id, Account.id)
            .join(Account, Account.id == GroupMember.account_id)
            .where(GroupMember.group_id.in_(chunk), Account.deleted_at.is_(None))
            .order_by(Account.id)
        )
        for group_id, account_id in db.session.execute(query):
            found[group_id].append(account_id)
    return found


def groups_of(account_ids: Collection[int]) -> dict[int, list[tuple[int, str]]]:
    """The directory's groups of each account, as (id, name)."""
    found: dict[int, list[tuple[int, str]]] = {id: [] for id in account_ids}
    for chunk in chunks(account_ids):
        query = (
            sa.select(GroupMember.account_id, Group.id, Group.name)
            .join(Group, Group.id == GroupMember.group_id)
            .where(GroupMember.account_id.in_(chunk), Group.scim_id.is_not(None))
            .order_by(Group.id)
        )
        for account_id, group_id, name in db.session.execute(query):
            found[account_id].append((group_id, name))
    return found


def is_called(name: str) -> sa.ColumnElement[bool]:
    """Condition for the account with this user name or, if it has none, with this e-mail."""
    key = key_of(name)
    return sa.or_(
        Account.username_key == key,
        sa.and_(Account.username.is_(None), Account.email_key == key),
    )


def _manage(account: Account, facts: UserFacts) -> None:
    account.scim_id = str(account.id)
    account.external_id = facts.external_id
    account.scim_attributes = facts.attributes


def _set_members(actor: Actor, group: Group, ids: Collection[int]) -> None:
    present = set(groups.member_ids(group))
    groups.set_members(actor, group, added=_known(ids), removed=present - set(ids))
    db.session.flush()


def _known(ids: Collection[int]) -> list[int]:
    """The ids in order, after checking that all of them belong to people.

    Raises:
        NotFound: if one doesn't.

    """
    found: set[int] = set()
    for chunk in chunks(id for id in ids if 0 < id <= MAX_ID):
        query = sa.select(Account.id).where(
            Account.id.in_(chunk),
            Account.kind == AccountKind.PERSON,
            Account.deleted_at.is_(None),
        )
        found.update(db.session.scalars(query))
    if unknown := sorted(set(ids) - found):
        raise NotFound(f"There is no user with the id {unknown[0]}.")
    return sorted(found)


def _page(query: sa.Select[Any], limit: int | None, offset: int) -> Page[Any]:
    if limit is not None:
        return page_of(query, limit=limit, offset=offset)
    items = list(db.session.scalars(query))
    return Page(items, len(items), len(items), 0)
