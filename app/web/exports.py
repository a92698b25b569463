"""Whole tables as files: streamed, and safe to open in a spreadsheet."""

import csv
import io
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from time import sleep
from types import MappingProxyType
from typing import Any

from flask import Flask, Response, current_app, g, json, request, stream_with_context
from marshmallow import Schema

from app.core.config import Settings
from app.core.db import CHUNK, transact
from app.core.errors import TooManyRequests
from app.core.paging import Page

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
PART_LENGTH = 16_384
BREATH_SECONDS = 0.0005
"""Pause after each part, in which other threads get the GIL."""
RETRY_SECONDS = 5
_formula = re.compile(r"(^|[;|\t\r\n])(?= *[=+@\t\r＝＋－＠-])")  # noqa: RUF001 - as spreadsheets take them
"""The start of a formula, also after characters that end a cell in some spreadsheets."""


class TooManyDownloads(TooManyRequests):
    """All threads that may write large files are busy."""

    def __init__(self) -> None:
        super().__init__(seconds=RETRY_SECONDS)
        self.message = "Other large downloads are being written now. Try again in a few seconds."


@dataclass(slots=True)
class Export:
    """A download. ``release``: lets another one begin. ``rows``: how many were written so far."""

    file_name: str
    release: Callable[[], None]
    rows: int = 0
    is_over: bool = False

    def counted(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        try:
            for row in rows:
                self.rows += 1
                yield row
        finally:
            self.end()

    def end(self) -> None:
        """Let another download begin. Later calls do nothing."""
        if not self.is_over:
            self.is_over = True
            self.release()


def init_app(app: Flask) -> None:
    """Leave half of the threads to other requests."""
    settings: Settings = app.config["SETTINGS"]
    downloads = threading.BoundedSemaphore(max(1, settings.threads // 2))
    app.extensions["flagstaff.downloads"] = downloads

    @app.after_request
    def end_with(response: Response) -> Response:
        """End the export when the last part is sent or the client is gone: after the request."""
        if "export" in g:
            response.call_on_close(g.export.end)
        return response


def wanted() -> str | None:
    """``csv`` or ``json`` if the address asks for a file instead of a page."""
    asked = request.args.get("format", "")
    return asked if asked in FORMATS else None


def table(
    name: str,
    schema: Schema,
    search: Callable[..., Page[Any]],
    values: Mapping[str, Any] = MappingProxyType({}),
) -> Response:
    """All that ``search(limit=…, offset=…)`` finds, as ``schema`` shows it, in the wanted format.

    ``values``: more arguments of the search; limit and offset in them are ignored.
    """

    def chunk(offset: int) -> list[dict[str, Any]]:
        page = search(**{**values, "limit": CHUNK, "offset": offset})
        dumped: list[dict[str, Any]] = schema.dump(page.items, many=True)
        return dumped

    def rows() -> Iterator[dict[str, Any]]:
        for offset in count(0, CHUNK):
            found = transact(partial(chunk, offset), writes=False)
            yield from found
            if len(found) < CHUNK:
                return

    columns = [field.data_key or key for key, field in schema.dump_fields.items()]
    return file(name, columns, rows())


def file(name: str, columns: list[str], rows: Iterable[dict[str, Any]]) -> Response:
    """The rows as a download, in the wanted format.

    Raises:
        TooManyDownloads: if half of the threads already write downloads.

    """
    downloads: threading.BoundedSemaphore = current_app.extensions["flagstaff.downloads"]
    format = wanted() or "csv"
    if "export" not in g:  # the view may be called again, in another transaction
        if not downloads.acquire(blocking=False):
            raise TooManyDownloads
        g.export = Export(f"{name}.{format}", downloads.release)
    export: Export = g.export
    write = _csv if format == "csv" else _json
    headers = {
        "Content-Disposition": f'attachment; filename="{export.file_name}"',
        "Content-Type": FORMATS[format],
    }
    lines = write(columns, export.counted(rows))
    return Response(stream_with_context(_parts(lines)), headers=headers)


def document(name: str, content: dict[str, Any], *, rows: int) -> Response:
    """One JSON document of so many rows as a download."""
    g.export = Export(name, release=lambda: None, rows=rows, is_over=True)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(json.dumps(content, indent=2), headers=headers, mimetype="application/json")


def _parts(lines: Iterable[str]) -> Iterator[str]:
    """The lines in parts of at least PART_LENGTH. Between two, other requests get the GIL."""
    part: list[str] = []
    length = 0
    for line in lines:
        part.append(line)
        length += len(line)
        if length >= PART_LENGTH:
            yield "".join(part)
            part.clear()
            length = 0
            sleep(BREATH_SECONDS)
    yield "".join(part)


def safe_cell(value: Any) -> str:
    """The value as text of which no spreadsheet takes any part for a formula."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
        value = ", ".join(map(str, value))
    elif isinstance(value, list | dict):
        value = json.dumps(value)
    return _formula.sub(r"\1'", str(value))


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
