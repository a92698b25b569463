"""Tokens with which directories manage users and groups. They are valid for SCIM only."""

from datetime import datetime

import sqlalchemy as sa

from app.access.scim_tokens.models import ScimToken
from app.accounts.tokens import secrets
from app.accounts.tokens.models import Issued, is_use_worth_noting, refuse_past
from app.accounts.tokens.secrets import TokenKind
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, once, save
from app.core.errors import NotAuthenticated, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.permissions import Role


def create(
    actor: Actor, *, token_name: str, expires_at: datetime | None = None
) -> Issued[ScimToken]:
    """Create a token. Only the digest of its secret is stored."""
    refuse_past(expires_at)
    secret = secrets.generate(TokenKind.SCIM)
    token = ScimToken(name=token_name, created_by=actor.username, expires_at=expires_at)
    token.keep(secret)
    save(token)
    events.record(actor, EventType.SCIM_TOKEN_CREATED, data=token.snapshot())
    return Issued(token, secret)


def list_all() -> list[ScimToken]:
    """The tokens that aren't revoked, oldest first."""
    query = sa.select(ScimToken).where(ScimToken.revoked_at.is_(None)).order_by(ScimToken.id)
    return list(once("SCIM tokens", lambda: db.session.scalars(query).all()))


def get(token_id: int) -> ScimToken:
    token = db.session.get(ScimToken, token_id)
    if token is None or token.revoked_at is not None:
        raise NotFound(f"There is no SCIM token with the id {token_id}.")
    return token


def revoke(actor: Actor, token_id: int) -> None:
    token = get(token_id)
    token.revoke()
    events.record(actor, EventType.SCIM_TOKEN_REVOKED, data=token.snapshot())


def actor_of(secret: str, ip: str | None) -> tuple[Actor, int | None]:
    """The directory with this token, and the token's id if its use is worth noting.

    Raises:
        NotAuthenticated: if the token is unknown, expired or revoked.

    """
    refusal = NotAuthenticated("Send a valid SCIM token in the header Authorization: Bearer TOKEN.")
    if not secrets.is_of(TokenKind.SCIM, secret):
        raise refusal
    token = ScimToken.known_by(secret)
    if token is None or token.revoked_at is not None or token.is_expired:
        raise refusal
    actor = Actor(id=None, username=f"SCIM ({token.name})", role=Role.ADMIN, ip=ip)
    return actor, token.id if is_use_worth_noting(token.last_seen_at) else None


def note_use(token_id: int) -> None:
    db.session.execute(
        sa.update(ScimToken).where(ScimToken.id == token_id).values(last_seen_at=utcnow())
    )
