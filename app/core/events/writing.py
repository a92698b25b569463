"""Write many events of one act: shared values are encoded and sent once."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from app.core.events.chain import FACTS, as_text
from app.core.events.models import Event

OWN = ("id", "project", "feature_name", "data", "pre_data", "digest")
SHARED = tuple(name for name in Event.__table__.columns.keys() if name not in OWN)  # noqa: SIM118 - columns are no dict

_quoted = json.encoder.encode_basestring_ascii


def insert(
    connection: sa.Connection,
    shared: Mapping[str, Any],
    payloads: Sequence[Mapping[str, Any]],
    *,
    first: int,
    before: bytes,
) -> None:
    """Insert an event per payload, numbered from ``first``, and move the end of the log to them.

    ``before``: the digest of the event before the first. The digests equal those of
    ``chain.link``, which encodes one event at a time.
    """
    digest_text, stored_text = _once(as_text), _once(json.dumps)
    between, after = _shared_facts(shared)
    digest = before
    rows = []
    for id, payload in enumerate(payloads, first):
        project, feature = payload.get("project"), payload.get("feature_name")
        data, pre_data = payload.get("data"), payload.get("pre_data")
        facts = f"[{id},{between},{_text(project)},{_text(feature)},{after}]"
        text = f"{facts}\n{digest_text(data)}\n{digest_text(pre_data)}"
        digest = sha256(digest + text.encode()).digest()
        stored = (None if value is None else stored_text(value) for value in (data, pre_data))
        rows.append((id, project, feature, *stored, digest))
    _send(connection, rows, [shared[name] for name in SHARED])


def _shared_facts(shared: Mapping[str, Any]) -> tuple[str, str]:
    """JSON of the shared values: those between id and project, and those after the feature."""
    values = dict(shared) | {"created_at": shared["created_at"].isoformat()}
    start, end = FACTS.index("project"), FACTS.index("feature_name") + 1
    between = as_text([values[name] for name in FACTS[1:start]])
    after = as_text([values[name] for name in FACTS[end:]])
    return between[1:-1], after[1:-1]


def _text(value: str | None) -> str:
    return "null" if value is None else _quoted(value)


def _once(encode: Callable[[Any], str]) -> Callable[[Any], str]:
    """Cache an encoder by the identity of the value: events of one act often share their data."""
    texts: dict[int, str] = {}

    def text_of(value: Any) -> str:
        text = texts.get(id(value))
        if text is None:
            text = texts[id(value)] = encode(value)
        return text

    return text_of


def _send(connection: sa.Connection, rows: list[tuple[Any, ...]], shared: list[Any]) -> None:
    dialect, end = connection.dialect, (rows[-1][0], rows[-1][-1])  # id and digest
    processors = _processors(dialect)
    values = tuple(
        process(value) if process else value
        for process, value in zip(processors, shared, strict=True)
    )
    if dialect.name == "postgresql":
        columns = tuple(list(column) for column in zip(*rows, strict=True))
        connection.exec_driver_sql(_APPEND, (*values, *columns, *end))
    else:
        connection.exec_driver_sql(_INSERT_ROWS, [row + values for row in rows])
        connection.exec_driver_sql(_SET_END, end)


@cache
def _processors(dialect: sa.Dialect) -> tuple[Any, ...]:
    """SQLAlchemy's conversions of the shared columns, which this plain SQL would skip."""
    types = (Event.__table__.columns[name].type.dialect_impl(dialect) for name in SHARED)
    return tuple(type.bind_processor(dialect) for type in types)


def _cast(name: str, *, many: bool = False) -> str:
    """A parameter for PostgreSQL, which can't tell the types of NULL and of lists."""
    type = Event.__table__.columns[name].type.compile(postgresql.dialect())  # type: ignore[no-untyped-call]
    return f"%b::{type}[]" if many else f"%s::{type}"


def _insert(columns: Sequence[str], source: str) -> str:
    return f"INSERT INTO events ({', '.join(columns)}) {source}"


_INSERT_ROWS = _insert((*OWN, *SHARED), f"VALUES ({', '.join('?' * len(OWN + SHARED))})")
_INSERT_ARRAYS = _insert(
    (*SHARED, *OWN),
    f"SELECT {', '.join(map(_cast, SHARED))}, own.* "  # noqa: S608 - as above
    f"FROM unnest({', '.join(_cast(name, many=True) for name in OWN)}) AS own",
)
_SET_END = "UPDATE event_heads SET last_id = ?, digest = ?"
# In one round trip, since all others who record anything wait for it.
_APPEND = f"WITH recorded AS ({_INSERT_ARRAYS}) UPDATE event_heads SET last_id = %s, digest = %b"  # noqa: S608 - as above
