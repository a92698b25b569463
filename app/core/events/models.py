from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Index, LargeBinary, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.columns import enum_of
from app.core.db import NEVER_REUSE_IDS, Model


class EventType(StrEnum):
    ACCESS_REVIEW_SIGNED_OFF = "access-review-signed-off"
    APPLICATION_DELETED = "application-deleted"
    APPROVALS_LOWERED = "approvals-lowered"
    BACKUP_CREATED = "backup-created"
    BACKUP_RESTORED = "backup-restored"
    BREAK_GLASS_SIGN_IN = "break-glass-sign-in"
    BROWSER_ORIGINS_UPDATED = "browser-origins-updated"
    CHANGE_REQUEST_APPLIED = "change-request-applied"
    CHANGE_REQUEST_APPROVAL_WITHDRAWN = "change-request-approval-withdrawn"
    CHANGE_REQUEST_APPROVED = "change-request-approved"
    CHANGE_REQUEST_BYPASSED = "change-request-bypassed"
    CHANGE_REQUEST_CANCELLED = "change-request-cancelled"
    CHANGE_REQUEST_COMMENTED = "change-request-commented"
    CHANGE_REQUEST_EDITED = "change-request-edited"
    CHANGE_REQUEST_FAILED = "change-request-failed"
    CHANGE_REQUEST_OPENED = "change-request-opened"
    CHANGE_REQUEST_REJECTED = "change-request-rejected"
    CHANGE_REQUEST_SCHEDULED = "change-request-scheduled"
    CHANGE_REQUEST_UNSCHEDULED = "change-request-unscheduled"
    CHANGE_REQUEST_WITHDRAWN = "change-request-withdrawn"
    CONTEXT_FIELD_CREATED = "context-field-created"
    CONTEXT_FIELD_DELETED = "context-field-deleted"
    CONTEXT_FIELD_UPDATED = "context-field-updated"
    DATABASE_MOVED = "database-moved"
    DEFAULT_STRATEGY_UPDATED = "default-strategy-updated"
    ENVIRONMENT_CREATED = "environment-created"
    ENVIRONMENT_DELETED = "environment-deleted"
    ENVIRONMENT_UPDATED = "environment-updated"
    EVENTS_PRUNED = "events-pruned"
    FEATURE_ARCHIVED = "feature-archived"
    FEATURE_COMPLETED = "feature-completed"
    FEATURE_CREATED = "feature-created"
    FEATURE_DELETED = "feature-deleted"
    FEATURE_DEPENDENCY_ADDED = "feature-dependency-added"
    FEATURE_DEPENDENCY_REMOVED = "feature-dependency-removed"
    FEATURE_ENVIRONMENT_DISABLED = "feature-environment-disabled"
    FEATURE_ENVIRONMENT_ENABLED = "feature-environment-enabled"
    FEATURE_ENVIRONMENT_VARIANTS_UPDATED = "feature-environment-variants-updated"
    FEATURE_REVIVED = "feature-revived"
    FEATURE_STRATEGIES_SORTED = "feature-strategies-sorted"
    FEATURE_STRATEGY_ADDED = "feature-strategy-added"
    FEATURE_STRATEGY_REMOVED = "feature-strategy-removed"
    FEATURE_STRATEGY_UPDATED = "feature-strategy-updated"
    FEATURE_TAGS_CHANGED = "feature-tags-changed"
    FEATURE_UNCOMPLETED = "feature-uncompleted"
    FEATURE_UPDATED = "feature-updated"
    GROUP_CREATED = "group-created"
    GROUP_DELETED = "group-deleted"
    GROUP_MEMBERS_CHANGED = "group-members-changed"
    GROUP_UPDATED = "group-updated"
    IDENTITY_LINKED = "identity-linked"
    IDENTITY_UNLINKED = "identity-unlinked"
    INACTIVE_USERS_DELETED = "inactive-users-deleted"
    PASSWORD_CHANGED = "password-changed"
    PROJECT_ACCESS_UPDATED = "project-access-updated"
    PROJECT_ARCHIVED = "project-archived"
    PROJECT_CREATED = "project-created"
    PROJECT_DELETED = "project-deleted"
    PROJECT_ENVIRONMENTS_UPDATED = "project-environments-updated"
    PROJECT_REVIVED = "project-revived"
    PROJECT_UPDATED = "project-updated"
    RECOVERY_CODES_MADE = "recovery-codes-made"
    RECOVERY_CODE_USED = "recovery-code-used"
    SCIM_DISCONNECTED = "scim-disconnected"
    SCIM_TOKEN_CREATED = "scim-token-created"
    SCIM_TOKEN_REVOKED = "scim-token-revoked"
    SDK_TOKEN_CREATED = "sdk-token-created"
    SDK_TOKEN_REVOKED = "sdk-token-revoked"
    SDK_TOKEN_ROTATED = "sdk-token-rotated"
    SDK_TOKEN_UPDATED = "sdk-token-updated"
    SECOND_FACTOR_TURNED_OFF = "second-factor-turned-off"
    SECOND_FACTOR_TURNED_ON = "second-factor-turned-on"
    SEGMENT_CREATED = "segment-created"
    SEGMENT_DELETED = "segment-deleted"
    SEGMENT_UPDATED = "segment-updated"
    SERVICE_ACCOUNT_CREATED = "service-account-created"
    SERVICE_ACCOUNT_DELETED = "service-account-deleted"
    SERVICE_ACCOUNT_UPDATED = "service-account-updated"
    SETUP_LINK_CREATED = "setup-link-created"
    SETUP_LINK_USED = "setup-link-used"
    STRATEGY_TYPE_CREATED = "strategy-type-created"
    STRATEGY_TYPE_DELETED = "strategy-type-deleted"
    STRATEGY_TYPE_UPDATED = "strategy-type-updated"
    TAG_DELETED = "tag-deleted"
    TAG_MERGED = "tag-merged"
    TAG_MERGE_UNDONE = "tag-merge-undone"
    TAG_RENAMED = "tag-renamed"
    TAG_TYPE_CREATED = "tag-type-created"
    TAG_TYPE_DELETED = "tag-type-deleted"
    TAG_TYPE_RENAMED = "tag-type-renamed"
    TAG_TYPE_UPDATED = "tag-type-updated"
    TOKEN_CREATED = "token-created"
    TOKEN_REVOKED = "token-revoked"
    TOKEN_ROTATED = "token-rotated"
    USER_CREATED = "user-created"
    USER_DEACTIVATED = "user-deactivated"
    USER_DELETED = "user-deleted"
    USER_REACTIVATED = "user-reactivated"
    USER_RESTORED = "user-restored"
    USER_SIGNED_OUT = "user-signed-out"
    USER_UPDATED = "user-updated"
    WEBHOOK_CREATED = "webhook-created"
    WEBHOOK_DELETED = "webhook-deleted"
    WEBHOOK_SECRET_ROTATED = "webhook-secret-rotated"
    WEBHOOK_UPDATED = "webhook-updated"


class Event(Model):
    """What happened, in words that outlive the rows it happened to: no foreign keys."""

    __tablename__ = "events"

    id: Mapped[int] = mapped_column(primary_key=True)
    # Without a constraint: a new type of event must not need a new table.
    type: Mapped[EventType] = mapped_column(enum_of(EventType, constrained=False))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    created_by: Mapped[str] = mapped_column(String(255))
    created_by_user_id: Mapped[int | None]
    token_id: Mapped[int | None]
    ip: Mapped[str | None] = mapped_column(String(45))
    project: Mapped[str | None] = mapped_column(String(100))
    feature_name: Mapped[str | None] = mapped_column(String(100))
    data: Mapped[dict[str, Any] | None]
    pre_data: Mapped[dict[str, Any] | None]
    reason: Mapped[str | None] = mapped_column(Text)
    batch_id: Mapped[str | None] = mapped_column(String(36))
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), server_default=text("''"))
    """Of this event and the digest before it; see ``app/core/events/chain.py``."""

    __table_args__ = (
        Index(None, "type", "id"),
        Index(None, "project", "id"),
        Index(None, "feature_name", "id"),
        Index(None, "created_by_user_id", "id"),
        Index(None, "batch_id", "id"),
        Index(None, "created_at"),
        NEVER_REUSE_IDS,
    )


class EventHead(Model):
    """The one row that says where the log ends, and what was taken away from its beginning.

    The database refuses to delete events newer than ``pruned_to``.
    """

    __tablename__ = "event_heads"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    last_id: Mapped[int]
    digest: Mapped[bytes] = mapped_column(LargeBinary(32))
    pruned_to: Mapped[int]
    pruned_digest: Mapped[bytes] = mapped_column(LargeBinary(32))
