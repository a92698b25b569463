"""People and service accounts: one table, since both are callers with a root role."""

import unicodedata
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import NEVER_REUSE_IDS, Model, at_most, utcnow
from app.core.permissions import Role

KEY_LENGTH = 255
LONGEST_PASSWORD = 1_024


class AccountKind(StrEnum):
    PERSON = "person"
    SERVICE = "service"

    @property
    def account_type(self) -> str:
        """How clients are told of it."""
        return "User" if self is AccountKind.PERSON else "Service Account"


class RoleRow(Model):
    """A role as the database knows it, so that grants can refer to it; see core/permissions.py."""

    __tablename__ = "roles"

    id: Mapped[Role] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(100), unique=True)


class Account(Model):
    """``username_key`` and ``email_key`` are what uniqueness is about: one spelling for all that
    people take for the same. A deleted account has none, which frees both.
    """

    __tablename__ = "accounts"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[AccountKind]
    username: Mapped[str | None] = mapped_column(String(255))
    username_key: Mapped[str | None] = mapped_column(String(KEY_LENGTH), unique=True)
    name: Mapped[str | None] = mapped_column(String(255))
    email: Mapped[str | None] = mapped_column(String(254))
    email_key: Mapped[str | None] = mapped_column(String(KEY_LENGTH), unique=True)
    role: Mapped[Role] = mapped_column(ForeignKey("roles.id"))
    password_hash: Mapped[str | None] = mapped_column(String(255))
    login_attempts: Mapped[int] = mapped_column(default=0)
    scim_id: Mapped[str | None] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    last_sign_in_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]

    __table_args__ = (
        Index(None, "kind", "deleted_at", "id"),
        CheckConstraint("role IN (1, 2, 3)", name="root_role"),
        at_most("username", 255),
        at_most("name", 255),
        at_most("email", 254),
        NEVER_REUSE_IDS,
    )

    @property
    def is_person(self) -> bool:
        return self.kind is AccountKind.PERSON

    @property
    def label(self) -> str:
        """What the account is called in a sentence; it always has one of these."""
        return self.username or self.email or f"account {self.id}"

    @property
    def called(self) -> str:
        """What people call it, where there is room for a name."""
        return self.name or self.label

    def snapshot(self) -> dict[str, Any]:
        """The account as the event log remembers it."""
        return {
            "id": self.id,
            "username": self.username,
            "name": self.name,
            "email": self.email,
            "rootRole": int(self.role),
        }


class SetupLink(Model):
    """A one-time link by which a person sets the password; only its digest is known."""

    __tablename__ = "setup_links"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    expires_at: Mapped[datetime]

    __table_args__ = (NEVER_REUSE_IDS,)


def key_of(text: str) -> str:
    """One spelling for all that read alike: case, width and composition make no difference."""
    key = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # A few characters unfold to eighteen; a digest tells such names apart just as well.
    return key if len(key) <= KEY_LENGTH else sha256(key.encode()).hexdigest()
