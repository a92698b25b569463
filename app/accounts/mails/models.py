from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most

MAX_ABOUT = 100
MAX_PATH = 300


class MailKind(StrEnum):
    """What people can get mail about."""

    REVIEWS = "reviews"
    SCHEDULES = "schedules"
    EXPIRY = "expiry"

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    MailKind.REVIEWS: "Change requests that ask for your review",
    MailKind.SCHEDULES: "Your scheduled changes that could not be applied",
    MailKind.EXPIRY: "Tokens that expire within a week",
}


class MailStop(Model):
    """A person who does not want mail of this kind."""

    __tablename__ = "mail_stops"

    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    kind: Mapped[MailKind] = mapped_column(primary_key=True)


class Mail(Model):
    """A mail to a person.

    ``about``: at most one mail to a person is about the same. ``path``: of the page that it leads
    to. ``next_at``: when to send it; None while it is sent, and from then on.
    """

    __tablename__ = "mails"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    kind: Mapped[MailKind]
    about: Mapped[str | None] = mapped_column(String(MAX_ABOUT))
    subject: Mapped[str] = mapped_column(Text)
    path: Mapped[str] = mapped_column(String(MAX_PATH))
    created_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime | None] = mapped_column(default=utcnow)

    __table_args__ = (
        UniqueConstraint("account_id", "about"),
        Index(
            "ix_mails_waiting",
            "next_at",
            sqlite_where=text("next_at IS NOT NULL"),
            postgresql_where=text("next_at IS NOT NULL"),
        ),
        at_most("about", MAX_ABOUT),
        at_most("path", MAX_PATH),
        NEVER_REUSE_IDS,
    )
