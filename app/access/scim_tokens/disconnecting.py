"""Disconnect directories: people and groups are managed by hand again."""

from collections.abc import Sized
from dataclasses import dataclass

import sqlalchemy as sa

from app.access.groups.models import Group
from app.access.scim_tokens import service
from app.accounts.models import Account
from app.core.actor import Actor
from app.core.db import db, once
from app.core.events import service as events
from app.core.events.event_types import EventType


@dataclass(frozen=True, slots=True)
class Managed:
    """What directories have here. ``deactivated``: how many of the users can't sign in."""

    tokens: int
    users: int
    deactivated: int
    groups: int


def managed(tokens: Sized) -> Managed:
    """What ``disconnect`` would end. ``tokens``: those that aren't revoked."""
    number = sa.func.count()
    groups = sa.select(number).where(Group.scim_id.is_not(None))
    query = sa.select(
        number, number.filter(Account.deactivated_at.is_not(None)), groups.scalar_subquery()
    ).where(Account.scim_id.is_not(None), Account.deleted_at.is_(None))
    return Managed(len(tokens), *once("managed", lambda: db.session.execute(query).one()))


def disconnect(actor: Actor) -> Managed:
    """Revoke all SCIM tokens, and let people manage users and groups by hand.

    Names, roles and members of groups stay. Deactivated users stay so until someone reactivates
    them. Returns the numbers from before.
    """
    tokens = service.list_all()
    before = managed(tokens)
    acting = actor.for_act(events.new_batch(), "disconnected the directory")
    for token in tokens:
        service.revoke(acting, token.id)
    cleared = {"scim_id": None, "external_id": None}
    db.session.execute(
        sa.update(Account)
        .where(Account.scim_id.is_not(None))
        .values(cleared | {"scim_attributes": None})
    )
    db.session.execute(sa.update(Group).where(Group.scim_id.is_not(None)).values(cleared))
    db.session.expire_all()
    data = {"tokens": before.tokens, "users": before.users, "groups": before.groups}
    events.record(acting, EventType.SCIM_DISCONNECTED, data=data)
    return before
