"""Query parameters of lists."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from flask import request
from marshmallow import ValidationError, fields, validate
from werkzeug.datastructures import MultiDict

from app.core.clock import in_text
from app.core.paging import Comparison
from app.web.current import current_zone
from app.web.schemas import MAX_ITEMS, QueryNumber, Schema, SingleLine

DEFAULT_LIMIT = 50
MAX_LIMIT = 1_000
MAX_DIGITS = 9
_NO_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType({})


class PageQuery(Schema):
    """Parameters of a list that is read by ``limit`` and ``offset``."""

    limit = QueryNumber(
        load_default=DEFAULT_LIMIT,
        low=1,
        high=MAX_LIMIT,
        metadata={"description": "How many at most."},
    )
    offset = QueryNumber(
        load_default=0,
        metadata={"description": "How many to leave out from the start."},
    )


def whole(query: type[PageQuery]) -> type[PageQuery]:
    """The same parameters, for a list that is whole unless the request has a limit.

    So are the lists that Unleash has too: its clients don't ask for a second page.
    """
    about = {"description": "How many at most. Without it: all."}
    limit = QueryNumber(load_default=MAX_ITEMS, low=1, high=MAX_ITEMS, metadata=about)
    return type(f"Whole{query.__name__}", (query,), {"limit": limit})


class NewestQuery(Schema):
    """Parameters of a list that begins with the newest and continues before an id."""

    limit = QueryNumber(
        load_default=DEFAULT_LIMIT,
        low=1,
        high=MAX_LIMIT,
        metadata={"description": "The greatest number to return."},
    )
    before = QueryNumber(
        metadata={
            "description": "Only those with an id below this: nextBefore of the previous page."
        }
    )


class Sort(fields.String):
    """One of ``names`` to sort by; with a minus before it, in descending order."""

    def __init__(self, *names: str) -> None:
        allowed = [sign + name for name in names for sign in ("", "-")]
        super().__init__(
            validate=validate.OneOf(allowed, error=f"Must be one of: {', '.join(allowed)}."),
            metadata={"description": "What to sort by; a minus before it turns the order round."},
        )


MOST_COMPARED, LONGEST_COMPARISON = 50, 10_000
"""Values of a comparison: each may be a query of its own. Its characters."""
IS = ("IS", "IS_ANY_OF")
IS_OR_NOT = (*IS, "IS_NOT", "IS_NONE_OF")


class Compared(SingleLine):
    """A ``Comparison`` in an address. ``kind``: the field that each value has to be."""

    def __init__(
        self, *operators: str, kind: fields.Field[Any] | None = None, **kwargs: Any
    ) -> None:
        pattern = f"^({'|'.join(operators)}):.+$"
        super().__init__(high=LONGEST_COMPARISON, metadata={"pattern": pattern, **kwargs})
        self.operators, self.kind = operators, kind

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        text = super().deserialize(value, *args, **kwargs)
        if not isinstance(text, str):
            return text  # absent
        operator, _, rest = text.partition(":")
        values = [each.strip() for each in rest.split(",") if each.strip()]
        if operator not in self.operators or not values:
            known = ", ".join(f"{name}:value" for name in self.operators)
            raise ValidationError(f"Must be one of: {known}.")
        if len(values) > MOST_COMPARED:
            raise ValidationError(f"Must have at most {MOST_COMPARED} values.")
        if self.kind is not None:
            values = [self.kind.deserialize(each) for each in values]
        return Comparison(operator, values)


@dataclass(frozen=True, slots=True)
class Query:
    """The query of a page. ``values``: what is valid, as loaded. ``given``: all, as text.

    ``faults``: what is wrong with the parameters that are not valid.
    """

    values: dict[str, Any]
    given: dict[str, str]
    faults: dict[str, str]

    def as_path(self, path: str) -> str:
        """The API's ``path`` with the valid parameters."""
        valid = {name: value for name, value in self.given.items() if name not in self.faults}
        return f"{path}?{urlencode(valid)}" if valid else path

    def in_use(
        self, labels: Mapping[str, str], words: Mapping[str, Mapping[str, str]] = _NO_WORDS
    ) -> list[tuple[str, str, str]]:
        """The valid filters as (name, label, value); ``words`` replaces values, by name."""
        return [
            (name, label, words.get(name, {}).get(value, value))
            for name, label in labels.items()
            if name not in self.faults and (value := self.given.get(name))
        ]


def read_query(
    schema: type[Schema], tidy: Callable[[str, str], str] = lambda _name, value: value
) -> Query:
    """The parameters of the address that ``schema`` has. Invalid ones are only reported.

    ``tidy``: turns a parameter's name and value into a value for the schema.
    """
    rules = schema().load_fields.values()
    known = {rule.data_key for rule in rules}
    sent = {k: v.strip() for k, v in request.args.items() if k in known and v.strip()}
    given = {name: tidy(name, value) for name, value in sent.items()}
    faults: dict[str, str] = {}
    try:
        values = schema().load(given)
    except ValidationError as error:
        faults = {name: str(found[0]) for name, found in error.messages_dict.items()}
        values = schema().load({k: v for k, v in given.items() if k not in faults})
    return Query(values, given, faults)


def as_time(name: str, value: str) -> str:
    """The start of a day, which date fields send, as a time; for ``to`` the end of the day.

    It is a day of the reader's time zone.
    """
    if name not in {"from", "to"} or not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return value
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return value
    try:
        start = datetime.combine(day + timedelta(days=name == "to"), time.min, current_zone())
        return in_text(start)
    except OverflowError:  # the first and the last day of all
        return f"{day}T00:00:00Z" if name == "from" else f"{day}T23:59:59.999Z"


def days_of(query: Query) -> dict[str, str]:
    """The values of the date fields: the first and the last day."""
    days = _days(query)
    return {name: day.isoformat() if (day := days.get(name)) else "" for name in ("from", "to")}


def days_in_words(query: Query) -> dict[str, dict[str, str]]:
    """The days by what the address says of them: see ``Query.in_use``."""
    days = _days(query).items()
    return {name: {query.given[name]: f"{day.day} {day:%b %Y}"} for name, day in days}


def _days(query: Query) -> dict[str, date]:
    """The first and the last day, if the address has them."""
    first, end = query.values.get("from_"), query.values.get("to")
    last = end and max(end, datetime.combine(date.min, time.max, UTC)) - datetime.resolution
    zone = current_zone()
    return {name: _day(at, zone) for name, at in (("from", first), ("to", last)) if at}


def _day(at: datetime, zone: tzinfo) -> date:
    try:
        return at.astimezone(zone).date()
    except OverflowError:  # the first and the last day of all
        return at.date()


def ids_in(sent: MultiDict[str, str]) -> list[int]:
    """The ids that check boxes named ``id`` send, in order; other values are left out."""
    return sorted({int(id) for id in sent.getlist("id") if is_number(id)})


def is_number(text: str) -> bool:
    """Whether a text has only digits, and few enough for the id of a row."""
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
