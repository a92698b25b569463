from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, String, Text, false
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core.clock import utcnow
from app.core.columns import enum_of
from app.core.db import NEVER_REUSE_IDS, Model, at_most
from app.core.quotas import Quota

MAX_CHANGES = 1_000
"""Per change request."""
MAX_TITLE = 255
MAX_TEXT = 2_000
NEW_DRAFT = 0
"""Instead of the id of a draft: a new one."""


class State(StrEnum):
    """``APPROVED`` is never stored: it follows from the approvals that count now."""

    DRAFT = "Draft"
    IN_REVIEW = "In review"
    APPROVED = "Approved"
    SCHEDULED = "Scheduled"
    APPLIED = "Applied"
    CANCELLED = "Cancelled"
    REJECTED = "Rejected"


CLOSED = frozenset({State.APPLIED, State.CANCELLED, State.REJECTED})


class Action(StrEnum):
    UPDATE_ENABLED = "updateEnabled"
    ADD_STRATEGY = "addStrategy"
    UPDATE_STRATEGY = "updateStrategy"
    DELETE_STRATEGY = "deleteStrategy"
    REORDER_STRATEGY = "reorderStrategy"
    PATCH_VARIANT = "patchVariant"
    ARCHIVE_FEATURE = "archiveFeature"
    ADD_DEPENDENCY = "addDependency"
    DELETE_DEPENDENCY = "deleteDependency"
    UPDATE_IMPRESSION_DATA = "updateImpressionData"
    ADD_RELEASE_PLAN = "addReleasePlan"
    START_MILESTONE = "startMilestone"
    UPDATE_SEGMENT = "updateSegment"
    DELETE_SEGMENT = "deleteSegment"
    UPDATE_APPROVALS = "updateApprovals"
    REMOVE_ENVIRONMENT = "removeEnvironment"
    ARCHIVE_PROJECT = "archiveProject"

    @property
    def is_on_segment(self) -> bool:
        return self in {Action.UPDATE_SEGMENT, Action.DELETE_SEGMENT}

    @property
    def is_on_project(self) -> bool:
        return self in ON_PROJECT

    @property
    def is_on_feature(self) -> bool:
        return not (self.is_on_segment or self.is_on_project)


ON_RELEASE = frozenset({Action.ADD_RELEASE_PLAN, Action.START_MILESTONE})
"""Actions whose outcome has the later steps of a release too."""
PLAN = "release"
"""In a document of an outcome: what the release that the request starts does at each step."""
ON_PROJECT = frozenset({Action.UPDATE_APPROVALS, Action.REMOVE_ENVIRONMENT, Action.ARCHIVE_PROJECT})
"""Actions that can end the need for approvals. A change request has one of them, or others."""


class StepKind(StrEnum):
    """Kinds of steps in the history of a change request."""

    OPENED = "opened"
    EDITED = "edited"
    WITHDRAWN = "withdrawn"
    APPROVED = "approved"
    APPROVAL_WITHDRAWN = "approval-withdrawn"
    REJECTED = "rejected"
    COMMENTED = "commented"
    CHANGED = "changed"
    SCHEDULED = "scheduled"
    UNSCHEDULED = "unscheduled"
    APPLIED = "applied"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ChangeRequest(Model):
    """Changes to one environment of a project, reviewed and applied together.

    ``version``: counts edits, so that no one approves what they have not seen. ``failure``: why it
    could not be applied at ``scheduled_at``. ``required_approvals``, ``closed_at``: set when it is
    closed. ``batch_id``: of the events of applying it. ``reverses_id``: the request that it undoes.
    Authors without an account, such as the command line, have a name only.
    ``digest``: of the outcome, for which approvals are given. ``is_outdated``: whether people had
    approved another outcome. ``obstacle``: why it can’t be applied as things are now.
    ``checked_to``: the id of the last event that the outcome takes into account.
    """

    __tablename__ = "change_requests"

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    environment: Mapped[str] = mapped_column(ForeignKey("environments.name"), index=True)
    state: Mapped[State] = mapped_column(enum_of(State), default=State.DRAFT)
    version: Mapped[int] = mapped_column(default=1)
    title: Mapped[str | None] = mapped_column(String(MAX_TITLE))
    description: Mapped[str | None] = mapped_column(Text)
    created_by: Mapped[str] = mapped_column(String(255))
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    scheduled_at: Mapped[datetime | None]
    scheduled_by: Mapped[str | None] = mapped_column(String(255))
    scheduled_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    failure: Mapped[str | None] = mapped_column(Text)
    closed_at: Mapped[datetime | None]
    required_approvals: Mapped[int | None]
    digest: Mapped[str | None] = mapped_column(String(64))
    is_outdated: Mapped[bool] = mapped_column(default=False, server_default=false())
    obstacle: Mapped[str | None] = mapped_column(Text)
    checked_to: Mapped[int] = mapped_column(default=0, server_default="0")
    batch_id: Mapped[str | None] = mapped_column(String(36))
    reverses_id: Mapped[int | None] = mapped_column(ForeignKey("change_requests.id"))

    changes: Mapped[list["Change"]] = relationship(
        order_by="Change.id", cascade="all, delete-orphan", lazy="raise"
    )
    outcomes: Mapped[list["Outcome"]] = relationship(
        order_by="Outcome.feature", cascade="all, delete-orphan", lazy="raise"
    )

    __table_args__ = (
        Index(None, "project_id", "state", "id"),
        Index(None, "state", "scheduled_at"),
        CheckConstraint("state <> 'Approved'", name="stored_state"),
        at_most("title", MAX_TITLE),
        NEVER_REUSE_IDS,
    )

    @property
    def is_open(self) -> bool:
        return self.state not in CLOSED


class Change(Model):
    """One change of a feature in the environment, of a segment, or of the project.

    ``payload``: the arguments of the action. ``before``, ``after``: full snapshots; see
    ``snapshots``.
    """

    __tablename__ = "change_request_changes"

    id: Mapped[int] = mapped_column(primary_key=True)
    request_id: Mapped[int] = mapped_column(ForeignKey("change_requests.id"))
    action: Mapped[Action] = mapped_column(enum_of(Action))
    feature_id: Mapped[int | None] = mapped_column(ForeignKey("features.id"), index=True)
    """None also when the feature was deleted: the change stays."""
    subject: Mapped[str] = mapped_column(String(100))
    """The name of the feature or segment, or the id of the project."""
    segment_id: Mapped[int | None]
    """No foreign key: the change stays when the segment is deleted."""
    payload: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=False)
    before: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)
    after: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = (
        Index(None, "request_id", "subject"),
        CheckConstraint("feature_id IS NULL OR segment_id IS NULL", name="one_subject"),
        at_most("subject", 100),
        NEVER_REUSE_IDS,
    )


class Outcome(Model):
    """What applications get of a feature once the request is applied; see ``delivered.Document``.

    None: the feature is off for them. ``before``: what they get without it. ``approved``: what was
    to come when people last approved it or its author last edited it.
    """

    __tablename__ = "change_request_outcomes"

    request_id: Mapped[int] = mapped_column(
        ForeignKey("change_requests.id"), primary_key=True, autoincrement=False
    )
    feature: Mapped[str] = mapped_column(String(100), primary_key=True)
    before: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)
    after: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)
    approved: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)

    __table_args__ = (at_most("feature", 100), {"sqlite_with_rowid": False})


class Approval(Model):
    """A person’s approval of the outcome with this digest.

    It counts while that is the outcome of the request and they are allowed to approve, and for good
    once the request is closed.
    """

    __tablename__ = "change_request_approvals"

    request_id: Mapped[int] = mapped_column(
        ForeignKey("change_requests.id"), primary_key=True, autoincrement=False
    )
    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False, index=True
    )
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    digest: Mapped[str | None] = mapped_column(String(64))

    __table_args__ = ({"sqlite_with_rowid": False},)


class Reviewer(Model):
    """A person who is asked to review a change request. Others can review it too."""

    __tablename__ = "change_request_reviewers"

    request_id: Mapped[int] = mapped_column(
        ForeignKey("change_requests.id"), primary_key=True, autoincrement=False
    )
    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False, index=True
    )

    __table_args__ = ({"sqlite_with_rowid": False},)


class Step(Model):
    """An entry in the history of a change request, with the comment or schedule in ``text``."""

    __tablename__ = "change_request_steps"

    id: Mapped[int] = mapped_column(primary_key=True)
    request_id: Mapped[int] = mapped_column(ForeignKey("change_requests.id"), index=True)
    kind: Mapped[StepKind] = mapped_column(enum_of(StepKind))
    created_by: Mapped[str] = mapped_column(String(255))
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    text: Mapped[str | None] = mapped_column(Text)

    __table_args__ = (NEVER_REUSE_IDS,)


OPEN_REQUESTS = Quota(
    ChangeRequest,
    "drafts and open change requests",
    "person in a project",
    rows=100,
    bytes=10_000_000,
)
"""``bytes``: of the changes, each with what it is about before and after."""
STEPS = Quota(Step, "steps in its history", "change request", rows=1_000, bytes=10_000)
"""What closes it is always possible."""
