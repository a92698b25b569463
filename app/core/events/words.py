"""What each type of event means, in words: for the help, the pages, files and the command line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, NamedTuple

from app.core.actor import FIRST_LINK
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.permissions import Role
from app.core.words import counted, humanize, spoken

DISPLAY_LIMIT = 5
LONGEST_VALUE = 40
LONGEST_LINK = 100

FIELDS = {
    "changeRequestEnvironments": "approvals",
    "roleId": "role",
    "url": "address",
    "rootRole": "role",
}
"""What sentences call fields of ``data`` whose own names are unclear."""
ROLES = {"rootRole", "roleId"}
SHARES = {"rollout", "percentage"}
"""Fields that hold a percentage."""


class Mention(NamedTuple):
    """Something that a sentence names. ``kind`` and ``id`` say which page shows it, if any."""

    kind: str
    id: Any
    text: str

    def __str__(self) -> str:
        return self.text


Part = str | Mention


class ValueChange(NamedTuple):
    """A field before and after, as the event recorded it; None where there was none.

    ``inside``: the field that holds it, if that has fields itself.
    """

    field: str
    before: Any
    after: Any
    inside: str | None = None

    @property
    def label(self) -> str:
        if self.inside == "changeRequestEnvironments":
            return f"approvals in {self.field}"
        return FIELDS.get(self.field) or humanize(self.field)


@dataclass(frozen=True, slots=True)
class Naming:
    """How sentences name accounts: ``reader`` is "you", others have names by their ids.

    An account without a name is named as the event recorded it.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    reader: int | None = None


AS_RECORDED = Naming()


def sentence(event: Event, count: int = 1, naming: Naming = AS_RECORDED) -> str:
    """The event in words, to follow the actor's name. ``count``: events that it summarizes."""
    return "".join(map(str, parts(event, count, naming)))


def parts(event: Event, count: int = 1, naming: Naming = AS_RECORDED) -> list[Part]:
    """The sentence in parts: everything that it names is a part of its own."""
    words, facts = event.type.declared, _Facts(event, count, naming)
    template = words.batch if count > 1 and words.batch else words.sentence
    found: list[Part] = []
    for text, name, _, _ in Formatter().parse(template):
        found.append(text)
        if name is not None:
            found += getattr(facts, name)
    return [part for part in found if part]


def actor(event: Event, naming: Naming = AS_RECORDED) -> Mention:
    """The actor, with whom the sentence begins; the first Admin created their own account."""
    facts = _Facts(event, 1, naming)
    id, recorded = event.created_by_user_id, event.created_by
    if facts.is_by_first_link:
        id, recorded = facts.subject_id, facts.name
    if id is not None and id == naming.reader:
        return Mention("account", id, "You")
    return Mention("account", id, naming.names.get(id or 0, recorded))


def account_ids(event: Event) -> set[int]:
    """Ids of the accounts that the sentence names, and of the actor."""
    facts = _Facts(event, 1, AS_RECORDED)
    found = {event.created_by_user_id, facts.subject_id, facts.maker_id, *facts.member_ids}
    return {id for id in found if isinstance(id, int)}


def types_that_name(*facts: str) -> list[EventType]:
    """The types whose sentences name one of these attributes of _Facts."""
    return [
        type
        for type in EventType
        if any(name in facts for _, name, _, _ in Formatter().parse(type.declared.sentence))
    ]


def differences(event: Event) -> list[ValueChange]:
    """The fields that differ between before and after; for objects in fields, their fields."""
    return list(_differences(event.pre_data or {}, event.data or {}))


def _differences(
    before: dict[str, Any], after: dict[str, Any], inside: str | None = None
) -> Iterator[ValueChange]:
    for name in dict.fromkeys([*before, *after]):
        former, present = before.get(name), after.get(name)
        if former == present:
            continue
        if inside is None and isinstance(former or present, dict):
            yield from _differences(former or {}, present or {}, name)
        else:
            yield ValueChange(name, former, present, inside)


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
        """The account that created the link to set a password."""
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
        return [self._person(self.subject_id, self.name)]

    @property
    def is_by_first_link(self) -> bool:
        return self._event.created_by_user_id is None and self._event.created_by == FIRST_LINK

    @property
    def new_user(self) -> list[Part]:
        if not self.is_by_first_link:
            return ["user ", *self.account]
        which = "this" if self._is_read_by(self.subject_id) else "their"
        return [f"{which} account with the set-up link"]

    @property
    def application(self) -> list[Part]:
        return [self.name]

    @property
    def instances(self) -> list[Part]:
        named = len(self._data.get("instances") or ())
        return [counted(self._data.get("number", named), "silent instance")]

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
        return [spoken(map(_change, differences(self._event)), DISPLAY_LIMIT) or "nothing"]

    @property
    def rows(self) -> list[Part]:
        return [counted(self._data.get("rows", 0), "row")]

    @property
    def version(self) -> list[Part]:
        version = str(self._data.get("version", "?"))
        return [Mention("version", version, version)]

    @property
    def from_version(self) -> list[Part]:
        return [f"from {before} "] if (before := self._before.get("version")) else []

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
        return [Mention("context field", self.name, self.name)]

    @property
    def completion(self) -> list[Part]:
        status, value = (str(self._data.get(key) or "") for key in ("status", "statusValue"))
        return [status or "?", f" ({value})" if value else ""]

    @property
    def origins(self) -> list[Part]:
        found = self._data.get("frontendApiOrigins") or ["no site"]
        return ["all sites" if "*" in found else spoken(found, DISPLAY_LIMIT)]

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
        name = str(self._data.get("environment", self.name))
        return [Mention("environment", name, name)]

    @property
    def feature(self) -> list[Part]:
        return [self._feature(self._event.feature_name or "?")]

    @property
    def feature_type(self) -> list[Part]:
        return [str(self._data.get("id", "?"))]

    @property
    def lifetime(self) -> list[Part]:
        days = self._data.get("lifetimeDays")
        return [counted(days, "day") if days else "no limit"]

    @property
    def features(self) -> list[Part]:
        return [counted(self._count, "feature")]

    @property
    def strategies(self) -> list[Part]:
        return [counted(self._count, "strategy", "strategies")]

    @property
    def group(self) -> list[Part]:
        return [self.name]

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
    def link(self) -> list[Part]:
        text = str(self._data.get("title") or self._data.get("url", "?"))
        return [text if len(text) <= LONGEST_LINK else f"{text[:LONGEST_LINK]}…"]

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
    def release_template(self) -> list[Part]:
        return [Mention("release template", self._data.get("id"), self.name)]

    @property
    def step(self) -> list[Part]:
        """``3 (25%)``."""
        step = self._data.get("milestone") or {}
        return [f"{step.get('number', '?')} ({step.get('name', '?')})"]

    @property
    def why(self) -> list[Part]:
        return [f": {reason}"] if (reason := self._data.get("reason")) else []

    @property
    def reviewed(self) -> list[Part]:
        kept, removed = (len(self._data.get(key) or ()) for key in ("kept", "removed"))
        return [f"{counted(kept, 'role')} kept, {removed:,} removed"]

    @property
    def scim_token(self) -> list[Part]:
        return [str(self._data.get("tokenName", "?"))]

    @property
    def segment(self) -> list[Part]:
        return [Mention("segment", self.name, self.name)]

    @property
    def strategy_type(self) -> list[Part]:
        return [Mention("strategy type", self.name, self.name)]

    @property
    def old_name(self) -> list[Part]:
        return [str(self._before.get("name", self.name))]

    @property
    def subject_there(self) -> list[Part]:
        """The account at the sign-on provider."""
        return [f"{self._data.get('subject', '?')} at {self._data.get('issuer', '?')}"]

    @property
    def tag_type(self) -> list[Part]:
        return [Mention("tag type", self.name, self.name)]

    @property
    def tags(self) -> list[Part]:
        changed = [
            f"{verb} {tag['type']}:{tag['value']}"
            for verb in ("added", "removed")
            for tag in self._data.get(verb, ())
        ]
        return [spoken(changed, DISPLAY_LIMIT)]

    @property
    def token(self) -> list[Part]:
        recorded = self._before or self._after  # a rotated token has another description after
        return [str(recorded.get("description", "?"))]

    @property
    def users(self) -> list[Part]:
        return [counted(self._count, "user")]

    @property
    def webhook(self) -> list[Part]:
        return [self.name]

    @property
    def name(self) -> str:
        found = (self._data.get(key) for key in ("name", "username", "email", "id"))
        return str(next(filter(None, found), "?"))

    @property
    def _owner(self) -> list[Part]:
        fallback = self.name if "userId" not in self._data else f"account {self.subject_id}"
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


def _change(difference: ValueChange) -> str:
    """``rollout 10% → 40%``, or the label alone where the values are long."""
    before, after = (short(difference.field, v) for v in (difference.before, difference.after))
    if before is None or after is None:
        return difference.label
    return f"{difference.label} {before} → {after}"


def short(field: str, value: Any) -> str | None:
    """The value of a field in words; None if it is long or missing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if field in ROLES and isinstance(value, int):
        return Role(value).title
    if field in SHARES and value is not None:
        return f"{value}%"
    is_short = isinstance(value, int | str) and 0 < len(str(value)) <= LONGEST_VALUE
    return str(value) if is_short else None


def _joined(phrases: Sequence[Iterable[Part]]) -> list[Part]:
    """Join phrases as ``spoken`` joins names: ``a, b and 3 more``."""
    shown = phrases if len(phrases) <= DISPLAY_LIMIT + 1 else phrases[:DISPLAY_LIMIT]
    rest = len(phrases) - len(shown)
    found = [*shown, *([[f"{rest:,} more"]] if rest else [])]
    joined: list[Part] = []
    for place, phrase in enumerate(found):
        last = place == len(found) - 1
        joined += ["" if not place else " and " if last else ", ", *phrase]
    return joined


def _tag_name(facts: dict[str, Any]) -> str:
    return f"{facts.get('type', '?')}:{facts.get('value', '?')}"
