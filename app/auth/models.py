from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import NEVER_REUSE_IDS, Model, at_most, utcnow


class SignIn(Model):
    """An attempt of somebody to sign in with an account's name, good or bad."""

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
    """Failures that are counted together: of a name, a network, or a name from a network.

    The name is whatever was typed, by digest, so unknown names are throttled as known ones are.
    """

    __tablename__ = "throttles"

    key: Mapped[str] = mapped_column(String(120), primary_key=True)
    failures: Mapped[int] = mapped_column(default=0)
    counted_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)

    __table_args__ = (at_most("key", 120),)


class SecondFactor(Model):
    """What an account's authenticator makes its codes of: a salt here, the key elsewhere.

    ``last_step``: the number of the period whose code was used last, since none is good twice.
    """

    __tablename__ = "second_factors"

    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    salt: Mapped[bytes] = mapped_column(LargeBinary(20))
    last_step: Mapped[int]
    confirmed_at: Mapped[datetime | None]


class RecoveryCode(Model):
    """A code that is good once instead of one of the authenticator; by digest."""

    __tablename__ = "recovery_codes"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)

    __table_args__ = (NEVER_REUSE_IDS,)


class FirstAdminLink(Model):
    """A one-time link by which the first Admin of an instance makes his account."""

    __tablename__ = "first_admin_links"

    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    expires_at: Mapped[datetime]

    __table_args__ = (NEVER_REUSE_IDS,)
