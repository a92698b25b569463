from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.tokens.models import Secret
from app.catalogue.usage.models import Application, TokenUse
from app.core.clock import in_text
from app.core.db import NEVER_REUSE_IDS, Model, at_most
from app.core.words import spoken

ALL = "*"
"""Wildcard for all projects, including future ones."""


class SdkTokenType(StrEnum):
    """Where the SDK runs: on a server, or with the people who use the application."""

    CLIENT = "client"
    FRONTEND = "frontend"


class SdkTokenState(StrEnum):
    """States of tokens that need attention."""

    EXPIRING = "expiring"
    UNUSED = "unused"


class SdkToken(Secret, Model):
    """A token with which an application reads features, valid in one environment only."""

    __tablename__ = "sdk_tokens"

    name: Mapped[str] = mapped_column(String(255))
    type: Mapped[SdkTokenType]
    environment: Mapped[str] = mapped_column(ForeignKey("environments.name"))
    all_projects: Mapped[bool]

    limited_to: Mapped[list["SdkTokenProject"]] = relationship(
        order_by="SdkTokenProject.project_id", lazy="selectin", cascade="all, delete-orphan"
    )
    used_by: Mapped[list[Application]] = relationship(
        secondary=lambda: TokenUse.__table__,
        order_by=lambda: Application.name,
        lazy="selectin",
        viewonly=True,
    )

    __table_args__ = (
        Index(  # names of tokens that aren't revoked are unique
            "uq_sdk_tokens_name",
            "name",
            unique=True,
            sqlite_where=text("revoked_at IS NULL"),
            postgresql_where=text("revoked_at IS NULL"),
        ),
        at_most("name", 255),
        NEVER_REUSE_IDS,
    )

    @property
    def projects(self) -> list[str]:
        """The projects whose features it gives, or ``["*"]`` for all."""
        return [ALL] if self.all_projects else [row.project_id for row in self.limited_to]

    @property
    def project(self) -> str:
        """The projects as the secret begins: one id, ``*`` for all, ``[]`` for several."""
        return self.projects[0] if len(self.projects) == 1 else "[]"

    @property
    def reads(self) -> str:
        """The projects in words."""
        if self.all_projects:
            return "all projects"
        noun = "project" if len(self.limited_to) == 1 else "projects"
        return f"{noun} {spoken(self.projects)}"

    @property
    def applications(self) -> list[str]:
        """Names of applications that used it in the last 7 days."""
        return [application.name for application in self.used_by]

    @property
    def label(self) -> str:
        """Its name in the security log."""
        return f"SDK token {self.id} for {self.environment}"

    def snapshot(self) -> dict[str, Any]:
        """The token as the event log records it."""
        return {
            "id": self.id,
            "tokenName": self.name,
            "type": self.type,
            "environment": self.environment,
            "projects": self.projects,
            "hint": self.hint,
            "expiresAt": self.expires_at and in_text(self.expires_at),
        }


class SdkTokenProject(Model):
    """A project that a token is limited to."""

    __tablename__ = "sdk_token_projects"

    token_id: Mapped[int] = mapped_column(ForeignKey("sdk_tokens.id"), primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True, index=True)

    __table_args__ = ({"sqlite_with_rowid": False},)
