"""The base of every schema, and the kinds of field that requests are made of.

A schema checks JSON and forms by the same rules, and looks only at the request. Services check
what needs a query.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, TypeVar

import marshmallow
from marshmallow import fields, validate

from app.core.clock import in_text
from app.core.errors import MAX_DETAILS
from app.core.permissions import Role
from app.core.words import (
    INVISIBLE,
    LONGEST_SPELLING,
    MAX_KEY,
    are_keys,
    camel_case,
    has_visible,
    is_key,
    key_fault,
    nfc,
)

# Controls, line and paragraph separators, and the marks that turn text around on a screen.
UNSEEN = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069"
_IN_PROSE = f"[^{UNSEEN}]"
_IN_LINE = f"[^{UNSEEN}\\t\\n]"
RFC_3339 = r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)"
MAX_INTEGER = 2**53 - 1
MAX_QUERY_NUMBER = 2**31 - 1
MAX_FIELDS = 1_000
"""Of an object whose fields a schema names."""
MAX_ITEMS = 50_000

# JSON can't bring half of a surrogate pair, which the documented patterns therefore leave out,
# but an argument on the command line can.
_is_line = re.compile(f"(?:(?![\\ud800-\\udfff]){_IN_LINE})*").fullmatch
_is_prose = re.compile(f"(?:(?![\\ud800-\\udfff]){_IN_PROSE})*").fullmatch


S = TypeVar("S", bound="Schema")


class Schema(marshmallow.Schema):
    """Fields are written in snake case and travel in camel case; unknown ones are refused."""

    error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "unknown": "Unknown field.",
        "type": "Must be an object.",
    }

    volatile: ClassVar[frozenset[str]] = frozenset()
    """Fields that change when the thing is only used, so they are not part of its ETag.

    ``environments.yes``: the field ``yes`` of each entry in the list ``environments``.
    """

    def load(self, data: Any, **kwargs: Any) -> Any:
        """Refuse too many fields at once: to name each of 100,000 would take seconds."""
        if isinstance(data, Mapping) and len(data) > MAX_FIELDS:
            raise marshmallow.ValidationError(f"Has more than {MAX_FIELDS:,} fields.")
        return super().load(data, **kwargs)

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        if field_obj.data_key is None:
            field_obj.data_key = camel_case(field_name)

    def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
        """Read an attribute of an object at once. Marshmallow tries ``obj[attr]`` before."""
        if "." in attr or isinstance(obj, Mapping):
            return super().get_attribute(obj, attr, default)
        return getattr(obj, attr, default)

    extended: ClassVar[frozenset[str]] = frozenset()
    """Fields of an answer that Unleash's document does not have; see ``app/web/extended.py``."""

    @marshmallow.post_load
    def _forget_ignored(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {
            name: value
            for name, value in data.items()
            if not isinstance(self.load_fields.get(name), Ignored)
        }


fields.Field.default_error_messages = {
    "required": "This field is required.",
    "null": "This field can't be null.",
    "validator_failed": "This value is not allowed.",
}


class Ignored(fields.Raw):
    """A field that can't be changed here. Clients may send it back as they read it."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"description": "Accepted and ignored, so that what was read can be sent back."}
        super().__init__(load_only=True, allow_none=True, metadata=metadata, **kwargs)


def accepts(row: type[Schema]) -> Callable[[type[S]], type[S]]:
    """Let a schema of changes accept what reading returns: what only ``row`` has is ignored."""

    def add(changes: type[S]) -> type[S]:
        declared = changes._declared_fields  # noqa: SLF001 - marshmallow has no other way
        declared |= {name: Ignored() for name in row().fields if name not in declared}
        return changes

    return add


class OrEmpty(fields.String):
    """A text in an answer, empty if there is none."""

    def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return super()._serialize(value or "", *args, **kwargs)


class WholeNumber(fields.Integer):
    """5 and 5.0; never "5", true or 5.5, and nothing that a JavaScript client would round."""

    default_error_messages = {  # noqa: RUF012 - as above
        "invalid": "Must be a whole number.",
        "range": "Must lie between {low} and {high}.",
    }

    def __init__(self, *, low: int = -MAX_INTEGER, high: int = MAX_INTEGER, **kwargs: Any) -> None:
        metadata = {"minimum": low, "maximum": high} | kwargs.pop("metadata", {})
        super().__init__(metadata=metadata, **kwargs)
        self.low, self.high = low, high

    def _validated(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
            raise self.make_error("invalid")
        if not self.low <= value <= self.high:
            raise self.make_error("range", low=self.low, high=self.high)
        return int(value)


class RoleId(WholeNumber):
    """The id of one of ``roles``."""

    default_error_messages = {"unknown": "Must be the id of a {kind} role: {known}."}  # noqa: RUF012 - as above

    def __init__(self, roles: Sequence[Role], *, kind: str, **kwargs: Any) -> None:
        metadata = {"enum": [role.value for role in roles], "description": f"{kind} role id."}
        super().__init__(metadata=metadata, **kwargs)
        self.roles, self.kind = roles, kind

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Role:
        number = super()._deserialize(value, *args, **kwargs)
        if number not in self.roles:
            known = ", ".join(f"{role.value} ({role.title})" for role in self.roles)
            raise self.make_error("unknown", kind=self.kind, known=known)
        return Role(number)


class QueryNumber(WholeNumber):
    """A whole number in a query string, where everything is text; within a database's integers."""

    def __init__(self, *, low: int = 0, high: int = MAX_QUERY_NUMBER, **kwargs: Any) -> None:
        super().__init__(low=low, high=high, **kwargs)

    def _validated(self, value: Any) -> int:
        if not isinstance(value, str) or not re.fullmatch(r"-?[0-9]{1,16}", value):
            raise self.make_error("invalid")
        return super()._validated(int(value))


class StrictBoolean(fields.Boolean):
    """true or false; never "yes" or 1."""

    default_error_messages = {"invalid": "Must be true or false."}  # noqa: RUF012 - as above

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid")
        return value


class QueryBoolean(fields.Boolean):
    """true or false in an address."""

    default_error_messages = {"invalid": "Must be true or false."}  # noqa: RUF012 - as above
    truthy = {"true"}  # noqa: RUF012 - as above
    falsy = {"false"}  # noqa: RUF012 - as above


class _Text(fields.String):
    default_error_messages = {  # noqa: RUF012 - as above
        "invalid": "Must be a string.",
        "invisible": "Enter at least one character that can be seen.",
    }
    allowed = _IN_LINE

    def __init__(self, *, low: int = 1, high: int, **kwargs: Any) -> None:
        some = f"{self.allowed}*"
        visible = self.allowed.replace("]", f"\\s{INVISIBLE}]")
        metadata = {"pattern": f"^{some}$" if low == 0 else f"^{some}{visible}{some}$"}
        super().__init__(
            validate=_length(low, high), metadata=metadata | kwargs.pop("metadata", {}), **kwargs
        )
        self.low, self.high = low, high

    def _tidy(self, value: Any) -> str:
        text: str = super()._deserialize(value, None, None).strip()
        if self.low and text and not has_visible(text):
            raise self.make_error("invisible")
        # Longer text is too long in NFC too, and is refused for that.
        return nfc(text) if len(text) <= LONGEST_SPELLING * self.high else text


class SingleLine(_Text):
    """One line of text, trimmed and in NFC; ``low`` to ``high`` characters."""

    default_error_messages = {  # noqa: RUF012 - as above
        "controls": "Must be one line without control characters."
    }

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        text = self._tidy(value)
        if not _is_line(text):
            raise self.make_error("controls")
        return text


class Multiline(_Text):
    """Text that may have line breaks and tabs, trimmed and in NFC."""

    default_error_messages = {  # noqa: RUF012 - as above
        "controls": "Must not have control characters other than line breaks and tabs."
    }
    allowed = _IN_PROSE

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        text = self._tidy(value).replace("\r\n", "\n")  # as browsers send line breaks
        if not _is_prose(text):
            raise self.make_error("controls")
        return text


class Key(fields.String):
    """The id of a project or the name of a feature: taken as sent, or refused."""

    default_error_messages = {  # noqa: RUF012 - as above
        "invalid": "Must be a string."
    }

    def __init__(self, **kwargs: Any) -> None:
        metadata = {
            "pattern": r"^(?!\.\.?$)[A-Za-z0-9_~.-]+$",
            "minLength": 1,
            "maxLength": MAX_KEY,
        }
        super().__init__(metadata=metadata | kwargs.pop("metadata", {}), **kwargs)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        text: str = super()._deserialize(value, None, None)
        if not is_key(text):
            raise marshmallow.ValidationError(key_fault(text))
        return text


class StrictList(fields.List[Any]):
    """A list of at most MAX_ITEMS. Checking stops after MAX_DETAILS problems."""

    default_error_messages = {  # noqa: RUF012 - as above
        "items": f"Must have at most {MAX_ITEMS:,} items; split the request into several."
    }

    def __init__(self, cls_or_instance: Any, **kwargs: Any) -> None:
        metadata = {"maxItems": MAX_ITEMS} | kwargs.pop("metadata", {})
        super().__init__(cls_or_instance, metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *_: Any, **kwargs: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        if len(value) > MAX_ITEMS:
            raise self.make_error("items")
        found: list[Any] = []
        faults: dict[int, Any] = {}
        for index, each in enumerate(value):
            try:
                found.append(self.inner.deserialize(each, **kwargs))
            except marshmallow.ValidationError as error:
                faults[index] = error.messages
                if len(faults) == MAX_DETAILS:
                    break
        if faults:
            raise marshmallow.ValidationError(faults)
        return found


class KeySet(StrictList):
    """Many keys; order and repetition do not matter."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(Key(), **kwargs)

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> list[str | None]:
        # Thousands at once are usual. The field object, which is slow, only has to find faults.
        is_fine = isinstance(value, list) and len(value) <= MAX_ITEMS
        if not (is_fine and are_keys(value)):
            value = super()._deserialize(value, attr, data, **kwargs)
        return list(dict.fromkeys(value))


class Timestamp(fields.AwareDateTime):
    """``2026-11-21T09:30:00.000Z`` out; any RFC 3339 time with its zone in."""

    default_error_messages = {  # noqa: RUF012 - as above
        "invalid": "Must be a time with its zone, like 2026-11-21T09:30:00Z."
    }

    def _serialize(self, value: datetime | None, *_: Any, **__: Any) -> str | None:
        return None if value is None else in_text(value)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> datetime:
        if not isinstance(value, str) or not re.fullmatch(RFC_3339, value):
            raise self.make_error("invalid")
        try:
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.make_error("invalid") from None


def _length(low: int, high: int) -> validate.Length:
    error = f"Enter {low} to {high} characters." if low else f"Enter at most {high} characters."
    return validate.Length(min=low or None, max=high, error=error)
