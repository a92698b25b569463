"""Every type of event, declared once: its name, its words and its subject."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Self


class Subject(StrEnum):
    """What types of events are about: their headings in lists, and filters."""

    heading: str

    def __new__(cls, value: str, heading: str) -> Self:
        self = str.__new__(cls, value)
        self._value_ = value
        self.heading = heading
        return self

    SWITCHING = "switching", "Switching and strategies"
    RELEASES = "releases", "Releases"
    CHANGE_REQUESTS = "change-requests", "Change requests"
    FEATURES = "features", "Features, tags and dependencies"
    PROJECTS = "projects", "Projects and environments"
    TARGETING = "targeting", "Segments, fields and kinds of tags"
    PEOPLE = "people", "People and groups"
    TOKENS = "tokens", "Tokens"
    INSTANCE = "instance", "The instance"


@dataclass(frozen=True, slots=True)
class Declared:
    """A type of event.

    ``sentence`` follows the actor's name; names in braces are attributes of ``words._Facts``.
    ``batch``: the sentence for several events of one act, where it differs. ``touches_sdks``:
    whether such an event may change what SDKs get. If not, cached answers stay valid.
    """

    subject: Subject
    type: str
    description: str
    sentence: str
    batch: str | None = None
    touches_sdks: bool = True


_change_requests = partial(Declared, Subject.CHANGE_REQUESTS, touches_sdks=False)
_features = partial(Declared, Subject.FEATURES)
_releases = partial(Declared, Subject.RELEASES, touches_sdks=False)
_switching = partial(Declared, Subject.SWITCHING)
_projects = partial(Declared, Subject.PROJECTS)
_targeting = partial(Declared, Subject.TARGETING)
_people = partial(Declared, Subject.PEOPLE)
_tokens = partial(Declared, Subject.TOKENS)
_instance = partial(Declared, Subject.INSTANCE)


class EventType(StrEnum):
    """A type of event; its value is what the API and webhooks call it."""

    _value_: str
    declared: Declared

    def __new__(cls, declared: Declared) -> Self:
        self = str.__new__(cls, declared.type)
        self._value_ = declared.type
        self.declared = declared
        return self

    ACCESS_REVIEW_SIGNED_OFF = _projects(
        "access-review-signed-off",
        "Someone reviewed the access to a project, and signed off. What they removed is in the "
        "same batch.",
        "signed off the access review of project {project}: {reviewed}",
    )
    APPLICATION_DELETED = _instance(
        "application-deleted",
        "What an application had reported was deleted. If it still runs, it appears again.",
        "deleted application {application}",
    )
    APPROVALS_LOWERED = _projects(
        "approvals-lowered",
        "Changes in an environment of a project need fewer approvals than before, or none.",
        "lowered the approvals that project {project} needs in {environment}",
    )
    BACKUP_CREATED = _instance(
        "backup-created",
        "A backup was created on the command line. The event has its file, size and digest.",
        "created a backup with {rows}",
        touches_sdks=False,
    )
    BACKUP_RESTORED = _instance(
        "backup-restored",
        "This database was restored from a backup. The event says when the backup was created.",
        "restored the backup of {backup_time}",
    )
    BREAK_GLASS_SIGN_IN = _people(
        "break-glass-sign-in",
        "An Admin signed in with a password although sign-in with passwords is off.",
        "signed in with a password, past single sign-on",
    )
    BROWSER_ORIGINS_UPDATED = _instance(
        "browser-origins-updated",
        "The sites whose pages can read features in browsers were changed.",
        "let pages of {origins} read features",
        touches_sdks=False,
    )
    CHANGE_REQUEST_APPLIED = _change_requests(
        "change-request-applied",
        "A change request was applied. All that it changed is in the same batch.",
        "applied {change_request}",
    )
    CHANGE_REQUEST_APPROVAL_WITHDRAWN = _change_requests(
        "change-request-approval-withdrawn",
        "Someone withdrew their approval of a change request.",
        "withdrew their approval of {change_request}",
    )
    CHANGE_REQUEST_APPROVED = _change_requests(
        "change-request-approved",
        "Someone approved a change request.",
        "approved {change_request}",
    )
    CHANGE_REQUEST_BYPASSED = _change_requests(
        "change-request-bypassed",
        "An Admin changed something without the approvals that it needs, and gave a reason.",
        "changed project {project} in {environment} without approval",
    )
    CHANGE_REQUEST_CANCELLED = _change_requests(
        "change-request-cancelled",
        "A change request was closed without applying it.",
        "cancelled {change_request}",
    )
    CHANGE_REQUEST_COMMENTED = _change_requests(
        "change-request-commented",
        "Someone commented on a change request.",
        "commented on {change_request}",
    )
    CHANGE_REQUEST_EDITED = _change_requests(
        "change-request-edited",
        "A change request was edited. Edited changes need all approvals again.",
        "edited {change_request}",
    )
    CHANGE_REQUEST_FAILED = _change_requests(
        "change-request-failed",
        "A change request could not be applied at its time. The event says why.",
        "scheduled {change_request}, which could not be applied",
    )
    CHANGE_REQUEST_OPENED = _change_requests(
        "change-request-opened",
        "A change request was sent for review.",
        "sent {change_request} for review",
    )
    CHANGE_REQUEST_OUTDATED = _change_requests(
        "change-request-outdated",
        "Someone changed something that a change request touches, so it leads to something else. "
        "Approvals for what it led to before don’t count any more.",
        "changed what {change_request} leads to",
    )
    CHANGE_REQUEST_REJECTED = _change_requests(
        "change-request-rejected",
        "A change request was rejected. The event says why.",
        "rejected {change_request}",
    )
    CHANGE_REQUEST_SCHEDULED = _change_requests(
        "change-request-scheduled",
        "A change request was scheduled.",
        "scheduled {change_request}",
    )
    CHANGE_REQUEST_UNSCHEDULED = _change_requests(
        "change-request-unscheduled",
        "A change request is no longer scheduled. Its approvals stay.",
        "ended the schedule of {change_request}",
    )
    CHANGE_REQUEST_WITHDRAWN = _change_requests(
        "change-request-withdrawn",
        "The author made a change request a draft again.",
        "took {change_request} back to edit it",
    )
    CONTEXT_FIELD_CREATED = _targeting(
        "context-field-created",
        "A context field was created.",
        "created context field {context_field}",
    )
    CONTEXT_FIELD_DELETED = _targeting(
        "context-field-deleted",
        "A context field was deleted.",
        "deleted context field {context_field}",
    )
    CONTEXT_FIELD_UPDATED = _targeting(
        "context-field-updated",
        "The legal values or another setting of a context field were changed.",
        "changed context field {context_field}: {changes}",
    )
    DATABASE_MOVED = _instance(
        "database-moved",
        "Everything was moved into this database from another one.",
        "moved {rows} from {source} to this database",
    )
    DEFAULT_STRATEGY_UPDATED = _projects(
        "default-strategy-updated",
        "What features of a project get when they are switched on without a strategy was changed.",
        "changed the default strategy of project {project} in {environment}",
    )
    ENVIRONMENT_CREATED = _projects(
        "environment-created",
        "An environment was created.",
        "created environment {environment}",
    )
    ENVIRONMENT_DELETED = _projects(
        "environment-deleted",
        "An environment was deleted: an import that had created it was undone.",
        "deleted environment {environment}",
    )
    ENVIRONMENT_UPDATED = _projects(
        "environment-updated",
        "An environment was changed, for example deprecated.",
        "changed environment {environment}: {changes}",
    )
    EVENTS_PRUNED = _instance(
        "events-pruned",
        "The oldest events were removed. The event has the digest of the last of them.",
        "removed the oldest {count} events",
    )
    FEATURE_ARCHIVED = _features(
        "feature-archived",
        "A feature was archived. The event has the parent that it depended on.",
        "archived feature {feature}{in_project}",
        batch="archived {features}{in_project}",
    )
    FEATURE_COMPLETED = _features(
        "feature-completed",
        "A feature was marked as completed: it was kept or discarded.",
        "marked feature {feature} as completed: {completion}",
        touches_sdks=False,
    )
    FEATURE_CREATED = _features(
        "feature-created",
        "A feature was created, or imported with all that belongs to it.",
        "created feature {feature}{in_project}",
        batch="created {features}{in_project}",
    )
    FEATURE_DELETED = _features(
        "feature-deleted",
        "An archived feature was deleted for good, or an import that had created one was undone.",
        "deleted feature {feature}{in_project}",
        batch="deleted {features}{in_project}",
    )
    FEATURE_DEPENDENCY_ADDED = _features(
        "feature-dependency-added",
        "A feature was made to depend on another.",
        "made feature {feature} depend on {parent}",
        batch="restored the dependencies of {features}{in_project}",
    )
    FEATURE_DEPENDENCY_REMOVED = _features(
        "feature-dependency-removed",
        "A feature no longer depends on another.",
        "removed the dependency of feature {feature} on {parent}",
        batch="removed the dependencies of {features}{in_project}",
    )
    FEATURE_ENVIRONMENT_DISABLED = _switching(
        "feature-environment-disabled",
        "A feature was switched off in an environment.",
        "switched feature {feature} off in {environment}",
        batch="switched {features} off in {environment}{in_project}",
    )
    FEATURE_ENVIRONMENT_ENABLED = _switching(
        "feature-environment-enabled",
        "A feature was switched on in an environment.",
        "switched feature {feature} on in {environment}",
        batch="switched {features} on in {environment}{in_project}",
    )
    FEATURE_ENVIRONMENT_VARIANTS_UPDATED = _switching(
        "feature-environment-variants-updated",
        "The variants that all strategies of a feature share in an environment were changed.",
        "changed the variants of feature {feature} in {environment}",
    )
    FEATURE_LINK_ADDED = _features(
        "feature-link-added",
        "A feature got a link to a page about it.",
        "added link {link} to feature {feature}",
        touches_sdks=False,
    )
    FEATURE_LINK_REMOVED = _features(
        "feature-link-removed",
        "A link of a feature was removed.",
        "removed link {link} from feature {feature}",
        touches_sdks=False,
    )
    FEATURE_LINK_UPDATED = _features(
        "feature-link-updated",
        "The address or the title of a link of a feature was changed.",
        "changed a link of feature {feature}: {changes}",
        touches_sdks=False,
    )
    FEATURE_REVIVED = _features(
        "feature-revived",
        "An archived feature was revived.",
        "revived feature {feature}{in_project}",
        batch="revived {features}{in_project}",
    )
    FEATURE_STRATEGIES_SORTED = _switching(
        "feature-strategies-sorted",
        "The strategies of a feature were put in another order.",
        "sorted the strategies of feature {feature} in {environment}",
    )
    FEATURE_STRATEGY_ADDED = _switching(
        "feature-strategy-added",
        "A feature got a strategy, which says who gets it in an environment.",
        "added a strategy to feature {feature} in {environment}",
        batch="added {strategies} to feature {feature}{in_project}",
    )
    FEATURE_STRATEGY_REMOVED = _switching(
        "feature-strategy-removed",
        "A strategy of a feature was deleted.",
        "deleted a strategy of feature {feature} in {environment}",
    )
    FEATURE_STRATEGY_UPDATED = _switching(
        "feature-strategy-updated",
        "A strategy of a feature was changed.",
        "changed a strategy of feature {feature} in {environment}: {changes}",
    )
    FEATURE_TAGS_CHANGED = _features(
        "feature-tags-changed",
        "Tags were added to a feature, or removed from it.",
        "changed the tags of feature {feature}: {tags}",
        batch="changed the tags of {features}{in_project}",
    )
    FEATURE_TYPE_UPDATED = _instance(
        "feature-type-updated",
        "How long features of a type are expected to live was changed.",
        "set the lifetime of {feature_type} features to {lifetime}",
        touches_sdks=False,
    )
    FEATURE_UNCOMPLETED = _features(
        "feature-uncompleted",
        "A feature is no longer marked as completed.",
        "marked feature {feature} as not completed",
        touches_sdks=False,
    )
    FEATURE_UPDATED = _features(
        "feature-updated",
        "The type, the description or another setting of a feature was changed.",
        "changed feature {feature}: {changes}",
        batch="changed the type or state of {features}{in_project}",
    )
    GROUP_CREATED = _people(
        "group-created",
        "A group was created, with the roles that it gives.",
        "created group {group}",
    )
    GROUP_DELETED = _people(
        "group-deleted",
        "A group was deleted. Its members lost the roles that it gave.",
        "deleted group {group}",
    )
    GROUP_MEMBERS_CHANGED = _people(
        "group-members-changed",
        "A directory added people to a group or removed them from it.",
        "changed who is in group {group}: {joined}",
    )
    GROUP_UPDATED = _people(
        "group-updated",
        "A group gives other roles than before, or has another name.",
        "changed group {group}: {changes}",
    )
    IDENTITY_LINKED = _people(
        "identity-linked",
        "An account was linked to someone at the single sign-on provider. They can sign in there.",
        "linked {whose} account to {subject_there}",
    )
    IDENTITY_UNLINKED = _people(
        "identity-unlinked",
        "An account was unlinked from someone at the single sign-on provider.",
        "unlinked {whose} account from {subject_there}",
    )
    INACTIVE_USERS_DELETED = _people(
        "inactive-users-deleted",
        "Inactive users were deleted. The event names them, and why others were skipped.",
        "deleted {inactive}",
        touches_sdks=False,
    )
    INSTANCES_ENDED = _features(
        "instances-marked-as-ended",
        "Someone marked instances of applications that were silent after a change as ended. If one "
        "still runs, it appears again.",
        "marked {instances} as ended in {environment}",
        touches_sdks=False,
    )
    INSTANCES_RETURNED = _features(
        "instances-returned",
        "Instances of applications that were silent after a change have asked again. Someone "
        "wanted a notice of that.",
        "heard again from {instances} in {environment}",
        touches_sdks=False,
    )
    INSTANCE_UPGRADED = _instance(
        "instance-upgraded",
        "Another version of Flagstaff serves this instance. The event has both versions.",
        "upgraded Flagstaff {from_version}to {version}",
        touches_sdks=False,
    )
    MAINTENANCE_MODE_DISABLED = _instance(
        "maintenance-mode-disabled",
        "Maintenance mode was switched off: changes are possible again.",
        "switched off maintenance mode",
        touches_sdks=False,
    )
    MAINTENANCE_MODE_ENABLED = _instance(
        "maintenance-mode-enabled",
        "Maintenance mode was switched on: nothing can be changed until it ends.",
        "switched on maintenance mode",
        touches_sdks=False,
    )
    MILESTONE_PROGRESSION_DELETED = _releases(
        "milestone-progression-deleted",
        "The step after another one in a release no longer starts by itself.",
        "let someone start what follows step {step} of the release of {feature} in {environment}",
    )
    MILESTONE_PROGRESSION_UPDATED = _releases(
        "milestone-progression-updated",
        "It was changed when the step after another one in a release starts, or which one it is.",
        "changed what follows step {step} of the release of {feature} in {environment}",
    )
    PASSWORD_CHANGED = _people(
        "password-changed",
        "The password of a user was changed.",
        "changed {whose} password",
        touches_sdks=False,
    )
    PROJECT_ACCESS_UPDATED = _projects(
        "project-access-updated",
        "Members of a project were added, removed or given another role.",
        "changed the members of project {project}: {members}",
        touches_sdks=False,
    )
    PROJECT_ARCHIVED = _projects(
        "project-archived",
        "A project was archived.",
        "archived project {project}",
    )
    PROJECT_CREATED = _projects(
        "project-created",
        "A project was created.",
        "created project {project}",
    )
    PROJECT_DELETED = _projects(
        "project-deleted",
        "A project was deleted: an import that had created it was undone.",
        "deleted project {project}",
    )
    PROJECT_ENVIRONMENTS_UPDATED = _projects(
        "project-environments-updated",
        "The environments of a project were changed, or the approvals that changes there need.",
        "changed project {project}: {changes}",
    )
    PROJECT_REVIVED = _projects(
        "project-revived",
        "An archived project was revived.",
        "revived project {project}",
    )
    PROJECT_UPDATED = _projects(
        "project-updated",
        "The name, the mode or another setting of a project was changed.",
        "changed project {project}: {changes}",
    )
    RECOVERY_CODES_MADE = _people(
        "recovery-codes-made",
        "A user got new recovery codes. Their old ones no longer work.",
        "created new recovery codes{for_other}",
        touches_sdks=False,
    )
    RECOVERY_CODE_USED = _people(
        "recovery-code-used",
        "A user signed in with a recovery code.",
        "signed in with a recovery code{for_other}",
        touches_sdks=False,
    )
    RELEASE_PLAN_ADDED = _releases(
        "release-plan-added",
        "A release of a feature in an environment was created. It may start later.",
        "created a release of {feature} in {environment}",
    )
    RELEASE_PLAN_MILESTONE_STARTED = _releases(
        "release-plan-milestone-started",
        "A step of a release was started. What it changed is in the same batch.",
        "started step {step} of the release of {feature} in {environment}",
    )
    RELEASE_PLAN_PROGRESSIONS_PAUSED = _releases(
        "release-plan-progressions-paused",
        "A release was put on hold. No step starts until someone resumes it.",
        "put the release of {feature} in {environment} on hold{why}",
    )
    RELEASE_PLAN_PROGRESSIONS_RESUMED = _releases(
        "release-plan-progressions-resumed",
        "A release on hold was resumed. The waiting time of its step began again.",
        "resumed the release of {feature} in {environment}",
    )
    RELEASE_PLAN_REMOVED = _releases(
        "release-plan-removed",
        "A release was left: who gets the feature stays as it is, and no further step starts.",
        "left the release of {feature} in {environment}",
    )
    RELEASE_PLAN_STOPPED = _releases(
        "release-plan-stopped",
        "A release was stopped: the feature went off, or got its former strategies back.",
        "stopped the release of {feature} in {environment}{why}",
    )
    RELEASE_PLAN_TEMPLATE_CREATED = _releases(
        "release-plan-template-created",
        "A template for releases was created.",
        "created release template {release_template}",
    )
    RELEASE_PLAN_TEMPLATE_DELETED = _releases(
        "release-plan-template-deleted",
        "A template for releases was deleted. Releases that started from it go on.",
        "deleted release template {release_template}",
    )
    RELEASE_PLAN_TEMPLATE_UPDATED = _releases(
        "release-plan-template-updated",
        "A template for releases was changed. Releases that started from it keep their steps.",
        "changed release template {release_template}",
    )
    SCIM_DISCONNECTED = _people(
        "scim-disconnected",
        "An Admin disconnected the directory. Users and groups are managed by hand again.",
        "disconnected the directory",
    )
    SCIM_TOKEN_CREATED = _tokens(
        "scim-token-created",
        "A token was created, by which a directory manages users and groups.",
        "created SCIM token {scim_token}",
    )
    SCIM_TOKEN_REVOKED = _tokens(
        "scim-token-revoked",
        "A SCIM token was revoked. The directory that has it can no longer change anything.",
        "revoked SCIM token {scim_token}",
    )
    SDK_TOKEN_CREATED = _tokens(
        "sdk-token-created",
        "An SDK token was created. Its secret is stored nowhere.",
        "created SDK token {sdk_token} for {environment}",
        touches_sdks=False,
    )
    SDK_TOKEN_REVOKED = _tokens(
        "sdk-token-revoked",
        "An SDK token was revoked.",
        "revoked SDK token {sdk_token} for {environment}",
        touches_sdks=False,
    )
    SDK_TOKEN_ROTATED = _tokens(
        "sdk-token-rotated",
        "An SDK token was replaced with a new one. The old one expires after the overlap.",
        "rotated SDK token {sdk_token} for {environment}",
        touches_sdks=False,
    )
    SDK_TOKEN_UPDATED = _tokens(
        "sdk-token-updated",
        "When an SDK token expires was changed.",
        "changed when SDK token {sdk_token} expires",
        touches_sdks=False,
    )
    SECOND_FACTOR_TURNED_OFF = _people(
        "second-factor-turned-off",
        "Two-step sign-in was turned off for a user.",
        "turned off two-step sign-in{for_other}",
        touches_sdks=False,
    )
    SECOND_FACTOR_TURNED_ON = _people(
        "second-factor-turned-on",
        "Two-step sign-in was turned on for a user.",
        "turned on two-step sign-in{for_other}",
        touches_sdks=False,
    )
    SEGMENT_CREATED = _targeting(
        "segment-created",
        "A segment was created.",
        "created segment {segment}{in_project}",
    )
    SEGMENT_DELETED = _targeting(
        "segment-deleted",
        "A segment was deleted.",
        "deleted segment {segment}{in_project}",
    )
    SEGMENT_UPDATED = _targeting(
        "segment-updated",
        "The constraints or another setting of a segment were changed.",
        "changed segment {segment}{in_project}: {changes}",
    )
    SERVICE_ACCOUNT_CREATED = _people(
        "service-account-created",
        "A service account was created.",
        "created service account {account}",
        touches_sdks=False,
    )
    SERVICE_ACCOUNT_DELETED = _people(
        "service-account-deleted",
        "A service account was deleted. Its tokens no longer work.",
        "deleted service account {account}",
        touches_sdks=False,
    )
    SERVICE_ACCOUNT_UPDATED = _people(
        "service-account-updated",
        "The role or another setting of a service account was changed.",
        "changed service account {account}: {changes}",
        touches_sdks=False,
    )
    SETUP_LINK_CREATED = _people(
        "setup-link-created",
        "A one-time link to set a user’s password was created.",
        "created a link to set {whose} password",
        touches_sdks=False,
    )
    SETUP_LINK_USED = _people(
        "setup-link-used",
        "A link to set a password was used. The event names who had created it.",
        "used a link to set {whose} password, which {maker} had created",
        touches_sdks=False,
    )
    STRATEGY_TYPE_CREATED = _targeting(
        "strategy-type-created",
        "A type of strategy was created.",
        "created strategy type {strategy_type}",
    )
    STRATEGY_TYPE_DELETED = _targeting(
        "strategy-type-deleted",
        "A type of strategy was deleted.",
        "deleted strategy type {strategy_type}",
    )
    STRATEGY_TYPE_UPDATED = _targeting(
        "strategy-type-updated",
        "The parameters or another setting of a type of strategy were changed.",
        "changed strategy type {strategy_type}: {changes}",
    )
    TAG_CREATED = _features(
        "tag-created", "A tag was created before a feature had it.", "created tag {tag}"
    )
    TAG_DELETED = _features("tag-deleted", "An unused tag was deleted.", "deleted tag {tag}")
    TAG_MERGED = _features(
        "tag-merged",
        "A tag was replaced by another on all its features, and deleted.",
        "merged tag {tag} into {new_tag}",
    )
    TAG_MERGE_UNDONE = _features(
        "tag-merge-undone",
        "The merge of two tags was undone.",
        "separated tag {new_tag} from {tag} again",
    )
    TAG_RENAMED = _features(
        "tag-renamed",
        "A tag was renamed on all its features.",
        "renamed tag {tag} to {new_tag}",
    )
    TAG_TYPE_CREATED = _targeting(
        "tag-type-created",
        "A tag type was created.",
        "created tag type {tag_type}",
    )
    TAG_TYPE_DELETED = _targeting(
        "tag-type-deleted",
        "A tag type was deleted.",
        "deleted tag type {tag_type}",
    )
    TAG_TYPE_RENAMED = _targeting(
        "tag-type-renamed",
        "A tag type was renamed, and its tags on all features with it.",
        "renamed tag type {old_name} to {tag_type}",
    )
    TAG_TYPE_UPDATED = _targeting(
        "tag-type-updated",
        "A tag type was changed.",
        "changed tag type {tag_type}: {changes}",
    )
    TOKEN_CREATED = _tokens(
        "token-created",
        "A token was created. The event has its owner and when it expires.",
        "created token {token}{for_other}",
        touches_sdks=False,
    )
    TOKEN_REVOKED = _tokens(
        "token-revoked",
        "A token was revoked. It no longer works.",
        "revoked token {token}{of_other}",
        touches_sdks=False,
    )
    TOKEN_ROTATED = _tokens(
        "token-rotated",
        "A token was replaced. The event has when the old one stops working.",
        "rotated token {token}{of_other}",
        touches_sdks=False,
    )
    USER_CREATED = _people(
        "user-created",
        "A user was created.",
        "created {new_user}",
        touches_sdks=False,
    )
    USER_DEACTIVATED = _people(
        "user-deactivated",
        "A user was deactivated. Their sessions and tokens ended; their roles stay.",
        "deactivated user {account}",
        batch="deactivated {users}",
        touches_sdks=False,
    )
    USER_DELETED = _people(
        "user-deleted",
        "A user was deleted. An Admin can restore them within 30 days.",
        "deleted user {account}",
        batch="deleted {users}",
        touches_sdks=False,
    )
    USER_REACTIVATED = _people(
        "user-reactivated",
        "A deactivated user was activated again. Their roles still hold; their tokens don’t.",
        "activated user {account} again",
        batch="activated {users} again",
        touches_sdks=False,
    )
    USER_RESTORED = _people(
        "user-restored",
        "A deleted user was restored.",
        "restored user {account}",
        batch="restored {users}",
        touches_sdks=False,
    )
    USER_SIGNED_OUT = _people(
        "user-signed-out",
        "All sessions of a user were ended.",
        "signed {account} out everywhere",
        batch="signed {users} out everywhere",
        touches_sdks=False,
    )
    USER_UPDATED = _people(
        "user-updated",
        "The role or another detail of a user was changed.",
        "changed {whose} account: {changes}",
        batch="changed the role of {users}",
        touches_sdks=False,
    )
    WEBHOOK_CREATED = _instance(
        "webhook-created",
        "A webhook was created. The event has its host, not the whole address.",
        "created webhook {webhook}",
    )
    WEBHOOK_DELETED = _instance(
        "webhook-deleted",
        "A webhook was deleted.",
        "deleted webhook {webhook}",
    )
    WEBHOOK_SECRET_ROTATED = _instance(
        "webhook-secret-rotated",
        "A webhook got a new secret. Messages are signed with the old one too for 24 hours.",
        "rotated the secret of webhook {webhook}",
    )
    WEBHOOK_UPDATED = _instance(
        "webhook-updated",
        "The address, the events or another setting of a webhook were changed.",
        "changed webhook {webhook}",
    )


def types_named(name: str) -> list[EventType]:
    """The type with that value; for a subject, all about it."""
    of_subject = [type for type in EventType if type.declared.subject == name]
    return of_subject or [type for type in EventType if type == name]


def types_about(subject: Subject) -> list[EventType]:
    return [type for type in EventType if type.declared.subject is subject]
