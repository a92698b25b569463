"""Access tokens of people and service accounts. Whose they may be is for the areas above."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import chunks, db, save, utcnow
from app.core.errors import Invalid, NameExists, NotFound
from app.core.paging import Page, page_of
from app.core.secrets import digest
from app.events import service as events
from app.events.models import EventType
from app.tokens import secrets
from app.tokens.models import Token
from app.tokens.secrets import TokenKind

SEEN_PRECISION = timedelta(minutes=1)
HINT_LENGTH = 4
KEPT_OF_DESCRIPTION = 200


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token and its secret: the one time that both are together."""

    token: Token
    secret: str


def issue(
    actor: Actor,
    account_id: int,
    kind: TokenKind,
    *,
    description: str,
    expires_at: datetime | None = None,
) -> IssuedToken:
    """Make a token for an account that the caller knows to exist."""
    if expires_at is not None and expires_at <= utcnow():
        message = "Must lie in the future."
        raise Invalid.at("/expiresAt", message)
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
) -> IssuedToken:
    """Let ``secret`` be a token of the account; only its digest is stored."""
    token = Token(
        account_id=account_id,
        digest=digest(secret),
        hint=secret[-HINT_LENGTH:],
        description=description,
        expires_at=expires_at,
    )
    taken = NameExists(
        f"This account already has a token described {description!r}.", field="description"
    )
    save(token, if_taken=taken)
    events.record(actor, EventType.TOKEN_CREATED, data=_told(token))
    return IssuedToken(token, secret)


def known_by(secret: str) -> Token | None:
    """The token that this is, or was until it was revoked or expired; nothing is remembered."""
    return db.session.scalar(sa.select(Token).where(Token.digest == digest(secret)))


def get(account_id: int, token_id: int, *, for_change: bool = False) -> Token:
    """A token of the account that was not revoked; ``for_change``: with its row locked."""
    query = sa.select(Token).where(
        Token.id == token_id, Token.account_id == account_id, Token.revoked_at.is_(None)
    )
    token = db.session.scalar(query.with_for_update() if for_change else query)
    if token is None:
        raise NotFound(f"This account has no token with the id {token_id}.")
    return token


def revoke(actor: Actor, account_id: int, token_id: int) -> None:
    """Stop a token of the account at once."""
    token = get(account_id, token_id, for_change=True)
    token.revoked_at = utcnow()
    events.record(actor, EventType.TOKEN_REVOKED, pre_data=_told(token))


def rotate(
    actor: Actor,
    account_id: int,
    token_id: int,
    kind: TokenKind,
    *,
    overlap: timedelta,
    expires_at: datetime | None = None,
) -> IssuedToken:
    """A new token in the place of one that stays valid for ``overlap``.

    It takes over the description, and a validity as long as the old one's was unless
    ``expires_at`` says otherwise.
    """
    old, now = get(account_id, token_id, for_change=True), utcnow()
    description = old.description
    if expires_at is None and old.expires_at is not None:
        expires_at = now + (old.expires_at - old.created_at)
    before = _told(old)
    old.description = (
        f"{description[:KEPT_OF_DESCRIPTION]} (until rotation {now:%Y-%m-%d %H:%M:%S.%f})"
    )
    if overlap:
        old.expires_at = min(old.expires_at or now + overlap, now + overlap)
    else:
        old.revoked_at = now
    db.session.flush()
    events.record(actor, EventType.TOKEN_ROTATED, pre_data=before, data=_told(old))
    return issue(actor, account_id, kind, description=description, expires_at=expires_at)


def search(account_id: int, *, limit: int, offset: int) -> Page[Token]:
    """The account's tokens that were not revoked, oldest first."""
    query = sa.select(Token).where(Token.account_id == account_id, Token.revoked_at.is_(None))
    return page_of(query.order_by(Token.id), limit=limit, offset=offset)


def expiring(*, before: datetime) -> list[Token]:
    """Valid tokens that will not be at that time, the first to expire first."""
    query = sa.select(Token).where(
        Token.revoked_at.is_(None), Token.expires_at > utcnow(), Token.expires_at <= before
    )
    return list(db.session.scalars(query.order_by(Token.expires_at, Token.id)))


def of_accounts(account_ids: list[int]) -> dict[int, list[Token]]:
    """The live tokens of each account, oldest first."""
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
    """Stop every token of these accounts at once."""
    for chunk in chunks(account_ids):
        live = sa.and_(Token.account_id.in_(chunk), Token.revoked_at.is_(None))
        db.session.execute(sa.update(Token).where(live).values(revoked_at=utcnow()))


def note_use(token_id: int) -> None:
    """Remember that a token was used, at most once a minute."""
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
    """Remember that a token was refused as expired."""
    first = Token.seen_expired_at.is_(None)
    db.session.execute(
        sa.update(Token).where(Token.id == token_id, first).values(seen_expired_at=utcnow())
    )


def is_use_worth_noting(last_seen_at: datetime | None) -> bool:
    return last_seen_at is None or last_seen_at < utcnow() - SEEN_PRECISION


def _told(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "userId": token.account_id,
        "description": token.description,
        "hint": token.hint,
        "expiresAt": token.expires_at.isoformat() if token.expires_at else None,
    }
