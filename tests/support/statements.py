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
    with _listening(app, lambda statement, _: run.append(statement)):
        yield run


@contextmanager
def reads(app: Flask) -> Iterator[Counter[tuple[str, str]]]:
    """How often each SELECT is run in the block, by its text and its values."""
    counts: Counter[tuple[str, str]] = Counter()

    def note(statement: str, values: object) -> None:
        if statement.startswith("SELECT"):
            counts[statement, repr(values)] += 1

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


@contextmanager
def _listening(app: Flask, note: Callable[[str, object], object]) -> Iterator[None]:
    def heard(_connection: object, _cursor: object, text: str, values: object, *_: object) -> None:
        if not text.startswith("BEGIN") and "alembic_version" not in text:
            note(text, values)

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", heard)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", heard)
