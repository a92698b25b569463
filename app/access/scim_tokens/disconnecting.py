"""Ends what directories do here: people and groups are managed by hand again."""

from dataclasses import dataclass

import sqlalchemy as sa

from app.access.groups.models import Group
from app.access.scim_tokens import service
from app.accounts.models import Account
from app.core.actor import Actor
from app.core.db import db
from app.core.events import service as events
from app.core.events.event_types import EventType


@dataclass(frozen=True, slots=True)
class Managed:
    """Numbers of what directories have here. ``deactivated``: of the users, who can't sign in."""

    tokens: int
    users: int
    deactivated: int
    groups: int


def managed() -> Managed:
    """What ``disconnect`` would end."""
    users = sa.select(sa.func.count()).where(
        Account.scim_id.is_not(None), Account.deleted_at.is_(None)
    )
    groups = sa.select(sa.func.count()).where(Group.scim_id.is_not(None))
    return Managed(
        tokens=len(service.list_all()),
        users=_number(users),
        deactivated=_number(users.where(Account.deactivated_at.is_not(None))),
        groups=_number(groups),
    )


def disconnect(actor: Actor) -> Managed:
    """Revoke all tokens of directories, and let people manage by hand what they managed.

    Names, roles and who is in which group stay. Who is deactivated stays so until someone
    reactivates them. Says what it ended.
    """
    found = managed()
    acting = actor.for_act(events.new_batch(), "disconnected the directory")
    for token in service.list_all():
        service.revoke(acting, token.id)
    gone = {"scim_id": None, "external_id": None}
    db.session.execute(
        sa.update(Account)
        .where(Account.scim_id.is_not(None))
        .values(gone | {"scim_attributes": None})
    )
    db.session.execute(sa.update(Group).where(Group.scim_id.is_not(None)).values(gone))
    db.session.expire_all()
    data = {"tokens": found.tokens, "users": found.users, "groups": found.groups}
    events.record(acting, EventType.SCIM_DISCONNECTED, data=data)
    return found


def _number(query: sa.Select[int]) -> int:
    return db.session.scalar(query) or 0
