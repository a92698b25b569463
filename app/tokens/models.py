from datetime import datetime, timedelta

from sqlalchemy import ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import NEVER_REUSE_IDS, Model, at_most, utcnow


class Token(Model):
    """An access token, of which only the SHA-256 of the secret is known here."""

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    hint: Mapped[str] = mapped_column(String(12))
    """The end of the secret, by which its owner knows it again."""
    description: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_seen_at: Mapped[datetime | None]
    seen_expired_at: Mapped[datetime | None]
    """When it was first refused as expired: a clock that is set back lets it live no more."""

    @property
    def is_expired(self) -> bool:
        return self.seen_expired_at is not None or (
            self.expires_at is not None and self.expires_at <= utcnow()
        )

    @property
    def expires_soon(self) -> bool:
        """Within the next fortnight."""
        soon = utcnow() + timedelta(days=14)
        return self.expires_at is not None and utcnow() < self.expires_at <= soon

    __table_args__ = (
        # Of an account's live tokens each has a description of its own.
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
