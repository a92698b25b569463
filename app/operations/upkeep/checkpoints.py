"""Checkpoints: where the event log ends, recorded in a file outside the database.

Each line has the id and the digest of the last event, or of the last event that was pruned, and as
``link`` a digest of all lines up to itself. Lines of older versions have no link.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from app.core import storage
from app.core.clock import utcnow
from app.core.config import Settings
from app.core.db import db, unit_of_work
from app.core.events import service as events
from app.core.events import verification
from app.core.events.service import End, Pruning
from app.core.events.verification import Evidence, Head, Verdict
from app.core.locks import locked
from app.core.logs import LOGGER
from app.operations.upkeep.progress import OperationFailed

HEADS = "event_heads.jsonl"
"""The file, in the home folder."""
MOST_TIME = timedelta(seconds=60)
MOST_EVENTS = 1_000
TAIL_BYTES = 4_096
"""How much of the file's end to read for its last line; several lines fit."""
START = bytes(32)

Line = dict[str, Any]


class UnreadableHeads(OperationFailed):
    """The file, or a line of it, can't be read."""


@dataclass(slots=True)
class HeadFile:
    """Content of the file. ``prunings``: None if only older versions wrote it.

    ``problems``: lines whose link doesn't match the lines before. ``cut_off``: numbers of lines
    whose end is missing, because the disk was full. ``link``: digest of all whole lines.
    """

    heads: list[Head] = field(default_factory=list)
    prunings: set[Head] | None = None
    problems: list[str] = field(default_factory=list)
    cut_off: list[int] = field(default_factory=list)
    last: Line | None = None
    link: bytes = START

    @property
    def last_id(self) -> int:
        """Id of the last event in the file; 0 for none."""
        return max((id for id, _ in self.heads), default=0)


def write_down_if_due(home: Path) -> None:
    """Add a checkpoint if the last one is a minute or 1,000 events old.

    Cheap enough to call every second, from every process.
    """
    with unit_of_work(writes=False):
        end = events.end()
    if _is_due(_last_line(home / HEADS), end):
        write_down(home)


def write_down(home: Path) -> None:
    """Add a checkpoint, unless the last line equals it."""
    with locked(_lock_of(home)), unit_of_work(writes=False):
        end = events.end()
        found = _read_end(home)
        if found.last is not None and _is_of(found.last, end):
            return
        line: Line = {"id": end.last_id, "digest": end.digest.hex()}
        if found.prunings is None:  # the first line with a link accepts earlier prunings
            line["pruned"] = {"through": end.pruned_to, "digest": end.pruned_digest.hex()}
        storage.sync(db.engine)  # or a power failure could leave a line about an event it took
        _append(home / HEADS, found.link, line)
        if end.last_id:
            LOGGER.info("the event log ends with event %s, %s", line["id"], line["digest"])


def write_down_pruning(home: Path, pruning: Pruning) -> None:
    """Record a pruning in the file. Call this before the pruning is committed.

    If there is no file, do nothing: its first line will accept earlier prunings.
    """
    with locked(_lock_of(home)):
        if (home / HEADS).exists():
            removed = {"through": pruning.through, "digest": pruning.digest.hex()}
            _append(home / HEADS, _read_end(home).link, {"pruned": removed})


def verify(home: Path, heads: Sequence[Head] = ()) -> tuple[Verdict, HeadFile]:
    """Check the whole log, and compare it with the file and with ``heads`` kept elsewhere.

    Raises:
        UnreadableHeads: if the file can't be read.

    """
    file = read(home)
    prunings = None if file.prunings is None else frozenset(file.prunings)
    source = f"{HEADS} or --head" if heads else HEADS
    verdict = verification.verify(Evidence(source, [*file.heads, *heads], prunings))
    verdict.problems[:0] = file.problems
    return verdict, file


def read(home: Path) -> HeadFile:
    """Read the whole file; a missing file counts as empty.

    Raises:
        UnreadableHeads: if it, or a line of it, can't be read.

    """
    file = home / HEADS
    found = HeadFile()
    try:
        text = file.read_text("utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise UnreadableHeads(f"{file} can't be read: {why}.") from None
    for number, raw in enumerate(text.splitlines(), 1):
        if raw.startswith("{") and not raw.endswith("}"):
            found.cut_off.append(number)
            continue
        line = _parsed(raw)
        if line is None:
            raise UnreadableHeads(
                f"Line {number} of {file} can't be read: {raw[:40]!r}. Find out who changed it. "
                "Moving the file away starts a new one, which proves nothing about older events."
            )
        _add_line(found, line, raw, number)
    return found


def has_served(settings: Settings) -> bool:
    """Whether an instance was ever served from this folder, and so left the file there."""
    return (settings.home / HEADS).exists()


def _add_line(file: HeadFile, line: Line, raw: str, number: int) -> None:
    link = _link(file.link, line, raw)
    given = line.get("link")
    if given is not None and given != link.hex():
        file.problems.append(
            f"Line {number} of {HEADS} does not follow the lines before it: "
            "one was changed, removed or added."
        )
        link = bytes.fromhex(given)  # go on from it, so that one change is reported once
    file.link, file.last = link, line
    if line.get("id"):
        file.heads.append((line["id"], bytes.fromhex(line["digest"])))
    if given is not None:
        file.prunings = file.prunings or set()
    if "pruned" in line and file.prunings is not None:
        removed = line["pruned"]
        file.prunings.add((removed["through"], bytes.fromhex(removed["digest"])))


def _parsed(raw: str) -> Line | None:
    """The parsed line; None if Flagstaff can't have written it."""
    try:
        line = json.loads(raw)
        for part in (line, line.get("pruned", {})):
            bytes.fromhex(part.get("digest", ""))
        bytes.fromhex(line.get("link", ""))
        is_head = isinstance(line["id"], int) and "digest" in line if "id" in line else True
        is_pruning = isinstance(line["pruned"]["through"], int) if "pruned" in line else True
    except (ValueError, AttributeError, KeyError, TypeError):
        return None
    return line if is_head and is_pruning and line.keys() & {"id", "pruned"} else None


def _link(before: bytes, line: Line, raw: str) -> bytes:
    """Digest of this line and those before; lines without a link are taken as raw text."""
    facts = {name: value for name, value in line.items() if name != "link"}
    text = _text(facts) if "link" in line else raw
    return sha256(before + text.encode()).digest()


def _text(line: Line) -> str:
    return json.dumps(line, sort_keys=True)


def _append(file: Path, before: bytes, facts: Line) -> None:
    line = facts | {"at": utcnow().isoformat()}
    line["link"] = sha256(before + _text(line).encode()).hexdigest()
    text = _text(line) + "\n"
    with file.open("ab+") as out:
        out.seek(max(out.seek(0, os.SEEK_END) - 1, 0))
        if out.read(1) not in {b"", b"\n"}:
            text = "\n" + text  # the line before was cut off
        out.write(text.encode())
        out.flush()
        os.fsync(out.fileno())


def _is_due(last: Line | None, end: End) -> bool:
    if last is None or "at" not in last:
        return True
    if _is_of(last, end):
        return False
    since = abs(utcnow() - datetime.fromisoformat(last["at"]))  # the clock may have been set back
    return since >= MOST_TIME or end.last_id - last.get("id", 0) >= MOST_EVENTS


def _is_of(line: Line, end: End) -> bool:
    """Whether a line with a link says that the log ends there."""
    return (line.get("id"), line.get("digest")) == (end.last_id, end.digest.hex()) and (
        "link" in line
    )


def _read_end(home: Path) -> HeadFile:
    """State of the file for appending: from its last line if that has a link, else from all."""
    last = _last_line(home / HEADS)
    if last is None or "link" not in last:
        return read(home)
    return HeadFile(prunings=set(), last=last, link=bytes.fromhex(last["link"]))


def _last_line(file: Path) -> Line | None:
    """The last complete line; None if there is none, or it can't be read."""
    if not file.exists():
        return None
    with file.open("rb") as source:
        source.seek(max(source.seek(0, os.SEEK_END) - TAIL_BYTES, 0))
        tail = source.read().decode("utf-8", "replace")
    lines = [line for line in tail.splitlines() if line.endswith("}")]
    return _parsed(lines[-1]) if lines else None


def _lock_of(home: Path) -> Path:
    return home / ".event_heads.lock"
