"""Tokens with which directories manage users and groups. They are valid for SCIM only."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from app.access.scim_tokens.models import ScimToken
from app.accounts.tokens import secrets
from app.accounts.tokens.secrets import TokenKind
from app.accounts.tokens.service import HINT_LENGTH, SEEN_PRECISION
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, once, save
from app.core.errors import Invalid, NotAuthenticated, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.permissions import Role
from app.core.secrets import digest


@dataclass(frozen=True, slots=True)
class IssuedScimToken:
    """A new token with its secret, which isn't stored."""

    token: ScimToken
    secret: str


def create(actor: Actor, *, token_name: str, expires_at: datetime | None = None) -> IssuedScimToken:
    """Create a token. Only the digest of its secret is stored."""
    if expires_at is not None and expires_at <= utcnow():
        raise Invalid.at("/expiresAt", "Choose a time in the future.")
    secret = secrets.generate(TokenKind.SCIM)
    token = ScimToken(
        name=token_name,
        digest=digest(secret),
        hint=secret[-HINT_LENGTH:],
        created_by=actor.username,
        expires_at=expires_at,
    )
    save(token)
    events.record(actor, EventType.SCIM_TOKEN_CREATED, data=token.snapshot())
    return IssuedScimToken(token, secret)


def list_all() -> list[ScimToken]:
    """The tokens that aren't revoked, oldest first."""
    query = sa.select(ScimToken).where(ScimToken.revoked_at.is_(None)).order_by(ScimToken.id)
    return list(once("SCIM tokens", lambda: db.session.scalars(query).all()))


def get(token_id: int) -> ScimToken:
    token = db.session.get(ScimToken, token_id)
    if token is None or token.revoked_at is not None:
        raise NotFound(f"There is no SCIM token with the id {token_id}.")
    return token


def known_by(secret: str) -> ScimToken | None:
    """The token with this secret, also if revoked or expired."""
    return db.session.scalar(sa.select(ScimToken).where(ScimToken.digest == digest(secret)))


def revoke(actor: Actor, token_id: int) -> None:
    token = get(token_id)
    token.revoked_at = utcnow()
    events.record(actor, EventType.SCIM_TOKEN_REVOKED, data=token.snapshot())


def actor_of(secret: str, ip: str | None) -> tuple[Actor, int | None]:
    """The directory with this token, and the token's id if its use is worth noting.

    Raises:
        NotAuthenticated: if the token is unknown, expired or revoked.

    """
    refusal = NotAuthenticated("Send a valid SCIM token in the header Authorization: Bearer TOKEN.")
    if not secrets.is_of(TokenKind.SCIM, secret):
        raise refusal
    token = known_by(secret)
    if token is None or token.revoked_at is not None or token.is_expired:
        raise refusal
    is_worth_noting = token.last_seen_at is None or token.last_seen_at < utcnow() - SEEN_PRECISION
    actor = Actor(id=None, username=f"SCIM ({token.name})", role=Role.ADMIN, ip=ip)
    return actor, token.id if is_worth_noting else None


def note_use(token_id: int) -> None:
    db.session.execute(
        sa.update(ScimToken).where(ScimToken.id == token_id).values(last_seen_at=utcnow())
    )
