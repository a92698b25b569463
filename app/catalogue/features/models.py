from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, String, text, true
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most
from app.core.quotas import Quota


class FeatureType(StrEnum):
    RELEASE = "release"
    EXPERIMENT = "experiment"
    OPERATIONAL = "operational"
    KILL_SWITCH = "kill-switch"
    PERMISSION = "permission"


FEATURE_TYPES = {
    FeatureType.RELEASE: "Release: hides unfinished work until it’s ready",
    FeatureType.EXPERIMENT: "Experiment: compares variants",
    FeatureType.OPERATIONAL: "Operational: controls how the system behaves, such as under load",
    FeatureType.KILL_SWITCH: "Kill switch: switches something off in an emergency",
    FeatureType.PERMISSION: "Permission: gives access to some people and not to others",
}
"""Their names, and what they are for."""


class CompletedStatus(StrEnum):
    """Outcome of a completed feature: its code stays for good, or is removed."""

    KEPT = "kept"
    DISCARDED = "discarded"


class Stage(StrEnum):
    """Stages in their order. A feature is in the last one that it entered."""

    INITIAL = "initial"
    PRE_LIVE = "pre-live"
    LIVE = "live"
    COMPLETED = "completed"
    ARCHIVED = "archived"


class StaleReason(StrEnum):
    """Why a feature is proposed as stale."""

    UNUSED = "unused"
    EVERYWHERE = "everywhere"
    LIFETIME = "lifetime"


class Feature(Model):
    """``completed_value``: what exactly was kept, such as a variant."""

    __tablename__ = "features"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    type: Mapped[FeatureType] = mapped_column(default=FeatureType.RELEASE)
    description: Mapped[str | None] = mapped_column(String(5_000))
    stale: Mapped[bool] = mapped_column(default=False)
    impression_data: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    archived_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    completed_status: Mapped[CompletedStatus | None]
    completed_value: Mapped[str | None] = mapped_column(String(255))

    __table_args__ = (
        Index(None, "project_id", "name"),
        Index(  # for counting and listing the active features of a project
            "ix_features_active",
            "project_id",
            "name",
            sqlite_where=text("archived_at IS NULL"),
            postgresql_where=text("archived_at IS NULL"),
        ),
        at_most("name", 100),
        at_most("description", 5_000),
        at_most("completed_value", 255),
        NEVER_REUSE_IDS,
    )

    settings = ("type", "description", "stale", "impression_data")
    """Columns that people change as settings."""
    recorded = ("name", *settings)

    def completion(self) -> dict[str, Any] | None:
        """The outcome as the event log records it; None if the feature isn't completed."""
        if self.completed_at is None:
            return None
        return {"status": self.completed_status, "statusValue": self.completed_value}


class FeatureTypeLifetime(Model):
    """How long features of a type are expected to live, in days. None, or no row: for good."""

    __tablename__ = "feature_type_lifetimes"

    type: Mapped[FeatureType] = mapped_column(primary_key=True)
    lifetime_days: Mapped[int | None]


LINK_URL = r"^https?://[^\s/?#@\\]+([/?#]\S*)?$"
"""Has no user name: with one it would seem to be of another site."""
MAX_LINK_URL = 2_000


class FeatureLink(Model):
    """A page about a feature, such as its ticket. ``position``: its place among them."""

    __tablename__ = "feature_links"

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=lambda: str(uuid4()))
    feature_id: Mapped[int] = mapped_column(ForeignKey("features.id"), index=True)
    url: Mapped[str] = mapped_column(String(MAX_LINK_URL))
    title: Mapped[str | None] = mapped_column(String(255))
    position: Mapped[int]

    __table_args__ = (at_most("url", MAX_LINK_URL), at_most("title", 255))

    recorded = ("id", "url", "title")


LINKS = Quota(FeatureLink, "links", "feature", rows=50, bytes=10_000)


class ParentRule:
    """Condition on a parent for its child to be on: parent on or off, and in one of the variants.

    Without ``variants`` any variant meets it.
    """

    enabled: Mapped[bool] = mapped_column(default=True, server_default=true())
    variants: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))


class Dependency(ParentRule, Model):
    """Where the parent does not meet the rule, the child is off.

    The primary key allows one parent per child.
    """

    __tablename__ = "feature_dependencies"

    child_id: Mapped[int] = mapped_column(
        ForeignKey("features.id"), primary_key=True, autoincrement=False
    )
    parent_id: Mapped[int] = mapped_column(ForeignKey("features.id"), index=True)

    __table_args__ = (CheckConstraint("child_id <> parent_id", name="not_itself"),)


class Selection(Model):
    """Feature names that someone selected, stored so that pages about them have a URL.

    ``project_id``: where; None: in all projects. The id is a digest of the project and the names:
    the same selection has the same URL.
    """

    __tablename__ = "selections"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    project_id: Mapped[str | None] = mapped_column(ForeignKey("projects.id"))
    names: Mapped[list[str]] = mapped_column(JSON(none_as_null=True))
    used_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)


class ArchivedDependency(ParentRule, Model):
    """A dependency that archiving deleted, so that reviving can restore it."""

    __tablename__ = "archived_dependencies"

    child_id: Mapped[int] = mapped_column(
        ForeignKey("features.id"), primary_key=True, autoincrement=False
    )
    parent_id: Mapped[int] = mapped_column(ForeignKey("features.id"), index=True)
