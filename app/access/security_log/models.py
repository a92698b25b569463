from datetime import datetime
from enum import StrEnum

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.columns import enum_of
from app.core.db import NEVER_REUSE_IDS, Model
from app.core.quotas import Quota


class SecurityKind(StrEnum):
    ACCESS_REFUSED = "access-refused"
    LIST_EXPORTED = "list-exported"
    OTHER_SESSIONS_ENDED = "other-sessions-ended"
    PASSWORD_REFUSED = "password-refused"
    SIGN_IN = "sign-in"
    SIGN_IN_FAILED = "sign-in-failed"
    SIGN_OUT = "sign-out"
    TOKEN_LOOKED_UP = "token-looked-up"
    TOKEN_REFUSED = "token-refused"
    TWO_STEP_CODE_FAILED = "two-step-code-failed"


class SecurityEntry(Model):
    """One entry of the security log. It outlives accounts and tokens, so it has no foreign keys.

    ``name``: of an account that existed, never what someone typed, which may be a password.
    ``times``: how often it happened; ``at`` and ``detail`` are those of the first time.
    """

    __tablename__ = "security_log"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utcnow)
    # Without a constraint: a new kind must not need a new table.
    kind: Mapped[SecurityKind] = mapped_column(enum_of(SecurityKind, constrained=False))
    account_id: Mapped[int | None]
    name: Mapped[str | None] = mapped_column(String(255))
    ip: Mapped[str | None] = mapped_column(String(45))
    network: Mapped[str] = mapped_column(String(50))
    token_id: Mapped[int | None]
    detail: Mapped[str | None] = mapped_column(String(255))
    times: Mapped[int] = mapped_column(default=1)

    __table_args__ = (
        Index(None, "kind", "network", "at"),
        Index(None, "account_id", "id"),
        Index(None, "at"),
        NEVER_REUSE_IDS,
    )


SECURITY_ENTRIES = Quota(
    SecurityEntry, "entries of the security log", "server", rows=100_000, bytes=1_000
)
