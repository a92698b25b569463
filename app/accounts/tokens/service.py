"""Access tokens of people and service accounts. Callers check whose tokens they may touch."""

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.accounts.tokens import secrets
from app.accounts.tokens.models import SEEN_PRECISION, TOKENS, Issued, Token, refuse_past, replaced
from app.accounts.tokens.secrets import TokenKind
from app.core.actor import Actor
from app.core.clock import in_text, utcnow
from app.core.db import chunks, db, locked, one_or_none, save
from app.core.errors import Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.paging import Page, page_of


def issue(
    actor: Actor,
    account_id: int,
    kind: TokenKind,
    *,
    description: str,
    expires_at: datetime | None = None,
) -> Issued[Token]:
    """Create a token for an existing account. It never outlives the token of the request."""
    expires_at = _within(_limit(actor), expires_at)
    return keep(
        actor,
        account_id,
        secrets.generate(kind),
        description=description,
        expires_at=expires_at,
    )


def keep(
    actor: Actor,
    account_id: int,
    secret: str,
    *,
    description: str,
    expires_at: datetime | None = None,
    created_by_id: int | None = None,
) -> Issued[Token]:
    """Create a token with a given secret. Only the digest of the secret is stored.

    ``created_by_id``: if that is not the actor.
    """
    own = Token.account_id == account_id
    TOKENS.require_room(own, Token.revoked_at.is_(None), remedy="Revoke one first.")
    TOKENS.drop_oldest(own, Token.revoked_at.is_not(None), by=Token.revoked_at)
    token = Token(
        account_id=account_id,
        created_by_id=created_by_id or actor.id,
        description=description,
        expires_at=expires_at,
    )
    token.keep(secret)
    taken = NameExists(
        f"This account already has a token described {description!r}.", field="description"
    )
    save(token, if_taken=taken)
    events.record(actor, EventType.TOKEN_CREATED, data=_snapshot(token))
    return Issued(token, secret)


def get(account_id: int, token_id: int, *, for_change: bool = False) -> Token:
    """A token of the account, unless revoked; ``for_change`` locks its row."""
    query = sa.select(Token).where(
        Token.id == token_id, Token.account_id == account_id, Token.revoked_at.is_(None)
    )
    token = one_or_none(query, "token", account_id, token_id, for_change=for_change)
    if token is None:
        raise NotFound(f"This account has no token with the id {token_id}.")
    return token


def revoke(actor: Actor, account_id: int, token_id: int) -> None:
    """Revoke a token of the account."""
    token = get(account_id, token_id, for_change=True)
    token.revoke()
    events.record(actor, EventType.TOKEN_REVOKED, pre_data=_snapshot(token))


def revoke_each(actor: Actor, account_id: int) -> None:
    """Revoke every token of the account, with an event for each."""
    query = sa.select(Token).where(Token.account_id == account_id, Token.revoked_at.is_(None))
    revoked = list(db.session.scalars(locked(query.order_by(Token.id))))
    for token in revoked:
        token.revoke()
    payloads = (EventPayload(pre_data=_snapshot(token)) for token in revoked)
    events.record_all(actor, EventType.TOKEN_REVOKED, payloads)


def rotate(
    actor: Actor,
    account_id: int,
    token_id: int,
    kind: TokenKind,
    *,
    overlap: timedelta,
    expires_at: datetime | None = None,
) -> Issued[Token]:
    """Replace a token by a new one; the old one stays valid for ``overlap``.

    The new token takes over the description. Without ``expires_at`` it is valid for as long as
    the old one was.
    """
    old = get(account_id, token_id, for_change=True)
    description, before, limit = old.description, _snapshot(old), _limit(actor)
    asked = _within(limit, expires_at)
    if expires_at is None and (same := old.next_end()):
        asked = min(same, limit or same)
    old.description = replaced(description)
    old.end_after(overlap)
    db.session.flush()
    events.record(actor, EventType.TOKEN_ROTATED, pre_data=before, data=_snapshot(old))
    return keep(
        actor,
        account_id,
        secrets.generate(kind),
        description=description,
        expires_at=asked,
        created_by_id=old.created_by_id if actor.id == account_id else None,
    )


def search(account_id: int, *, limit: int, offset: int) -> Page[Token]:
    """The account's tokens, without revoked ones, oldest first."""
    query = sa.select(Token).where(Token.account_id == account_id, Token.revoked_at.is_(None))
    return page_of(query.order_by(Token.id), limit=limit, offset=offset)


def count(account_id: int) -> int:
    """The number of the account's tokens, without revoked ones."""
    return search(account_id, limit=0, offset=0).total


def expiring(*, before: datetime) -> list[Token]:
    """Valid tokens that expire by that time, the earliest first."""
    query = sa.select(Token).where(
        Token.revoked_at.is_(None), Token.expires_at > utcnow(), Token.expires_at <= before
    )
    return list(db.session.scalars(query.order_by(Token.expires_at, Token.id)))


def of_accounts(account_ids: list[int]) -> dict[int, list[Token]]:
    """The tokens of each account, without revoked ones, oldest first."""
    found: dict[int, list[Token]] = {id: [] for id in account_ids}
    query = (
        sa.select(Token)
        .where(Token.account_id.in_(account_ids), Token.revoked_at.is_(None))
        .order_by(Token.id)
    )
    for token in db.session.scalars(query):
        found[token.account_id].append(token)
    return found


def revoke_all(account_ids: list[int]) -> None:
    """Revoke every token of these accounts. Records no event: that about the accounts covers it."""
    for chunk in chunks(account_ids):
        live = sa.and_(Token.account_id.in_(chunk), Token.revoked_at.is_(None))
        db.session.execute(sa.update(Token).where(live).values(revoked_at=utcnow()))


def note_use(token_id: int) -> None:
    """Store that a token was used, at most once a minute."""
    now = utcnow()
    db.session.execute(
        sa.update(Token)
        .where(
            Token.id == token_id,
            sa.or_(Token.last_seen_at.is_(None), Token.last_seen_at < now - SEEN_PRECISION),
        )
        .values(last_seen_at=now)
    )


def note_expiry(token_id: int) -> None:
    """Store that a token was refused as expired."""
    first = Token.seen_expired_at.is_(None)
    db.session.execute(
        sa.update(Token).where(Token.id == token_id, first).values(seen_expired_at=utcnow())
    )


def _within(limit: datetime | None, expires_at: datetime | None) -> datetime | None:
    """``expires_at``, or the expiry of the request's own token, ``limit``, if that is None.

    Raises:
        Invalid: if it is in the past, or later than ``limit``.

    """
    if expires_at is None:
        return limit
    refuse_past(expires_at)
    if limit is not None and expires_at > limit:
        latest = in_text(limit)
        message = f"Must not be later than {latest}, when the token of this request expires."
        raise Invalid.at("/expiresAt", message)
    return expires_at


def _limit(actor: Actor) -> datetime | None:
    """When the token of the actor's request expires; None if never, or without a token."""
    if actor.token_id is None:
        return None
    return db.session.scalar(sa.select(Token.expires_at).where(Token.id == actor.token_id))


def _snapshot(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "userId": token.account_id,
        "description": token.description,
        "hint": token.hint,
        "expiresAt": token.expires_at and in_text(token.expires_at),
    }
