"""Access tokens of people and service accounts. Whose they may be is for the areas above."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, save, utcnow
from app.core.errors import Invalid, NameExists
from app.events import service as events
from app.events.models import EventType
from app.tokens import secrets
from app.tokens.models import Token
from app.tokens.secrets import TokenKind

SEEN_PRECISION = timedelta(minutes=1)
HINT_LENGTH = 4


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
        raise Invalid.because([{"path": "/expiresAt", "message": message}])
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
        digest=secrets.digest(secret),
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
    db.session.execute(
        sa.update(Token)
        .where(Token.account_id.in_(account_ids), Token.revoked_at.is_(None))
        .values(revoked_at=utcnow())
    )


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
