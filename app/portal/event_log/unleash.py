from app.core.events.event_types import EventType

UNLEASH = {
    EventType.FEATURE_STRATEGY_ADDED: "feature-strategy-add",
    EventType.FEATURE_STRATEGY_REMOVED: "feature-strategy-remove",
    EventType.FEATURE_STRATEGY_UPDATED: "feature-strategy-update",
    EventType.FEATURE_STRATEGIES_SORTED: "strategy-order-changed",
    EventType.FEATURE_TAGS_CHANGED: "feature-tagged",
    EventType.SDK_TOKEN_CREATED: "api-token-created",
    EventType.SDK_TOKEN_ROTATED: "api-token-updated",
    EventType.SDK_TOKEN_UPDATED: "api-token-updated",
    EventType.SDK_TOKEN_REVOKED: "api-token-deleted",
    EventType.TOKEN_CREATED: "pat-created",
    EventType.TOKEN_ROTATED: "pat-created",
    EventType.TOKEN_REVOKED: "pat-deleted",
    EventType.STRATEGY_TYPE_CREATED: "strategy-created",
    EventType.STRATEGY_TYPE_UPDATED: "strategy-updated",
    EventType.STRATEGY_TYPE_DELETED: "strategy-deleted",
    EventType.CHANGE_REQUEST_OPENED: "change-request-created",
    EventType.CHANGE_REQUEST_EDITED: "change-edited",
    EventType.CHANGE_REQUEST_WITHDRAWN: "change-request-cancelled",
    EventType.CHANGE_REQUEST_FAILED: "change-request-scheduled-application-failure",
    EventType.CHANGE_REQUEST_OUTDATED: "change-request-schedule-suspended",
    EventType.APPROVALS_LOWERED: "change-request-configuration-updated",
    EventType.INACTIVE_USERS_DELETED: "user-deleted",
    EventType.GROUP_MEMBERS_CHANGED: "group-updated",
    EventType.PROJECT_ENVIRONMENTS_UPDATED: "project-updated",
    EventType.WEBHOOK_CREATED: "addon-config-created",
    EventType.WEBHOOK_UPDATED: "addon-config-updated",
    EventType.WEBHOOK_SECRET_ROTATED: "addon-config-updated",
    EventType.WEBHOOK_DELETED: "addon-config-deleted",
    EventType.RELEASE_PLAN_STOPPED: "release-plan-removed",
    EventType.TAG_RENAMED: "tag-created",
    EventType.TAG_MERGED: "tag-deleted",
    EventType.TAG_MERGE_UNDONE: "tag-created",
    EventType.TAG_TYPE_RENAMED: "tag-type-updated",
    EventType.CHANGE_REQUEST_APPROVAL_WITHDRAWN: "change-request-sent-to-review",
    EventType.CHANGE_REQUEST_BYPASSED: "change-request-applied",
    EventType.CHANGE_REQUEST_COMMENTED: "change-edited",
    EventType.CHANGE_REQUEST_UNSCHEDULED: "change-request-schedule-suspended",
    EventType.ACCESS_REVIEW_SIGNED_OFF: "project-access-updated",
    **dict.fromkeys(
        (
            *(EventType.USER_DEACTIVATED, EventType.USER_REACTIVATED, EventType.USER_RESTORED),
            *(EventType.USER_SIGNED_OUT, EventType.PASSWORD_CHANGED),
            *(EventType.RECOVERY_CODES_MADE, EventType.RECOVERY_CODE_USED),
            *(EventType.SECOND_FACTOR_TURNED_ON, EventType.SECOND_FACTOR_TURNED_OFF),
            *(EventType.SETUP_LINK_CREATED, EventType.SETUP_LINK_USED),
            *(EventType.IDENTITY_LINKED, EventType.IDENTITY_UNLINKED),
            EventType.BREAK_GLASS_SIGN_IN,
        ),
        "user-updated",
    ),
    **dict.fromkeys(
        (
            *(EventType.BACKUP_CREATED, EventType.BACKUP_RESTORED, EventType.DATABASE_MOVED),
            *(EventType.SCIM_TOKEN_CREATED, EventType.SCIM_TOKEN_REVOKED),
            *(EventType.SCIM_DISCONNECTED, EventType.BROWSER_ORIGINS_UPDATED),
            *(EventType.MAINTENANCE_MODE_ENABLED, EventType.MAINTENANCE_MODE_DISABLED),
            *(EventType.EVENTS_PRUNED, EventType.INSTANCE_UPGRADED, EventType.APPLICATION_DELETED),
            *(EventType.INSTANCES_ENDED, EventType.INSTANCES_RETURNED),
        ),
        "setting-updated",
    ),
}
"""Names of Unleash for types that it doesn't have: the nearest ones."""


def nearest_in_unleash(type: EventType) -> str:
    """The type as Unleash names it, for clients that know no other."""
    return UNLEASH.get(type, type.value)
