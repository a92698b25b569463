from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most


class SignIn(Model):
    """An attempt to sign in to an account, successful or not."""

    __tablename__ = "sign_ins"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    at: Mapped[datetime] = mapped_column(default=utcnow)
    ip: Mapped[str | None] = mapped_column(String(45))
    network: Mapped[str] = mapped_column(String(50))
    succeeded: Mapped[bool]

    __table_args__ = (
        Index(None, "account_id", "id"),
        Index(None, "at", "succeeded"),
        NEVER_REUSE_IDS,
    )


class Throttle(Model):
    """A counter of failures: for a name, a place (a network or an address), or a name from a place.

    The name is a digest of what was typed, so unknown names are throttled like known ones.
    """

    __tablename__ = "throttles"

    key: Mapped[str] = mapped_column(String(120), primary_key=True)
    failures: Mapped[int] = mapped_column(default=0)
    counted_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)

    __table_args__ = (at_most("key", 120),)


class SecondFactor(Model):
    """The salt of an account's TOTP secret; the operator's key is the other half.

    ``last_step``: the period of the last code that was used, since no code works twice.
    """

    __tablename__ = "second_factors"

    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    salt: Mapped[bytes] = mapped_column(LargeBinary(20))
    last_step: Mapped[int]
    confirmed_at: Mapped[datetime | None]


class RecoveryCode(Model):
    """The digest of a code that works once instead of one from the authenticator."""

    __tablename__ = "recovery_codes"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)

    __table_args__ = (NEVER_REUSE_IDS,)


class FirstAdminLink(Model):
    """A one-time link to create the first Admin of an instance."""

    __tablename__ = "first_admin_links"

    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    expires_at: Mapped[datetime]

    __table_args__ = (NEVER_REUSE_IDS,)
