"""People and service accounts: one table, since both are callers with a root role."""

import unicodedata
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most
from app.core.errors import Conflict
from app.core.permissions import Role

KEY_LENGTH = 255
PROXY = "proxy"
"""The issuer of identities that a proxy vouches for."""
LONGEST_PASSWORD = 1_024
LINK_VALID = timedelta(hours=48)


class AccountKind(StrEnum):
    PERSON = "person"
    SERVICE = "service"

    @property
    def account_type(self) -> str:
        """The kind as the API names it."""
        return "User" if self is AccountKind.PERSON else "Service Account"


class RoleRow(Model):
    """A role as a row that foreign keys can refer to. See core/permissions.py."""

    __tablename__ = "roles"

    id: Mapped[Role] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(100), unique=True)


class HeldRole:
    """A role that someone was given, that groups give them, or both: the stronger one counts.

    ``own_role``: what a person or script gave. ``group_role``: the strongest that groups give.
    ``given_by`` and ``given_at`` are those of ``own_role``; roles from older versions lack them.
    """

    role: Mapped[Role]
    own_role: Mapped[Role | None]
    group_role: Mapped[Role | None]
    given_by: Mapped[str | None] = mapped_column(String(255))
    given_at: Mapped[datetime | None]

    def give(self, actor: Actor, role: Role) -> None:
        """Set the role that was given directly.

        Raises:
            Conflict: if a group gives more, so that it would change nothing.

        """
        if self.group_role is not None and self.group_role < role:
            raise Conflict(
                f"A group gives the role {self.group_role.title}, so {role.title} would change "
                "nothing. Change who is in the group, or what the group gives."
            )
        self.own_role, self.given_by, self.given_at = role, actor.username, utcnow()
        self.role = role

    def take(self) -> bool:
        """Remove the role that was given directly. Return whether a role of a group remains.

        Raises:
            Conflict: if there is none.

        """
        if self.own_role is None:
            raise Conflict(
                "This role comes from a group. Change who is in the group, or what the group gives."
            )
        self.own_role = self.given_by = self.given_at = None
        if self.group_role is not None:
            self.role = self.group_role
        return self.group_role is not None

    def give_by_groups(self, role: Role | None) -> bool:
        """Set the strongest role that groups give. Return whether any role remains."""
        self.group_role = role
        held = [each for each in (self.own_role, role) if each is not None]
        if held:
            self.role = min(held)
        return bool(held)


class Account(HeldRole, Model):
    """``username_key`` and ``email_key`` enforce uniqueness: names that read alike share a key.
    A deleted account has no keys, so its names are free.

    ``scim_id`` and ``external_id``: the ids of a directory's user, here and in the directory.
    ``scim_attributes``: the names and e-mails as the directory sent them. ``deactivated_at``: when
    a directory blocked all access; roles stay. ``time_zone``: in which they read times on pages.
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
    own_role: Mapped[Role | None] = mapped_column(
        default=lambda context: context.get_current_parameters()["role"]
    )
    password_hash: Mapped[str | None] = mapped_column(String(255))
    login_attempts: Mapped[int] = mapped_column(default=0)
    scim_id: Mapped[str | None] = mapped_column(String(255))
    external_id: Mapped[str | None] = mapped_column(String(255), index=True)
    scim_attributes: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    last_sign_in_at: Mapped[datetime | None]
    time_zone: Mapped[str | None] = mapped_column(String(64))
    deactivated_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]

    __table_args__ = (
        Index(None, "kind", "deleted_at", "id"),
        CheckConstraint("role IN (1, 2, 3)", name="root_role"),
        at_most("username", 255),
        at_most("name", 255),
        at_most("email", 254),
        at_most("time_zone", 64),
        NEVER_REUSE_IDS,
    )

    @property
    def is_active(self) -> bool:
        return self.deleted_at is None and self.deactivated_at is None

    @property
    def is_person(self) -> bool:
        return self.kind is AccountKind.PERSON

    @property
    def label(self) -> str:
        """The user name, or the email, or the id: one of them always exists."""
        return self.username or self.email or f"account {self.id}"

    @property
    def called(self) -> str:
        """The full name, or the label if there is none."""
        return self.name or self.label

    def snapshot(self) -> dict[str, Any]:
        """The account as events store it."""
        return {
            "id": self.id,
            "username": self.username,
            "name": self.name,
            "email": self.email,
            "rootRole": int(self.role),
        }


class Identity(Model):
    """A person at a provider or proxy, who can sign in to the account.

    ``issuer``: the provider's address, or PROXY. ``subject``: the person's id there.
    """

    __tablename__ = "identities"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    issuer: Mapped[str] = mapped_column(String(500))
    subject: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    last_used_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = (
        UniqueConstraint("issuer", "subject"),
        at_most("issuer", 500),
        at_most("subject", 255),
        NEVER_REUSE_IDS,
    )


class SetupLink(Model):
    """A one-time link to set a password; only its digest is stored.

    ``ended_at``: when it was used, replaced, or refused as expired. ``told_at``: when someone who
    signed in first read about it, or about its use. Links from older versions have no
    ``created_by``.
    """

    __tablename__ = "setup_links"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    expires_at: Mapped[datetime]
    created_by: Mapped[str | None] = mapped_column(String(255))
    created_by_user_id: Mapped[int | None]
    used_at: Mapped[datetime | None]
    used_ip: Mapped[str | None] = mapped_column(String(45))
    ended_at: Mapped[datetime | None]
    told_at: Mapped[datetime | None]

    __table_args__ = (NEVER_REUSE_IDS,)

    @property
    def created_at(self) -> datetime:
        return self.expires_at - LINK_VALID

    @property
    def maker(self) -> str:
        return self.created_by or "An Admin"

    @property
    def outcome(self) -> str:
        """What became of the link, in words."""
        if self.used_at is not None:
            return f"Used from {self.used_ip or 'an unknown address'}"
        if self.expires_at <= utcnow():
            return "Expired"
        return "Replaced" if self.ended_at is not None else "Not used"


def key_of(text: str) -> str:
    """The same key for names that read alike: case, width and composition don't matter."""
    # Folding the case can undo the normal form, so it is restored afterwards.
    key = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # NFKC expands a few characters to 18, which the column couldn't hold.
    return key if len(key) <= KEY_LENGTH else sha256(key.encode()).hexdigest()
