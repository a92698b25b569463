"""Counting the SQL that something takes."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident

import sqlalchemy as sa
from flask import Flask
from sqlalchemy import event

from app.catalogue.visits import requests as visits
from app.core.db import db

BEGIN = "BEGIN"
_STRAY = re.compile(r"EXISTS \(SELECT [^()]*\sFROM \w+(?: AS \w+)?, ")


def refuse_stray_tables() -> None:
    """Fail on a condition that asks about any row of a table instead of the one further out.

    SQLAlchemy correlates a subquery with the statement right above it, and gives it a table of its
    own for one that is higher. ``correlate_except`` says what is the subquery's own.
    """

    @event.listens_for(sa.Engine, "before_cursor_execute")
    def check(_connection: object, _cursor: object, text: str, *_: object) -> None:
        assert _STRAY.search(text) is None, text


@contextmanager
def statements(app: Flask) -> Iterator[list[str]]:
    """The SQL statements that are run in the block.

    Without those that begin a transaction, and the look at the schema that one does each second.
    """
    run: list[str] = []

    def note(statement: str, _: object) -> None:
        if statement != BEGIN:
            run.append(statement)

    with _listening(app, note):
        yield run


@contextmanager
def reads(app: Flask) -> Iterator[Counter[tuple[int, str, str]]]:
    """How often each SELECT is run in the block, by its place, its text and its values.

    Place: the number of statements before it that began a transaction, wrote or locked something.
    What is read before them can be different after them.
    """
    counts: Counter[tuple[int, str, str]] = Counter()
    place = 0

    def note(statement: str, values: object) -> None:
        nonlocal place
        if statement.startswith("SELECT") and " FOR " not in statement:
            counts[place, statement, repr(values)] += 1
        else:
            place += 1

    with _listening(app, note):
        yield counts


def settled(app: Flask, fetch: Callable[[], object]) -> list[str]:
    """The statements of a fetch that was done before, so that nothing is left to note.

    The first notes that a session was used and a place was visited. As that writes, the second
    reads again who someone is.
    """
    fetch()
    with app.app_context():
        visits.write_pending()
    fetch()
    with statements(app) as run:
        fetch()
    return run


Note = Callable[[str, object], object]

_notes: dict[int, list[Note]] = defaultdict(list)
"""What hears of the statements of a thread, by its id."""


@contextmanager
def _listening(app: Flask, note: Note) -> Iterator[None]:
    with app.app_context():
        if not event.contains(db.engine, "begin", _began):
            event.listen(db.engine, "begin", _began)
            event.listen(db.engine, "before_cursor_execute", _heard)
    notes = _notes[get_ident()]
    notes.append(note)
    try:
        yield
    finally:
        notes.remove(note)


def _began(_connection: object) -> None:
    for note in _notes[get_ident()]:
        note(BEGIN, ())


def _heard(_connection: object, _cursor: object, text: str, values: object, *_: object) -> None:
    if not text.startswith(BEGIN) and "alembic_version" not in text:
        for note in _notes[get_ident()]:
            note(text, values)
