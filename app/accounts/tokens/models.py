"""Tokens: what all kinds have in common, and those of people and service accounts."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Self, TypeVar

from sqlalchemy import ForeignKey, Index, LargeBinary, String, select, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most, db
from app.core.errors import Invalid
from app.core.quotas import Quota
from app.core.secrets import digest

HINT_LENGTH = 4
KEPT_OF_NAME = 200
"""Characters. With what ``replaced`` adds, a name still fits its column of 255."""
SEEN_PRECISION = timedelta(minutes=1)

T = TypeVar("T", bound="Secret")


class Secret:
    """Columns and life of every kind of token. Only the SHA-256 of its secret is stored."""

    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    hint: Mapped[str] = mapped_column(String(12))
    """The end of the secret, by which its owner recognizes it."""
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_seen_at: Mapped[datetime | None]

    @classmethod
    def known_by(cls, secret: str) -> Self | None:
        """The token with this secret, also if revoked or expired."""
        return db.session.scalar(select(cls).where(cls.digest == digest(secret)))

    def keep(self, secret: str) -> None:
        """Be the token with this secret."""
        self.digest, self.hint = digest(secret), secret[-HINT_LENGTH:]

    def revoke(self) -> None:
        self.revoked_at = utcnow()

    def end_after(self, overlap: timedelta) -> None:
        """Stay valid for as long as this at most; another token takes its place."""
        if overlap:
            end = utcnow() + overlap
            self.expires_at = min(self.expires_at or end, end)
        else:
            self.revoke()

    def next_end(self) -> datetime | None:
        """When a token that takes its place expires: it is valid for as long, from now on."""
        return self.expires_at and utcnow() + (self.expires_at - self.created_at)

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= utcnow()

    @property
    def expires_soon(self) -> bool:
        """Within the next 14 days."""
        soon = utcnow() + timedelta(days=14)
        return self.expires_at is not None and utcnow() < self.expires_at <= soon

    @property
    def state(self) -> tuple[str, str]:
        """The state in words, and the kind of status that is."""
        states = {
            ("Revoked", "bad"): self.revoked_at is not None,
            ("Expired", "bad"): self.is_expired,
            ("Expires soon", "warn"): self.expires_soon,
            ("Never used", ""): self.last_seen_at is None,
        }
        return next((state for state, holds in states.items() if holds), ("Active", "ok"))


@dataclass(frozen=True, slots=True)
class Issued(Generic[T]):
    """A new token with its secret, which isn't stored."""

    token: T
    secret: str


def replaced(name: str) -> str:
    """The name of a token whose own name goes to the one that takes its place."""
    return f"{name[:KEPT_OF_NAME]} (until rotation {utcnow():%Y-%m-%d %H:%M:%S.%f})"


def is_use_worth_noting(last_seen_at: datetime | None) -> bool:
    return last_seen_at is None or last_seen_at < utcnow() - SEEN_PRECISION


def refuse_past(expires_at: datetime | None) -> None:
    if expires_at is not None and expires_at <= utcnow():
        raise Invalid.at("/expiresAt", "Must be in the future.")


class Token(Secret, Model):
    """An access token of a person or service account.

    ``created_by_id``: the account that created it, or its predecessor if it rotated itself. No
    foreign key: the token stays when that account is gone.
    """

    __tablename__ = "tokens"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    created_by_id: Mapped[int | None]
    description: Mapped[str] = mapped_column(String(255))
    seen_expired_at: Mapped[datetime | None]
    """When it was first refused as expired; it stays expired if the clock is set back."""

    @property
    def is_expired(self) -> bool:
        return self.seen_expired_at is not None or super().is_expired

    __table_args__ = (
        # The tokens of an account that aren't revoked have different descriptions.
        Index(
            "uq_tokens_account_id_description",
            "account_id",
            "description",
            unique=True,
            sqlite_where=text("revoked_at IS NULL"),
            postgresql_where=text("revoked_at IS NULL"),
        ),
        at_most("description", 255),
        NEVER_REUSE_IDS,
    )


TOKENS = Quota(Token, "access tokens", "person or service account", rows=100, bytes=1_000)
"""As many that were revoked stay beside them, so that a client learns why it is refused."""
