"""The server's log on standard error: one line an entry, as text or as JSON."""

import json
import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, TextIO

from app.core.config import Settings

LOGGER = logging.getLogger("flagstaff")
ACCESS = logging.getLogger("flagstaff.access")
"""One line a request. As JSON, the entries of ``extra["facts"]`` are keys of the line."""


def log_request(line: str, facts: dict[str, Any], cause: BaseException | None = None) -> None:
    """Log a request: as an error if it has a ``cause`` and a status from 500, the trace at 500."""
    if cause is None or facts["status"] < HTTPStatus.INTERNAL_SERVER_ERROR:
        ACCESS.info(line, extra={"facts": facts})
        return
    why = facts["cause"] = reason(cause)
    trace = cause if facts["status"] == HTTPStatus.INTERNAL_SERVER_ERROR else None
    ACCESS.error("%s (%s)", line, why, exc_info=trace, extra={"facts": facts})


def reason(error: BaseException) -> str:
    """An error's message in one line; for a database error, the database's own."""
    found = error.__cause__ or error
    return str(found).partition("\n")[0] or type(found).__name__


class _Json(logging.Formatter):
    """Formats an entry as one line of ASCII, so that clients can't forge lines."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps(entry)


class _Text(logging.Formatter):
    """Formats an entry as a line for people. A trace follows on indented lines."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%d %H:%M:%S")
        # As JSON, line breaks in it are escaped: clients can't forge lines here either.
        message = json.dumps(record.getMessage(), ensure_ascii=True)[1:-1].replace('\\"', '"')
        line = f"{at} {record.levelname.lower()} {message}"
        if record.exc_info:
            trace = self.formatException(record.exc_info)
            line += "".join(f"\n    {row}" for row in trace.splitlines())
        return line


class _Handler(logging.StreamHandler[TextIO]):
    """Writes lines at once; while ``waiting`` is a queue, lines of requests in batches."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: deque[logging.LogRecord] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.waiting is not None and record.name == ACCESS.name:
            self.waiting.append(record)
        else:
            super().emit(record)

    def write_waiting(self) -> None:
        lines = []
        while self.waiting:
            lines.append(self.format(self.waiting.popleft()))
        if lines:
            with suppress(OSError):  # a full disk stops the log, not the server
                self.stream.write("\n".join([*lines, ""]))
                self.flush()


@contextmanager
def written_in_batches() -> Iterator[Callable[[], None]]:
    """Buffer the lines of requests for the block. Yields the function that writes them."""
    [handler] = [one for one in logging.getLogger().handlers if isinstance(one, _Handler)]
    handler.waiting = deque()
    try:
        yield handler.write_waiting
    finally:
        handler.write_waiting()
        handler.waiting = None


def configure(settings: Settings) -> None:
    """Log as the operator wants it."""
    handler = _Handler()
    handler.setFormatter(_Json() if settings.log_format == "json" else _Text())
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)
    LOGGER.setLevel(level)
    ACCESS.setLevel(level if settings.log_requests else logging.ERROR)
    logging._srcfile = None  # noqa: SLF001 - documented: no line names its place in the code
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    # waitress warns of every request that waits for a thread; under load that is each of them.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
