"""What each type of event means, in words: for the help, the pages, files and the command line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, NamedTuple

from app.core.events.models import Event, EventType
from app.core.permissions import Role
from app.core.words import counted, spoken

SHOWN = 5
LONGEST_VALUE = 40


class EventWords(NamedTuple):
    """``sentence`` follows the name of who did it; names in braces are attributes of _Facts.

    ``batch``: the sentence for several events of one act, where it differs.
    """

    description: str
    sentence: str
    batch: str | None = None


WORDS = {
    EventType.ACCESS_REVIEW_SIGNED_OFF: EventWords(
        "Someone reviewed the access to a project, and signed off. What they removed is in "
        "the same batch.",
        "signed off the access review of project {project}: {reviewed}",
    ),
    EventType.APPLICATION_DELETED: EventWords(
        "What an application had reported was deleted. If it still runs, it appears again.",
        "deleted application {application}",
    ),
    EventType.APPROVALS_LOWERED: EventWords(
        "Changes in an environment of a project need fewer approvals than before, or none.",
        "lowered the approvals that project {project} needs in {environment}",
    ),
    EventType.BACKUP_CREATED: EventWords(
        "A backup was created on the command line. The event has its file, size and digest.",
        "created a backup with {rows}",
    ),
    EventType.BACKUP_RESTORED: EventWords(
        "This database was restored from a backup. The event says when the backup was created.",
        "restored the backup of {backup_time}",
    ),
    EventType.BREAK_GLASS_SIGN_IN: EventWords(
        "An Admin signed in with a password although sign-in with passwords is off.",
        "signed in with a password, past single sign-on",
    ),
    EventType.BROWSER_ORIGINS_UPDATED: EventWords(
        "The sites whose pages can read features in browsers were changed.",
        "let pages of {origins} read features",
    ),
    EventType.CHANGE_REQUEST_APPLIED: EventWords(
        "A change request was applied. All that it changed is in the same batch.",
        "applied {change_request}",
    ),
    EventType.CHANGE_REQUEST_APPROVAL_WITHDRAWN: EventWords(
        "Someone withdrew their approval of a change request.",
        "withdrew their approval of {change_request}",
    ),
    EventType.CHANGE_REQUEST_APPROVED: EventWords(
        "Someone approved a change request.",
        "approved {change_request}",
    ),
    EventType.CHANGE_REQUEST_BYPASSED: EventWords(
        "An Admin changed something without the approvals that it needs, and gave a reason.",
        "changed project {project} in {environment} without approval",
    ),
    EventType.CHANGE_REQUEST_CANCELLED: EventWords(
        "A change request was closed without applying it.",
        "cancelled {change_request}",
    ),
    EventType.CHANGE_REQUEST_COMMENTED: EventWords(
        "Someone commented on a change request.",
        "commented on {change_request}",
    ),
    EventType.CHANGE_REQUEST_EDITED: EventWords(
        "A change request was edited. Edited changes need all approvals again.",
        "edited {change_request}",
    ),
    EventType.CHANGE_REQUEST_FAILED: EventWords(
        "A change request could not be applied at its time. The event says why.",
        "scheduled {change_request}, which could not be applied",
    ),
    EventType.CHANGE_REQUEST_OPENED: EventWords(
        "A change request was sent for review.",
        "sent {change_request} for review",
    ),
    EventType.CHANGE_REQUEST_REJECTED: EventWords(
        "A change request was rejected. The event says why.",
        "rejected {change_request}",
    ),
    EventType.CHANGE_REQUEST_SCHEDULED: EventWords(
        "A change request was scheduled.",
        "scheduled {change_request}",
    ),
    EventType.CHANGE_REQUEST_UNSCHEDULED: EventWords(
        "A change request is no longer scheduled. Its approvals stay.",
        "ended the schedule of {change_request}",
    ),
    EventType.CHANGE_REQUEST_WITHDRAWN: EventWords(
        "The author made a change request a draft again.",
        "took {change_request} back to edit it",
    ),
    EventType.CONTEXT_FIELD_CREATED: EventWords(
        "A context field was created.", "created context field {context_field}"
    ),
    EventType.CONTEXT_FIELD_DELETED: EventWords(
        "A context field was deleted.", "deleted context field {context_field}"
    ),
    EventType.CONTEXT_FIELD_UPDATED: EventWords(
        "The legal values or another setting of a context field were changed.",
        "changed context field {context_field}: {changes}",
    ),
    EventType.DATABASE_MOVED: EventWords(
        "Everything was moved into this database from another one.",
        "moved {rows} from {source} to this database",
    ),
    EventType.DEFAULT_STRATEGY_UPDATED: EventWords(
        "What features of a project get when they are switched on without a strategy was changed.",
        "changed the default strategy of project {project} in {environment}",
    ),
    EventType.ENVIRONMENT_CREATED: EventWords(
        "An environment was created.", "created environment {environment}"
    ),
    EventType.ENVIRONMENT_DELETED: EventWords(
        "An environment was deleted: an import that had created it was undone.",
        "deleted environment {environment}",
    ),
    EventType.ENVIRONMENT_UPDATED: EventWords(
        "An environment was changed, for example deprecated.",
        "changed environment {environment}: {changes}",
    ),
    EventType.EVENTS_PRUNED: EventWords(
        "The oldest events were removed. The event has the digest of the last of them.",
        "removed the oldest {count} events",
    ),
    EventType.FEATURE_ARCHIVED: EventWords(
        "A feature was archived. The event has the parent that it depended on.",
        "archived feature {feature}{in_project}",
        "archived {features}{in_project}",
    ),
    EventType.FEATURE_COMPLETED: EventWords(
        "A feature was marked as completed: it was kept or discarded.",
        "marked feature {feature} as completed: {completion}",
    ),
    EventType.FEATURE_CREATED: EventWords(
        "A feature was created, or imported with all that belongs to it.",
        "created feature {feature}{in_project}",
        "created {features}{in_project}",
    ),
    EventType.FEATURE_DELETED: EventWords(
        "A feature was deleted: an import that had created it was undone.",
        "deleted feature {feature}{in_project}",
        "deleted {features}{in_project}",
    ),
    EventType.FEATURE_DEPENDENCY_ADDED: EventWords(
        "A feature was made to depend on another.",
        "made feature {feature} depend on {parent}",
        "restored the dependencies of {features}{in_project}",
    ),
    EventType.FEATURE_DEPENDENCY_REMOVED: EventWords(
        "A feature no longer depends on another.",
        "removed the dependency of feature {feature} on {parent}",
        "removed the dependencies of {features}{in_project}",
    ),
    EventType.FEATURE_ENVIRONMENT_DISABLED: EventWords(
        "A feature was switched off in an environment.",
        "switched feature {feature} off in {environment}",
        "switched {features} off in {environment}{in_project}",
    ),
    EventType.FEATURE_ENVIRONMENT_ENABLED: EventWords(
        "A feature was switched on in an environment.",
        "switched feature {feature} on in {environment}",
        "switched {features} on in {environment}{in_project}",
    ),
    EventType.FEATURE_ENVIRONMENT_VARIANTS_UPDATED: EventWords(
        "The variants that all strategies of a feature share in an environment were changed.",
        "changed the variants of feature {feature} in {environment}",
    ),
    EventType.FEATURE_REVIVED: EventWords(
        "An archived feature was revived.",
        "revived feature {feature}{in_project}",
        "revived {features}{in_project}",
    ),
    EventType.FEATURE_STRATEGIES_SORTED: EventWords(
        "The strategies of a feature were put in another order.",
        "sorted the strategies of feature {feature} in {environment}",
    ),
    EventType.FEATURE_STRATEGY_ADDED: EventWords(
        "A feature got a strategy, which says who gets it in an environment.",
        "added a strategy to feature {feature} in {environment}",
        "added {strategies} to feature {feature}{in_project}",
    ),
    EventType.FEATURE_STRATEGY_REMOVED: EventWords(
        "A strategy of a feature was deleted.",
        "deleted a strategy of feature {feature} in {environment}",
    ),
    EventType.FEATURE_STRATEGY_UPDATED: EventWords(
        "A strategy of a feature was changed.",
        "changed a strategy of feature {feature} in {environment}: {changes}",
    ),
    EventType.FEATURE_TAGS_CHANGED: EventWords(
        "Tags were added to a feature, or removed from it.",
        "changed the tags of feature {feature}: {tags}",
        "changed the tags of {features}{in_project}",
    ),
    EventType.FEATURE_UNCOMPLETED: EventWords(
        "A feature is no longer marked as completed.",
        "marked feature {feature} as not completed",
    ),
    EventType.FEATURE_UPDATED: EventWords(
        "The type, the description or another setting of a feature was changed.",
        "changed feature {feature}: {changes}",
        "changed the type or state of {features}{in_project}",
    ),
    EventType.GROUP_CREATED: EventWords(
        "A group was created, with the roles that it gives.", "created group {group}"
    ),
    EventType.GROUP_DELETED: EventWords(
        "A group was deleted. Its members lost the roles that it gave.", "deleted group {group}"
    ),
    EventType.GROUP_MEMBERS_CHANGED: EventWords(
        "A directory added people to a group or removed them from it.",
        "changed who is in group {group}: {joined}",
    ),
    EventType.GROUP_UPDATED: EventWords(
        "A group gives other roles than before, or has another name.",
        "changed group {group}: {changes}",
    ),
    EventType.IDENTITY_LINKED: EventWords(
        "An account was linked to someone at the single sign-on provider. They can sign in there.",
        "linked {whose} account to {subject_there}",
    ),
    EventType.IDENTITY_UNLINKED: EventWords(
        "An account was unlinked from someone at the single sign-on provider.",
        "unlinked {whose} account from {subject_there}",
    ),
    EventType.INACTIVE_USERS_DELETED: EventWords(
        "Inactive users were deleted. The event names them, and why others were skipped.",
        "deleted {inactive}",
    ),
    EventType.PASSWORD_CHANGED: EventWords(
        "The password of a user was changed.", "changed {whose} password"
    ),
    EventType.PROJECT_ACCESS_UPDATED: EventWords(
        "Members of a project were added, removed or given another role.",
        "changed the members of project {project}: {members}",
    ),
    EventType.PROJECT_ARCHIVED: EventWords("A project was archived.", "archived project {project}"),
    EventType.PROJECT_CREATED: EventWords("A project was created.", "created project {project}"),
    EventType.PROJECT_DELETED: EventWords(
        "A project was deleted: an import that had created it was undone.",
        "deleted project {project}",
    ),
    EventType.PROJECT_ENVIRONMENTS_UPDATED: EventWords(
        "The environments of a project were changed, or the approvals that changes there need.",
        "changed project {project}: {changes}",
    ),
    EventType.PROJECT_REVIVED: EventWords(
        "An archived project was revived.", "revived project {project}"
    ),
    EventType.PROJECT_UPDATED: EventWords(
        "The name, the mode or another setting of a project was changed.",
        "changed project {project}: {changes}",
    ),
    EventType.RECOVERY_CODES_MADE: EventWords(
        "A user got new recovery codes. Their old ones no longer work.",
        "created new recovery codes{for_other}",
    ),
    EventType.RECOVERY_CODE_USED: EventWords(
        "A user signed in with a recovery code.", "signed in with a recovery code{for_other}"
    ),
    EventType.SCIM_DISCONNECTED: EventWords(
        "An Admin disconnected the directory. Users and groups are managed by hand again.",
        "disconnected the directory",
    ),
    EventType.SCIM_TOKEN_CREATED: EventWords(
        "A token was created, by which a directory manages users and groups.",
        "created SCIM token {scim_token}",
    ),
    EventType.SCIM_TOKEN_REVOKED: EventWords(
        "A SCIM token was revoked. The directory that has it can no longer change anything.",
        "revoked SCIM token {scim_token}",
    ),
    EventType.SDK_TOKEN_CREATED: EventWords(
        "An SDK token was created. Its secret is stored nowhere.",
        "created SDK token {sdk_token} for {environment}",
    ),
    EventType.SDK_TOKEN_REVOKED: EventWords(
        "An SDK token was revoked.", "revoked SDK token {sdk_token} for {environment}"
    ),
    EventType.SDK_TOKEN_ROTATED: EventWords(
        "An SDK token was replaced with a new one. The old one expires after the overlap.",
        "rotated SDK token {sdk_token} for {environment}",
    ),
    EventType.SDK_TOKEN_UPDATED: EventWords(
        "When an SDK token expires was changed.",
        "changed when SDK token {sdk_token} expires",
    ),
    EventType.SECOND_FACTOR_TURNED_OFF: EventWords(
        "Two-step sign-in was turned off for a user.", "turned off two-step sign-in{for_other}"
    ),
    EventType.SECOND_FACTOR_TURNED_ON: EventWords(
        "Two-step sign-in was turned on for a user.", "turned on two-step sign-in{for_other}"
    ),
    EventType.SEGMENT_CREATED: EventWords(
        "A segment was created.", "created segment {segment}{in_project}"
    ),
    EventType.SEGMENT_DELETED: EventWords(
        "A segment was deleted.", "deleted segment {segment}{in_project}"
    ),
    EventType.SEGMENT_UPDATED: EventWords(
        "The constraints or another setting of a segment were changed.",
        "changed segment {segment}{in_project}: {changes}",
    ),
    EventType.SERVICE_ACCOUNT_CREATED: EventWords(
        "A service account was created.", "created service account {account}"
    ),
    EventType.SERVICE_ACCOUNT_DELETED: EventWords(
        "A service account was deleted. Its tokens no longer work.",
        "deleted service account {account}",
    ),
    EventType.SERVICE_ACCOUNT_UPDATED: EventWords(
        "The role or another setting of a service account was changed.",
        "changed service account {account}: {changes}",
    ),
    EventType.SETUP_LINK_CREATED: EventWords(
        "A one-time link to set a user’s password was created.",
        "created a link to set {whose} password",
    ),
    EventType.SETUP_LINK_USED: EventWords(
        "A link to set a password was used. The event names who had created it.",
        "used a link to set {whose} password, which {maker} had created",
    ),
    EventType.STRATEGY_TYPE_CREATED: EventWords(
        "A type of strategy was created.", "created strategy type {strategy_type}"
    ),
    EventType.STRATEGY_TYPE_DELETED: EventWords(
        "A type of strategy was deleted.", "deleted strategy type {strategy_type}"
    ),
    EventType.STRATEGY_TYPE_UPDATED: EventWords(
        "The parameters or another setting of a type of strategy were changed.",
        "changed strategy type {strategy_type}: {changes}",
    ),
    EventType.TAG_DELETED: EventWords("An unused tag was deleted.", "deleted tag {tag}"),
    EventType.TAG_MERGED: EventWords(
        "A tag was replaced by another on all its features, and deleted.",
        "merged tag {tag} into {new_tag}",
    ),
    EventType.TAG_MERGE_UNDONE: EventWords(
        "The merge of two tags was undone.", "separated tag {new_tag} from {tag} again"
    ),
    EventType.TAG_RENAMED: EventWords(
        "A tag was renamed on all its features.", "renamed tag {tag} to {new_tag}"
    ),
    EventType.TAG_TYPE_CREATED: EventWords(
        "A tag type was created.", "created tag type {tag_type}"
    ),
    EventType.TAG_TYPE_DELETED: EventWords(
        "A tag type was deleted.", "deleted tag type {tag_type}"
    ),
    EventType.TAG_TYPE_RENAMED: EventWords(
        "A tag type was renamed, and its tags on all features with it.",
        "renamed tag type {old_name} to {tag_type}",
    ),
    EventType.TAG_TYPE_UPDATED: EventWords(
        "A tag type was changed.", "changed tag type {tag_type}: {changes}"
    ),
    EventType.TOKEN_CREATED: EventWords(
        "A token was created. The event has its owner and when it expires.",
        "created token {token}{for_other}",
    ),
    EventType.TOKEN_REVOKED: EventWords(
        "A token was revoked. It no longer works.", "revoked token {token}{of_other}"
    ),
    EventType.TOKEN_ROTATED: EventWords(
        "A token was replaced. The event has when the old one stops working.",
        "rotated token {token}{of_other}",
    ),
    EventType.USER_CREATED: EventWords("A user was created.", "created user {account}"),
    EventType.USER_DEACTIVATED: EventWords(
        "A directory deactivated a user. Their sessions and tokens ended; their roles stay.",
        "deactivated user {account}",
        "deactivated {users}",
    ),
    EventType.USER_DELETED: EventWords(
        "A user was deleted. An Admin can restore them within 30 days.",
        "deleted user {account}",
        "deleted {users}",
    ),
    EventType.USER_REACTIVATED: EventWords(
        "A deactivated user was activated again. Their roles still hold; their tokens don’t.",
        "activated user {account} again",
        "activated {users} again",
    ),
    EventType.USER_RESTORED: EventWords(
        "A deleted user was restored.", "restored user {account}", "restored {users}"
    ),
    EventType.USER_SIGNED_OUT: EventWords(
        "All sessions of a user were ended.",
        "signed {account} out everywhere",
        "signed {users} out everywhere",
    ),
    EventType.USER_UPDATED: EventWords(
        "The role or another detail of a user was changed.",
        "changed {whose} account: {changes}",
        "changed the role of {users}",
    ),
    EventType.WEBHOOK_CREATED: EventWords(
        "A webhook was created. The event has its host, not the whole address.",
        "created webhook {webhook}",
    ),
    EventType.WEBHOOK_DELETED: EventWords("A webhook was deleted.", "deleted webhook {webhook}"),
    EventType.WEBHOOK_SECRET_ROTATED: EventWords(
        "A webhook got a new secret. Messages are signed with the old one too for 24 hours.",
        "rotated the secret of webhook {webhook}",
    ),
    EventType.WEBHOOK_UPDATED: EventWords(
        "The address, the events or another setting of a webhook were changed.",
        "changed webhook {webhook}",
    ),
}

FIELDS = {
    "changeRequestEnvironments": "approvals",
    "defaultStickiness": "default stickiness",
    "impressionData": "impression data",
    "legalValues": "legal values",
    "rootRole": "role",
    "sortOrder": "sort order",
}
"""What the fields of ``data`` are called in a sentence, where it is not by their own name."""


class Mention(NamedTuple):
    """Something that a sentence names. ``kind`` and ``id`` say which page shows it, if any."""

    kind: str
    id: Any
    text: str

    def __str__(self) -> str:
        return self.text


Part = str | Mention


class Difference(NamedTuple):
    """A field before and after, as the event recorded it; None where there was none."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Naming:
    """How sentences name accounts: ``reader`` is "you", others have names by their ids.

    An account without a name is named as the event recorded it.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    reader: int | None = None


AS_RECORDED = Naming()


def sentence(event: Event, count: int = 1, naming: Naming = AS_RECORDED) -> str:
    """What happened, to follow the name of who did it; ``count``: events of the batch as one."""
    return "".join(map(str, parts(event, count, naming)))


def parts(event: Event, count: int = 1, naming: Naming = AS_RECORDED) -> list[Part]:
    """The sentence, with all that it names apart from the words between."""
    words, facts = WORDS[event.type], _Facts(event, count, naming)
    template = words.batch if count > 1 and words.batch else words.sentence
    found: list[Part] = []
    for text, name, _, _ in Formatter().parse(template):
        found.append(text)
        if name is not None:
            found += getattr(facts, name)
    return [part for part in found if part]


def actor(event: Event, naming: Naming = AS_RECORDED) -> Mention:
    """Who did it, as the sentence begins."""
    id = event.created_by_user_id
    if id is not None and id == naming.reader:
        return Mention("account", id, "You")
    return Mention("account", id, naming.names.get(id or 0, event.created_by))


def account_ids(event: Event) -> set[int]:
    """The accounts that the sentence names, and who acted."""
    facts = _Facts(event, 1, AS_RECORDED)
    found = {event.created_by_user_id, facts.subject_id, facts.maker_id, *facts.member_ids}
    return {id for id in found if isinstance(id, int)}


def types_that_name(*facts: str) -> list[EventType]:
    """The types whose sentences name one of these attributes of _Facts."""
    return [
        type
        for type, words in WORDS.items()
        if any(name in facts for _, name, _, _ in Formatter().parse(words.sentence))
    ]


def differences(event: Event) -> list[Difference]:
    """The fields that differ between before and after."""
    before, after = event.pre_data or {}, event.data or {}
    return [
        Difference(name, before.get(name), after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]


class _Facts:
    """What a sentence can name; each attribute is a list of parts."""

    def __init__(self, event: Event, count: int, naming: Naming) -> None:
        self._event, self._count, self._naming = event, count, naming
        self._before, self._after = event.pre_data or {}, event.data or {}
        self._data = event.data or event.pre_data or {}

    @property
    def subject_id(self) -> int | None:
        """The account that the event is about."""
        found = self._data.get("userId", self._data.get("id"))
        return found if isinstance(found, int) else None

    @property
    def maker_id(self) -> int | None:
        """The account that had created the link to set a password."""
        found = self._data.get("madeById")
        return found if isinstance(found, int) else None

    @property
    def member_ids(self) -> set[int]:
        """The accounts whose role in a project changed."""
        return {id for id, _, _ in self._role_changes()}

    @property
    def account(self) -> list[Part]:
        if self._is_own:
            return ["yourself" if self._is_read_by(self.subject_id) else "themselves"]
        return [self._person(self.subject_id, self._name)]

    @property
    def application(self) -> list[Part]:
        return [self._name]

    @property
    def whose(self) -> list[Part]:
        if self._is_read_by(self.subject_id):
            return ["your"]
        return ["their"] if self._is_own else [*self.account, "’s"]

    @property
    def for_other(self) -> list[Part]:
        return [] if self._is_own else [" for ", *self._owner]

    @property
    def of_other(self) -> list[Part]:
        return [] if self._is_own else [" of ", *self._owner]

    @property
    def changes(self) -> list[Part]:
        found = differences(self._event)
        if len(found) == 1:
            return [_change(found[0])]
        return [spoken([FIELDS.get(one.field, one.field) for one in found], SHOWN) or "nothing"]

    @property
    def rows(self) -> list[Part]:
        return [counted(self._data.get("rows", 0), "row")]

    @property
    def backup_time(self) -> list[Part]:
        return [str(self._data.get("createdAt", "?"))]

    @property
    def source(self) -> list[Part]:
        return [str(self._data.get("from", "?"))]

    @property
    def tag(self) -> list[Part]:
        return [_tag_name(self._before)]

    @property
    def new_tag(self) -> list[Part]:
        return [_tag_name(self._after)]

    @property
    def context_field(self) -> list[Part]:
        return [Mention("context field", self._name, self._name)]

    @property
    def completion(self) -> list[Part]:
        status, value = (str(self._data.get(key) or "") for key in ("status", "statusValue"))
        return [status or "?", f" ({value})" if value else ""]

    @property
    def origins(self) -> list[Part]:
        found = self._data.get("frontendApiOrigins") or ["no site"]
        return ["all sites" if "*" in found else spoken(found, SHOWN)]

    @property
    def count(self) -> list[Part]:
        return [f"{self._data.get('count', 0):,}"]

    @property
    def change_request(self) -> list[Part]:
        id, title = self._data.get("id"), self._data.get("title")
        if id is None:
            return ["a change request"]
        name = f"change request {id}" + (f" ({title})" if title else "")
        return [Mention("change request", (self._event.project, id), name)]

    @property
    def environment(self) -> list[Part]:
        name = str(self._data.get("environment", self._name))
        return [Mention("environment", name, name)]

    @property
    def feature(self) -> list[Part]:
        return [self._feature(self._event.feature_name or "?")]

    @property
    def features(self) -> list[Part]:
        return [counted(self._count, "feature")]

    @property
    def strategies(self) -> list[Part]:
        return [counted(self._count, "strategy", "strategies")]

    @property
    def group(self) -> list[Part]:
        return [self._name]

    @property
    def joined(self) -> list[Part]:
        """``added Ada, removed 3 users``."""
        phrases: list[list[Part]] = []
        for verb in ("added", "removed"):
            ids = self._data.get(verb) or []
            if len(ids) == 1:
                phrases.append([f"{verb} ", self._person(ids[0], f"account {ids[0]}")])
            elif ids:
                phrases.append([f"{verb} {counted(len(ids), 'user')}"])
        return _joined(phrases)

    @property
    def inactive(self) -> list[Part]:
        people = self._data.get("deleted", ())
        skipped = self._data.get("skippedCount", 0)
        return [
            counted(len(people), "inactive user"),
            ": " if people else "",
            *_joined([[self._person(one["id"], one["name"])] for one in people]),
            f"; {skipped:,} skipped" if skipped else "",
        ]

    @property
    def in_project(self) -> list[Part]:
        return [" in project ", *self.project] if self._event.project else []

    @property
    def maker(self) -> list[Part]:
        return [self._person(self.maker_id, str(self._data.get("madeBy") or "an Admin"))]

    @property
    def members(self) -> list[Part]:
        phrases = [
            self._member_change(id, before, after) for id, before, after in self._role_changes()
        ]
        return _joined(phrases)

    @property
    def parent(self) -> list[Part]:
        return [self._feature(str(self._data.get("parent", "?")))]

    @property
    def project(self) -> list[Part]:
        return [Mention("project", self._event.project, self._event.project or "?")]

    @property
    def sdk_token(self) -> list[Part]:
        recorded = self._before or self._after  # a rotated token has another name after
        return [str(recorded.get("tokenName", "?"))]

    @property
    def reviewed(self) -> list[Part]:
        kept, removed = (len(self._data.get(key) or ()) for key in ("kept", "removed"))
        return [f"{counted(kept, 'role')} kept, {removed:,} removed"]

    @property
    def scim_token(self) -> list[Part]:
        return [str(self._data.get("tokenName", "?"))]

    @property
    def segment(self) -> list[Part]:
        return [Mention("segment", self._name, self._name)]

    @property
    def strategy_type(self) -> list[Part]:
        return [Mention("strategy type", self._name, self._name)]

    @property
    def old_name(self) -> list[Part]:
        return [str(self._before.get("name", self._name))]

    @property
    def subject_there(self) -> list[Part]:
        """Who someone is at the provider that they sign on with."""
        return [f"{self._data.get('subject', '?')} at {self._data.get('issuer', '?')}"]

    @property
    def tag_type(self) -> list[Part]:
        return [Mention("tag type", self._name, self._name)]

    @property
    def tags(self) -> list[Part]:
        changed = [
            f"{verb} {tag['type']}:{tag['value']}"
            for verb in ("added", "removed")
            for tag in self._data.get(verb, ())
        ]
        return [spoken(changed, SHOWN)]

    @property
    def token(self) -> list[Part]:
        recorded = self._before or self._after  # a rotated token has another description after
        return [str(recorded.get("description", "?"))]

    @property
    def users(self) -> list[Part]:
        return [counted(self._count, "user")]

    @property
    def webhook(self) -> list[Part]:
        return [self._name]

    @property
    def _name(self) -> str:
        found = (self._data.get(key) for key in ("name", "username", "email", "id"))
        return str(next(filter(None, found), "?"))

    @property
    def _owner(self) -> list[Part]:
        fallback = self._name if "userId" not in self._data else f"account {self.subject_id}"
        return [self._person(self.subject_id, fallback)]

    @property
    def _is_own(self) -> bool:
        """Whether the actor did it to their own account."""
        return self.subject_id is not None and self.subject_id == self._event.created_by_user_id

    def _is_read_by(self, id: int | None) -> bool:
        return id is not None and id == self._naming.reader

    def _person(self, id: int | None, recorded: str) -> Mention:
        name = "you" if self._is_read_by(id) else self._naming.names.get(id or 0, recorded)
        return Mention("account", id, name)

    def _feature(self, name: str) -> Mention:
        return Mention("feature", (self._event.project, name), name)

    def _role_changes(self) -> list[tuple[int, str | None, str | None]]:
        """Each account whose role in the project changed, with the role before and after."""
        before, after = (facts.get("members") or {} for facts in (self._before, self._after))
        return [
            (int(id), before.get(id), after.get(id))
            for id in dict.fromkeys([*after, *before])
            if before.get(id) != after.get(id)
        ]

    def _member_change(self, id: int, before: str | None, after: str | None) -> list[Part]:
        member = self._person(id, f"account {id}")
        if after is None:
            return ["removed ", member]
        if before is None:
            return ["added ", member, f" as {after}"]
        return ["made ", member, f" {after}"]


def _change(difference: Difference) -> str:
    """``mode from open to private``, or the name alone where the values are long."""
    label = FIELDS.get(difference.field, difference.field)
    before, after = (_value(difference.field, v) for v in (difference.before, difference.after))
    if before is None or after is None:
        return label
    return f"{label} from {before} to {after}"


def _value(field: str, value: Any) -> str | None:
    """A short value in words; None for one that is long, or none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if field == "rootRole" and isinstance(value, int):
        return Role(value).title
    is_short = isinstance(value, int | str) and 0 < len(str(value)) <= LONGEST_VALUE
    return str(value) if is_short else None


def _joined(phrases: Sequence[Iterable[Part]]) -> list[Part]:
    """As ``spoken`` joins names."""
    shown = phrases if len(phrases) <= SHOWN + 1 else phrases[:SHOWN]
    rest = len(phrases) - len(shown)
    found = [*shown, *([[f"{rest:,} more"]] if rest else [])]
    joined: list[Part] = []
    for place, phrase in enumerate(found):
        last = place == len(found) - 1
        joined += ["" if not place else " and " if last else ", ", *phrase]
    return joined


def _tag_name(facts: dict[str, Any]) -> str:
    return f"{facts.get('type', '?')}:{facts.get('value', '?')}"
