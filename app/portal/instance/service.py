"""Which version of Flagstaff serves, and what changed in each."""

import re
from datetime import date, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from markupsafe import Markup

from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.db import db, locked, upsert
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.models import EventHead
from app.core.files import CHANGELOG
from app.portal.instance.models import ServedVersion

_to_files = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
"""A link to another file of the repository, which a server doesn't have."""


class Version(NamedTuple):
    """A version in the changelog; ``released``: None if it isn't yet."""

    name: str
    released: date | None
    changes: Markup


def note_version(version: str) -> None:
    """Record which version serves from now on. After another one, that is an upgrade: an event."""
    db.session.execute(locked(sa.select(EventHead.id)))  # one server at a time
    served = db.session.execute(
        sa.select(ServedVersion.version, ServedVersion.since)
        .order_by(ServedVersion.since.desc())
        .limit(1)
    ).one_or_none()
    before = served.version if served else None
    if before == version:
        return
    # Later than the one before, even in the same millisecond or if the clock was set back.
    since = max(utcnow(), served.since + timedelta(milliseconds=1)) if served else utcnow()
    row = {"version": version, "since": since}
    db.session.execute(upsert(ServedVersion, latest=[("since",)]).values(row))
    if before is not None:
        events.record(
            COMMAND_LINE,
            EventType.INSTANCE_UPGRADED,
            data={"version": version},
            pre_data={"version": before} if before else None,
        )


def versions() -> list[Version]:
    """The versions in the changelog that have changes, newest first."""
    from markdown import markdown  # noqa: PLC0415 - a server starts faster without it

    text = _to_files.sub(r"\1", CHANGELOG.read_text("utf-8"))
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    found = []
    for section in sections:
        heading, _, text = section.partition("\n")
        name, _, released = heading.partition(" - ")
        if text.strip():
            day = date.fromisoformat(released) if released else None
            html = markdown(text).replace("<ul>", "<ul class=bullets>")
            found.append(Version(name.strip("[]"), day, Markup(html)))  # noqa: S704 - our own file
    return found
