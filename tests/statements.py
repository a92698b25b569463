"""Counting the SQL that something takes."""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask
from sqlalchemy import event

from app.core.db import db


@contextmanager
def statements(app: Flask) -> Iterator[list[str]]:
    """The SQL statements that are run in the block, but for those that begin a transaction."""
    run: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("BEGIN"):
            run.append(statement)

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield run
    finally:
        event.remove(engine, "before_cursor_execute", note)
