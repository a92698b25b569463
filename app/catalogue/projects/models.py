from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, query_expression, relationship

from app.accounts.models import HeldRole
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import Model, at_most
from app.core.permissions import Role


class ProjectMode(StrEnum):
    """Who can see a project, and who can change it.

    open: everyone sees it and can propose changes that need approvals, members change it, and
    Editors change the project ``default``. protected: everyone sees it, only members propose and
    change. private: only members see it.
    Admins see and change every project.
    """

    OPEN = "open"
    PROTECTED = "protected"
    PRIVATE = "private"


class Membership(StrEnum):
    """Filters of a list of projects, by its members."""

    MINE = "mine"
    OWNERLESS = "ownerless"


class Project(Model):
    __tablename__ = "projects"

    id: Mapped[str] = mapped_column(String(100), primary_key=True)
    name: Mapped[str] = mapped_column(String(255))
    description: Mapped[str | None] = mapped_column(String(5_000))
    mode: Mapped[ProjectMode] = mapped_column(default=ProjectMode.OPEN)
    default_stickiness: Mapped[str] = mapped_column(String(100), default="default")
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    archived_at: Mapped[datetime | None]

    enabled: Mapped[list["ProjectEnvironment"]] = relationship(
        order_by="ProjectEnvironment.environment", cascade="all, delete-orphan"
    )
    approvals: Mapped[list["Approval"]] = relationship(
        f"{__name__}.Approval",  # in full: change requests have a model with the same name
        order_by=lambda: Approval.environment,
        cascade="all, delete-orphan",
    )
    feature_count: Mapped[int] = query_expression()
    """Active features. Loaded only for lists, like ``member_count``."""
    member_count: Mapped[int] = query_expression()
    changed_at: Mapped[datetime | None] = query_expression()
    """The time of its last event. Loaded only for lists."""

    __table_args__ = (
        at_most("id", 100),
        at_most("name", 255),
        at_most("description", 5_000),
        at_most("default_stickiness", 100),
    )

    @classmethod
    def visible_to(cls, actor: Actor) -> sa.ColumnElement[bool]:
        """Condition for projects that the actor can see: private ones as a member or Admin only."""
        if actor.is_admin:
            return sa.true()
        return sa.or_(cls.mode != ProjectMode.PRIVATE, cls.id.in_(list(actor.project_roles)))

    @property
    def environments(self) -> list[str]:
        return sorted(row.environment for row in self.enabled)

    @property
    def change_request_environments(self) -> list["Approval"]:
        return sorted(self.approvals, key=lambda row: row.environment)

    @property
    def guarded(self) -> list["Approval"]:
        """Rules of the environments that it uses, those with the most approvals first."""
        used = [rule for rule in self.approvals if rule.environment in self.environments]
        return sorted(used, key=lambda rule: (-rule.required_approvals, rule.environment))

    def snapshot(self) -> dict[str, Any]:
        """The project as the event log records it."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "mode": self.mode,
            "defaultStickiness": self.default_stickiness,
            "environments": self.environments,
            "changeRequestEnvironments": {
                row.environment: row.required_approvals for row in self.approvals
            },
        }


class ProjectEnvironment(Model):
    """An environment that a project uses."""

    __tablename__ = "project_environments"

    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    environment: Mapped[str] = mapped_column(
        ForeignKey("environments.name"), primary_key=True, index=True
    )


class Approval(Model):
    """Number of approvals that changes in an environment need. The project need not use it."""

    __tablename__ = "project_approvals"

    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    environment: Mapped[str] = mapped_column(
        ForeignKey("environments.name"), primary_key=True, index=True
    )
    required_approvals: Mapped[int]

    __table_args__ = (CheckConstraint("required_approvals BETWEEN 1 AND 10", name="range"),)


class Member(HeldRole, Model):
    """The role of an account in a project."""

    __tablename__ = "project_members"

    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True, index=True)
    role: Mapped[Role] = mapped_column(ForeignKey("roles.id"))

    __table_args__ = (CheckConstraint("role IN (4, 5)", name="project_role"),)
