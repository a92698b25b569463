"""The server's log on standard error: one line an entry, as text or as JSON."""

import json
import logging
from datetime import UTC, datetime

LOGGER = logging.getLogger("flagstaff")
ACCESS = logging.getLogger("flagstaff.access")
"""One line a request; what ``extra`` names ``facts`` is in the line's JSON by itself."""


class _Json(logging.Formatter):
    """Escapes all that is not ASCII, so that nothing sent by a client can forge a line."""

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
    """The same for people's eyes; a trace follows on indented lines."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%d %H:%M:%S")
        message = json.dumps(record.getMessage(), ensure_ascii=True)[1:-1].replace('\\"', '"')
        line = f"{at} {record.levelname.lower()} {message}"
        if record.exc_info:
            trace = self.formatException(record.exc_info)
            line += "".join(f"\n    {row}" for row in trace.splitlines())
        return line


def configure(style: str) -> None:
    """``style`` is ``text`` or ``json``."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Json() if style == "json" else _Text())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    LOGGER.setLevel(logging.INFO)
    # waitress warns of every request that waits for a thread; under load that is each of them.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
