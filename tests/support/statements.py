"""Counting the SQL that something takes."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flask import Flask
from sqlalchemy import event

from app.catalogue.visits import requests as visits
from app.core.db import db


@contextmanager
def statements(app: Flask) -> Iterator[list[str]]:
    """The SQL statements that are run in the block.

    Without those that begin a transaction, and the look at the schema that one does each second.
    """
    run: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("BEGIN") and "alembic_version" not in statement:
            run.append(statement)

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield run
    finally:
        event.remove(engine, "before_cursor_execute", note)


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


@contextmanager
def reads(app: Flask) -> Iterator[Counter[tuple[str, str]]]:
    """How often each SELECT is run in the block, by its text and its values."""
    counts: Counter[tuple[str, str]] = Counter()

    def note(
        _connection: object, _cursor: object, statement: str, values: object, *_: object
    ) -> None:
        if statement.startswith("SELECT") and "alembic_version" not in statement:
            counts[statement, repr(values)] += 1

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield counts
    finally:
        event.remove(engine, "before_cursor_execute", note)
