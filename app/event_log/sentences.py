"""Every event as a sentence, and what it changed, field by field."""

from collections.abc import Callable
from typing import Any, NamedTuple

from app.core.templating import counted, spoken
from app.events.models import Event, EventType

SHOWN = 5


class Difference(NamedTuple):
    """A field before and after, as they stand in the log; None where there was none."""

    field: str
    before: Any
    after: Any


def sentence(event: Event, count: int = 1) -> str:
    """What happened, after the name of who did it; ``count`` events of its batch are one act."""
    data, before = event.data or {}, event.pre_data or {}
    if count > 1 and event.type in IN_BATCHES:
        what, where = counted(count, "feature"), _in_project(event)
        return IN_BATCHES[event.type].format(what, where)
    return SENTENCES[event.type](event, data, before)


def differences(event: Event) -> list[Difference]:
    """The fields that differ between before and after."""
    before, after = event.pre_data or {}, event.data or {}
    return [
        Difference(name, before.get(name), after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]


Words = Callable[[Event, dict[str, Any], dict[str, Any]], str]


def _in_project(event: Event) -> str:
    return f" in project {event.project}" if event.project else ""


def _name(facts: dict[str, Any]) -> str:
    return str(
        facts.get("name") or facts.get("username") or facts.get("email") or facts.get("id", "?")
    )


def _changed(event: Event) -> str:
    names = [difference.field for difference in differences(event)]
    return spoken(names, SHOWN) or "nothing"


def _tags(event: Event, data: dict[str, Any], _: dict[str, Any]) -> str:
    parts = [
        f"{sign} {tag['type']}:{tag['value']}"
        for sign, part in (("+", "added"), ("−", "removed"))
        for tag in data.get(part, ())
    ]
    return f"changed the tags of {event.feature_name}: {spoken(parts, SHOWN)}"


def _deleted_inactive(_event: Event, data: dict[str, Any], _: dict[str, Any]) -> str:
    names = [person["name"] for person in data.get("deleted", ())]
    skipped = data.get("skippedCount", 0)
    rest = f", {skipped} left alone" if skipped else ""
    what = f": {spoken(names, SHOWN)}" if names else ""
    return f"deleted {counted(len(names), 'inactive user')}{what}{rest}"


def _token(verb: str, *, before: bool = False) -> Words:
    def words(_event: Event, data: dict[str, Any], pre: dict[str, Any]) -> str:
        facts = pre if before else data
        return f"{verb} the token {facts.get('description', '?')} of account {facts.get('userId')}"

    return words


def _account(verb: str, what: str, *, before: bool = False) -> Words:
    return lambda _event, data, pre: f"{verb} the {what} {_name(pre if before else data)}"


def _updated(what: str) -> Words:
    return lambda event, data, _: f"changed the {what} {_name(data)}: {_changed(event)}"


def _project(verb: str) -> Words:
    return lambda event, _data, _pre: f"{verb} project {event.project}"


def _feature(verb: str) -> Words:
    return lambda event, _data, _pre: f"{verb} {event.feature_name}{_in_project(event)}"


def _project_updated(event: Event, data: dict[str, Any], before: dict[str, Any]) -> str:
    found = differences(event)
    if len(found) == 1 and found[0].field == "mode":
        return f"set the mode of {event.project} from {before['mode']} to {data['mode']}"
    return f"changed project {event.project}: {_changed(event)}"


SENTENCES: dict[EventType, Words] = {
    EventType.ENVIRONMENT_CREATED: _account("created", "environment"),
    EventType.ENVIRONMENT_UPDATED: _updated("environment"),
    EventType.EVENTS_PRUNED: lambda _event, data, _: (
        f"took the oldest {data.get('count', 0):,} events away"
    ),
    EventType.FEATURE_ARCHIVED: _feature("archived"),
    EventType.FEATURE_CREATED: _feature("created"),
    EventType.FEATURE_DEPENDENCY_ADDED: lambda event, data, _: (
        f"made {event.feature_name} depend on {data.get('parent')}"
    ),
    EventType.FEATURE_DEPENDENCY_REMOVED: lambda event, _, before: (
        f"made {event.feature_name} no longer depend on {before.get('parent')}"
    ),
    EventType.FEATURE_REVIVED: _feature("revived"),
    EventType.FEATURE_TAGS_CHANGED: _tags,
    EventType.FEATURE_UPDATED: lambda event, _data, _pre: (
        f"changed {event.feature_name}: {_changed(event)}"
    ),
    EventType.INACTIVE_USERS_DELETED: _deleted_inactive,
    EventType.PASSWORD_CHANGED: lambda _event, data, _: f"set a new password of {_name(data)}",
    EventType.PROJECT_ACCESS_UPDATED: _project("changed the members of"),
    EventType.PROJECT_ARCHIVED: _project("archived"),
    EventType.PROJECT_CREATED: _project("created"),
    EventType.PROJECT_ENVIRONMENTS_UPDATED: _project("changed environments or approvals of"),
    EventType.PROJECT_REVIVED: _project("revived"),
    EventType.PROJECT_UPDATED: _project_updated,
    EventType.RECOVERY_CODES_MADE: lambda _event, data, _: (
        f"made new recovery codes for {_name(data)}"
    ),
    EventType.RECOVERY_CODE_USED: lambda _event, data, _: (
        f"signed in as {_name(data)} with a recovery code"
    ),
    EventType.SECOND_FACTOR_TURNED_OFF: lambda _event, data, _: (
        f"turned two-step sign-in of {_name(data)} off"
    ),
    EventType.SECOND_FACTOR_TURNED_ON: lambda _event, data, _: (
        f"turned two-step sign-in of {_name(data)} on"
    ),
    EventType.SERVICE_ACCOUNT_CREATED: _account("created", "service account"),
    EventType.SERVICE_ACCOUNT_DELETED: _account("deleted", "service account", before=True),
    EventType.SERVICE_ACCOUNT_UPDATED: _updated("service account"),
    EventType.TAG_TYPE_CREATED: _account("created", "tag type"),
    EventType.TAG_TYPE_DELETED: _account("deleted", "tag type", before=True),
    EventType.TAG_TYPE_UPDATED: _updated("tag type"),
    EventType.TOKEN_CREATED: _token("created"),
    EventType.TOKEN_REVOKED: _token("revoked", before=True),
    EventType.TOKEN_ROTATED: _token("rotated", before=True),
    EventType.USER_CREATED: _account("created", "user"),
    EventType.USER_DELETED: _account("deleted", "user", before=True),
    EventType.USER_RESTORED: _account("restored", "user"),
    EventType.USER_SIGNED_OUT: lambda _event, data, _: f"signed {_name(data)} out everywhere",
    EventType.USER_UPDATED: _updated("user"),
}

IN_BATCHES = {
    EventType.FEATURE_ARCHIVED: "archived {}{}",
    EventType.FEATURE_REVIVED: "revived {}{}",
    EventType.FEATURE_TAGS_CHANGED: "changed the tags of {}{}",
}
"""What one act did to several features, told as one."""
