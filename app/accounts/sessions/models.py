from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most
from app.core.quotas import Quota


class Session(Model):
    """A browser that is signed in; only a digest of its cookie's secret is stored."""

    __tablename__ = "sessions"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    last_used_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)
    proved_at: Mapped[datetime | None] = mapped_column(default=utcnow)
    """When the person last entered their password; None in sessions older than this column."""

    ip: Mapped[str | None] = mapped_column(String(45))
    user_agent: Mapped[str | None] = mapped_column(String(255))
    identity_id: Mapped[int | None] = mapped_column(index=True)
    """The identity that the session began with; None for a password.

    Removing the identity ends the session.
    """
    provider_session: Mapped[str | None] = mapped_column(String(255), index=True)
    """The provider's id for the session that this one began with."""
    id_token: Mapped[str | None] = mapped_column(Text)
    """Sent to the provider at sign-out, to say who signs out."""

    __table_args__ = (at_most("user_agent", 255), NEVER_REUSE_IDS)


class KeptForm(Model):
    """The fields of a form that was interrupted: sign-in or a proof of identity came first."""

    __tablename__ = "kept_forms"

    id: Mapped[int] = mapped_column(primary_key=True)
    session_id: Mapped[int] = mapped_column(
        ForeignKey("sessions.id", ondelete="CASCADE"), index=True
    )
    fields: Mapped[dict[str, Any]]
    """The values by the name of the field."""

    __table_args__ = (NEVER_REUSE_IDS,)


SESSIONS = Quota(Session, "sessions", "person", rows=50, bytes=20_000)
KEPT_FORMS = Quota(KeptForm, "interrupted forms", "session", rows=3, bytes=64_000)
