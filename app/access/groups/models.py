"""Groups of the organisation, and which roles they give here."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, query_expression, relationship

from app.accounts.models import KEY_LENGTH
from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most
from app.core.permissions import Role


class Group(Model):
    """A group, by its name at the provider. Names that read alike are one group.

    ``scim_id``: set if a directory decides the members, instead of each sign-in.
    """

    __tablename__ = "groups"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(255))
    name_key: Mapped[str] = mapped_column(String(KEY_LENGTH), unique=True)
    scim_id: Mapped[str | None] = mapped_column(String(255))
    external_id: Mapped[str | None] = mapped_column(String(255), index=True)
    root_role: Mapped[Role | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    changed_at: Mapped[datetime] = mapped_column(default=utcnow)

    projects: Mapped[list["GroupProject"]] = relationship(
        order_by="GroupProject.project_id", lazy="selectin", cascade="all, delete-orphan"
    )
    member_count: Mapped[int] = query_expression()
    """Members who are not deleted. Loaded only for lists."""

    __table_args__ = (
        CheckConstraint("root_role IN (1, 2, 3)", name="root_role"),
        at_most("name", 255),
        at_most("external_id", 255),
        NEVER_REUSE_IDS,
    )

    def snapshot(self) -> dict[str, Any]:
        """The group as the event log records it, without its members."""
        return {
            "id": self.id,
            "name": self.name,
            "rootRole": self.root_role and int(self.root_role),
            "projects": {row.project_id: row.role.title for row in self.projects},
        }


class GroupProject(Model):
    """The role that a group gives in a project."""

    __tablename__ = "group_projects"

    group_id: Mapped[int] = mapped_column(ForeignKey("groups.id"), primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True, index=True)
    role: Mapped[Role]

    __table_args__ = (CheckConstraint("role IN (4, 5)", name="project_role"),)


class GroupMember(Model):
    """A member of a group."""

    __tablename__ = "group_members"

    group_id: Mapped[int] = mapped_column(ForeignKey("groups.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True, index=True)
