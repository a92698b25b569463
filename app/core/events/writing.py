"""Write many events of one act: shared values are encoded and sent once."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from app.core.events.chain import FACTS, as_text
from app.core.events.models import Event, EventHead
from app.core.statements import Prepared, send

OWN = ("project", "feature_name", "data", "pre_data")
NUMBERED = ("id", "digest")
SHARED = tuple(name for name in Event.__table__.columns.keys() if name not in OWN + NUMBERED)  # noqa: SIM118 - columns are no dict
CHANNEL = "flagstaff_events"
"""Where PostgreSQL notifies of a commit that appended events."""

_quoted = json.encoder.encode_basestring_ascii


class Act(NamedTuple):
    """Events of one act, encoded. ``shared``: the values of SHARED, as they are.

    ``rows``: for each event the values of OWN; and the text that is digested after "[" and its id.
    """

    shared: Mapping[str, Any]
    rows: list[tuple[tuple[Any, ...], str]]


def encode(shared: Mapping[str, Any], payloads: Iterable[Mapping[str, Any]]) -> Act:
    """An event per payload. The digests equal those of ``chain.link``, which encodes one."""
    texts_of = _texts()
    between, after = _shared_facts(shared)
    rows = []
    for payload in payloads:
        project, feature = payload.get("project"), payload.get("feature_name")
        data, data_text = texts_of(payload.get("data"))
        pre_data, pre_data_text = texts_of(payload.get("pre_data"))
        facts = f",{between},{_text(project)},{_text(feature)},{after}]"
        text = f"{facts}\n{data_text}\n{pre_data_text}"
        rows.append(((project, feature, data, pre_data), text))
    return Act(shared, rows)


def append(connection: sa.Connection, acts: Iterable[Act]) -> None:
    """Number the events, chain them, and append them to the log."""
    [(last_id, digest)] = _end_for_change.run(connection=connection)
    for act in acts:
        rows = []
        for own, text in act.rows:
            last_id += 1
            digest = sha256(digest + f"[{last_id}{text}".encode()).digest()
            rows.append((*own, last_id, digest))
        shared = _converted(act.shared, connection.dialect)
        if connection.dialect.name == "postgresql":
            columns = map(list, zip(*rows, strict=True))
            send(connection, _APPEND, (*shared, *columns, last_id, digest))
        else:
            send(connection, _INSERT_ROWS, [row + shared for row in rows], many=True)
    if connection.dialect.name != "postgresql":
        send(connection, _SET_END, (last_id, digest))


def _shared_facts(shared: Mapping[str, Any]) -> tuple[str, str]:
    """JSON of the shared values: those between id and project, and those after the feature."""
    values = dict(shared) | {"created_at": shared["created_at"].isoformat()}
    start, end = FACTS.index("project"), FACTS.index("feature_name") + 1
    between = as_text([values[name] for name in FACTS[1:start]])
    after = as_text([values[name] for name in FACTS[end:]])
    return between[1:-1], after[1:-1]


def _text(value: str | None) -> str:
    return "null" if value is None else _quoted(value)


def _texts() -> Callable[[Any], tuple[str | None, str]]:
    """For storing and for the digest; once, as events of one act often share their data."""
    known: dict[int, tuple[str | None, str]] = {id(None): (None, as_text(None))}

    def texts_of(value: Any) -> tuple[str | None, str]:
        texts = known.get(id(value))
        if texts is None:
            texts = known[id(value)] = json.dumps(value), as_text(value)
        return texts

    return texts_of


def _converted(shared: Mapping[str, Any], dialect: sa.Dialect) -> tuple[Any, ...]:
    """The shared values as the driver takes them."""
    return tuple(
        process(shared[name]) if process else shared[name]
        for name, process in zip(SHARED, _processors(dialect), strict=True)
    )


@cache
def _processors(dialect: sa.Dialect) -> tuple[Any, ...]:
    """SQLAlchemy's conversions of the shared columns, which this plain SQL would skip."""
    types = (Event.__table__.columns[name].type.dialect_impl(dialect) for name in SHARED)
    return tuple(type.bind_processor(dialect) for type in types)


def _cast(name: str, *, many: bool = False) -> str:
    """A parameter for PostgreSQL, which can't tell the types of NULL and of lists."""
    type = Event.__table__.columns[name].type.compile(postgresql.dialect())  # type: ignore[no-untyped-call]
    return f"%b::{type}[]" if many else f"%s::{type}"


def _insert(source: str) -> str:
    return f"INSERT INTO events ({', '.join((*OWN, *NUMBERED, *SHARED))}) {source}"


_end_for_change = Prepared(sa.select(EventHead.last_id, EventHead.digest).with_for_update())
_INSERT_ROWS = _insert(f"VALUES ({', '.join('?' * len((*OWN, *NUMBERED, *SHARED)))})")
_SET_END = "UPDATE event_heads SET last_id = ?, digest = ?"

_ARRAYS = ", ".join(_cast(name, many=True) for name in (*OWN, *NUMBERED))
# In one round trip, since all others who record anything wait for it.
_APPEND = f"""
WITH recorded AS (
    {_insert(f"SELECT own.*, {', '.join(map(_cast, SHARED))} FROM unnest({_ARRAYS}) AS own")}
)
UPDATE event_heads SET last_id = %s, digest = %b RETURNING pg_notify('{CHANNEL}', '')
"""  # noqa: S608 - of names of columns
