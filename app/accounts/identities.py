"""Identities: which person at a provider or proxy can sign in to which account."""

from datetime import datetime

import sqlalchemy as sa

from app.accounts.models import Account, Identity
from app.accounts.service import RESTORABLE
from app.accounts.sessions import service as sessions
from app.accounts.sessions.models import Session
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import RetryTransaction, db, save
from app.core.errors import NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType


def find(issuer: str, subject: str) -> Identity | None:
    """The identity, unless its account can't be restored any more: then the person is new here."""
    query = (
        sa.select(Identity)
        .join(Account, Account.id == Identity.account_id)
        .where(
            Identity.issuer == issuer,
            Identity.subject == subject,
            sa.or_(Account.deleted_at.is_(None), Account.deleted_at > utcnow() - RESTORABLE),
        )
    )
    return db.session.scalar(query)


def of_account(account_id: int) -> list[Identity]:
    query = sa.select(Identity).where(Identity.account_id == account_id)
    return list(db.session.scalars(query.order_by(Identity.id)))


def get(account_id: int, identity_id: int) -> Identity:
    found = db.session.get(Identity, identity_id)
    if found is None or found.account_id != account_id:
        raise NotFound(f"This account has no single sign-on with the id {identity_id}.")
    return found


def link(actor: Actor, account: Account, issuer: str, subject: str) -> Identity:
    """Let this person at the issuer sign in to the account."""
    of_person = sa.and_(Identity.issuer == issuer, Identity.subject == subject)
    # An account that can't be restored any more may still have this identity.
    old_ids = list(db.session.scalars(sa.select(Identity.id).where(of_person)))
    sessions.close_of_identities(old_ids)
    db.session.execute(sa.delete(Identity).where(Identity.id.in_(old_ids)))
    identity = Identity(account_id=account.id, issuer=issuer, subject=subject)
    save(identity, if_taken=RetryTransaction())
    events.record(actor, EventType.IDENTITY_LINKED, data=_snapshot(account, identity))
    return identity


def unlink(actor: Actor, account: Account, identity: Identity) -> None:
    """Remove the identity from the account, and end the sessions that began with it."""
    events.record(actor, EventType.IDENTITY_UNLINKED, data=_snapshot(account, identity))
    sessions.close_of_identities([identity.id])
    db.session.delete(identity)


def end_sessions(
    issuer: str, subject: str | None, provider_session: str | None, *, begun_before: datetime
) -> set[int]:
    """End the sessions that began with this person, or this session, at the provider.

    If both are given, both must match. ``begun_before``: later sessions stay. Returns the ids of
    the accounts whose sessions ended.
    """
    query = sa.select(Identity.id).where(Identity.issuer == issuer)
    if subject is not None:
        query = query.where(Identity.subject == subject)
    else:
        of_session = sa.select(Session.identity_id)
        query = query.where(
            Identity.id.in_(of_session.where(Session.provider_session == provider_session))
        )
    ids = list(db.session.scalars(query))
    return sessions.close_of_identities(
        ids, provider_session=provider_session, begun_before=begun_before
    )


def _snapshot(account: Account, identity: Identity) -> dict[str, object]:
    return {
        "id": account.id,
        "name": account.label,
        "issuer": identity.issuer,
        "subject": identity.subject,
    }
