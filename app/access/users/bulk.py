"""Changing several users at once: all or nothing."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

import sqlalchemy as sa

from app.accounts import admins
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.catalogue.projects import members
from app.catalogue.projects import service as projects
from app.core.actor import Actor
from app.core.db import MAX_ID, chunks, db, locked
from app.core.errors import ChangedSinceReview, Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.permissions import Role


class UserChanges(TypedDict, total=False):
    """What can be set for several users. A key that is left out changes nothing.

    ``project`` and ``project_role`` come together.
    """

    root_role: Role
    project: str
    project_role: Role
    sign_out: bool


@dataclass(frozen=True, slots=True)
class Effect:
    """The new roles of a person; None if unchanged.

    ``held``: the role that they already have in the project, and keep.
    """

    account: Account
    root_role: Role | None
    project_role: Role | None
    held: Role | None

    @property
    def is_real(self) -> bool:
        """Whether a role changes."""
        return bool(self.root_role or self.project_role)

    @property
    def facts(self) -> list[Any]:
        """The effect as JSON, to sign it and to compare it with what a review showed."""
        return [self.account.id, self.root_role, self.project_role, self.held]


def for_ids(ids: Collection[int]) -> list[Account]:
    """The users with these ids who are not deleted, by name."""
    found: list[Account] = []
    for chunk in _chunks(ids):
        query = sa.select(Account).where(
            Account.id.in_(chunk), Account.kind == AccountKind.PERSON, Account.deleted_at.is_(None)
        )
        # The accounts may be loaded already, from before `apply` locked them.
        found += db.session.scalars(query.execution_options(populate_existing=True))
    return sorted(found, key=lambda account: (account.called.casefold(), account.id))


def preview(actor: Actor, ids: Collection[int], changes: UserChanges) -> list[Effect]:
    """Dry run of ``apply``: the effects, by name of the person."""
    held = _held(actor, changes)
    return [_effect(account, held.get(account.id), changes) for account in for_ids(ids)]


def apply(
    actor: Actor, ids: Collection[int], changes: UserChanges, *, shown: list[list[Any]]
) -> list[Effect]:
    """Make the changes of the preview that was ``shown``, or none. Return those that took effect.

    Raises:
        ChangedSinceReview: if the preview would be different now.
        Conflict: if no Admin would be left.

    """
    project = projects.get_for_change(actor, changes["project"]) if "project" in changes else None
    _lock(ids)
    effects = preview(actor, ids, changes)
    if [effect.facts for effect in effects] != shown:
        raise ChangedSinceReview
    _set_role(actor, effects)
    if project is not None:
        joining = {each.account.id: each.project_role for each in effects if each.project_role}
        members.change(actor, project, joining)
    if not changes.get("sign_out"):
        return [effect for effect in effects if effect.is_real]
    accounts.sign_out(actor, [effect.account for effect in effects])
    return effects


def _effect(account: Account, held: Role | None, changes: UserChanges) -> Effect:
    role = changes.get("root_role", account.role)
    return Effect(
        account,
        root_role=None if role is account.role else role,
        project_role=None if held else changes.get("project_role"),
        held=held,
    )


def _held(actor: Actor, changes: UserChanges) -> dict[int, Role]:
    """The roles of the project's members, by id."""
    if "project" not in changes:
        return {}
    try:
        return members.roles(actor, changes["project"])
    except NotFound as error:
        raise Invalid.at("/project", error.message) from None


def _set_role(actor: Actor, effects: Collection[Effect]) -> None:
    moved = {effect.account: effect.root_role for effect in effects if effect.root_role}
    demoted = {account.id for account in moved if account.role is Role.ADMIN}
    if demoted:
        admins.keep_one(besides=demoted)
    payloads = []
    for account, role in moved.items():
        before = account.snapshot()
        account.give(actor, role)
        payloads.append(EventPayload(pre_data=before, data=account.snapshot()))
    db.session.flush()
    events.record_together(actor, EventType.USER_UPDATED, payloads)


def _lock(ids: Collection[int]) -> None:
    for chunk in _chunks(ids):
        query = sa.select(Account.id).where(Account.id.in_(chunk)).order_by(Account.id)
        db.session.execute(locked(query))


def _chunks(ids: Collection[int]) -> Iterator[list[int]]:
    """The ids that an account can have, ascending: one order for all callers avoids deadlocks."""
    return chunks(id for id in sorted(ids) if 0 < id <= MAX_ID)
