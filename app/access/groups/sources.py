"""Where roles come from: who gave them and when, or which groups give them."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from app.access.groups.models import Group, GroupMember, GroupProject
from app.accounts.models import Account, HeldRole
from app.catalogue.projects.models import Member
from app.core.db import chunks, db
from app.core.permissions import Role
from app.core.words import spoken

DISPLAY_LIMIT = 3


@dataclass(frozen=True, slots=True)
class Source:
    """One source of a role: a group, or the person or script that gave it.

    Both ``group`` and ``given_by`` are None for roles that are older than this record.
    """

    role: Role
    group: str | None = None
    given_by: str | None = None
    given_at: datetime | None = None

    @property
    def words(self) -> str:
        """``through the group Payments``, ``given by ada on 3 March 2026``."""
        if self.group is not None:
            return f"through the group {self.group}"
        if self.given_by is None or self.given_at is None:
            return "given before Flagstaff recorded by whom"
        return f"given by {self.given_by} on {self.given_at:%-d %B %Y}"


def describe(sources: Sequence[Source]) -> str:
    """The sources of the strongest role, in words; weaker ones have no effect."""
    strongest = min((source.role for source in sources), default=None)
    return spoken([source.words for source in sources if source.role is strongest], DISPLAY_LIMIT)


def of_project(project_id: str) -> dict[int, list[Source]]:
    """The sources of each member's role in the project, by the id of the account."""
    found: defaultdict[int, list[Source]] = defaultdict(list)
    for member in db.session.scalars(sa.select(Member).where(Member.project_id == project_id)):
        found[member.account_id] += _own(member)
    query = (
        sa.select(GroupMember.account_id, Group.name, GroupProject.role)
        .join(Group, Group.id == GroupMember.group_id)
        .join(GroupProject, GroupProject.group_id == Group.id)
        .where(GroupProject.project_id == project_id)
        .order_by(Group.name_key)
    )
    _add_groups(found, query)
    return dict(found)


def of_root_roles(account_ids: Collection[int]) -> dict[int, list[Source]]:
    """The sources of the root role of each account."""
    found: defaultdict[int, list[Source]] = defaultdict(list)
    for chunk in chunks(account_ids):
        for account in db.session.scalars(sa.select(Account).where(Account.id.in_(chunk))):
            found[account.id] += _own(account)
        query = (
            sa.select(GroupMember.account_id, Group.name, Group.root_role)
            .join(Group, Group.id == GroupMember.group_id)
            .where(GroupMember.account_id.in_(chunk), Group.root_role.is_not(None))
            .order_by(Group.name_key)
        )
        _add_groups(found, query)
    return dict(found)


def of_account(account_id: int) -> dict[str, list[Source]]:
    """The sources of an account's roles, by project id; of the root role under ``""``."""
    found: defaultdict[str, list[Source]] = defaultdict(list)
    found[""] = of_root_roles([account_id]).get(account_id, [])
    for member in db.session.scalars(sa.select(Member).where(Member.account_id == account_id)):
        found[member.project_id] += _own(member)
    query = (
        sa.select(GroupProject.project_id, Group.name, GroupProject.role)
        .join(Group, Group.id == GroupProject.group_id)
        .join(GroupMember, GroupMember.group_id == Group.id)
        .where(GroupMember.account_id == account_id)
        .order_by(Group.name_key)
    )
    _add_groups(found, query)
    return dict(found)


def _own(held: HeldRole) -> list[Source]:
    if held.own_role is None:
        return []
    return [Source(held.own_role, None, held.given_by, held.given_at)]


def _add_groups(found: defaultdict[Any, list[Source]], query: sa.Select[Any, str, Any]) -> None:
    """Add groups as sources. Each row: the key in ``found``, the group's name and the role."""
    for key, group, role in db.session.execute(query):
        found[key].append(Source(role, group))
