"""Whole tables as files: streamed, and safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any

from flask import Response, json, request, stream_with_context
from marshmallow import Schema

from app.core.db import CHUNK, transact
from app.core.paging import Page

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
_RISKY = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # noqa: RUF001 - as spreadsheets take them


def wanted() -> str | None:
    """``csv`` or ``json`` if the address asks for a file in the place of a page."""
    asked = request.args.get("format", "")
    return asked if asked in FORMATS else None


def table(
    name: str,
    schema: Schema,
    search: Callable[..., Page[Any]],
    values: Mapping[str, Any] = MappingProxyType({}),
) -> Response:
    """All that ``search(limit=…, offset=…)`` finds, as ``schema`` shows it, in the wanted format.

    ``values``: what else the search is asked for; a limit and an offset among them don't count.
    """

    def stretch(offset: int) -> list[dict[str, Any]]:
        page = search(**{**values, "limit": CHUNK, "offset": offset})
        found: list[dict[str, Any]] = schema.dump(page.items, many=True)
        return found

    def rows() -> Iterator[dict[str, Any]]:
        for offset in count(0, CHUNK):
            found = transact(partial(stretch, offset), writes=False)
            yield from found
            if len(found) < CHUNK:
                return

    columns = [field.data_key or key for key, field in schema.dump_fields.items()]
    return file(name, columns, rows())


def file(name: str, columns: list[str], rows: Iterable[dict[str, Any]]) -> Response:
    """The rows as a file to keep, in the wanted format."""
    format = wanted() or "csv"
    write = _csv if format == "csv" else _json
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.{format}"',
        "Content-Type": FORMATS[format],
    }
    return Response(stream_with_context(write(columns, rows)), headers=headers)


def safe_cell(value: Any) -> str:
    """A cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, list | dict):
        value = _flat(value)
    text = str(value)
    return f"'{text}" if text.lstrip(" ").startswith(_RISKY) else text


def _flat(value: list[Any] | dict[str, Any]) -> str:
    if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
        return ", ".join(map(str, value))
    return json.dumps(value)


def _csv(columns: list[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line)
    yield "\ufeff"  # so that spreadsheets read it as UTF-8
    writer.writerow(columns)
    for row in rows:
        writer.writerow([safe_cell(row.get(column)) for column in columns])
        yield line.getvalue()
        line.seek(0)
        line.truncate()
    yield line.getvalue()


def _json(_columns: list[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    separator = "["
    for row in rows:
        yield f"{separator}{json.dumps(row)}"
        separator = ",\n"
    yield "]\n" if separator != "[" else "[]\n"
