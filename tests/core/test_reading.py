"""What transactions read, and that one that was opened for reading can't write."""

from functools import partial

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Project
from app.core.actor import COMMAND_LINE
from app.core.db import db, has_one_writer, once, unit_of_work
from app.core.events import service as events

RENAME = sa.update(Project).values(name="Other")


def test_nothing_is_written_in_a_transaction_for_reading(app):
    with app.app_context(), pytest.raises(DBAPIError), unit_of_work(writes=False):
        db.session.execute(RENAME)


def test_the_next_transaction_of_the_same_connection_can_write(app):
    for writes in (False, True, False):
        with app.app_context(), unit_of_work(writes=writes):
            project = projects.get_for_change(COMMAND_LINE, "default")
            if writes:
                project.name = "Written"
            assert project.name == ("Written" if writes else project.name)
    with app.app_context(), unit_of_work(writes=False):
        assert projects.get(COMMAND_LINE, "default").name == "Written"


def test_a_database_that_allows_only_reading_is_not_written_to_after_a_read(app):
    with app.app_context():
        if has_one_writer():
            return  # SQLite has no such setting
        db.engine.dispose()  # the next connection is the only one in the pool
        try:
            with unit_of_work(writes=True):
                db.session.execute(sa.text("SET default_transaction_read_only = on"))
            with unit_of_work(writes=False):
                projects.get(COMMAND_LINE, "default")
            with pytest.raises(DBAPIError), unit_of_work(writes=True):
                db.session.execute(RENAME)
        finally:
            db.engine.dispose()  # the setting ends with the connection


def test_what_a_transaction_has_read_is_read_again_after_it_writes(app):
    ask = partial(once, "names", lambda: db.session.scalars(sa.select(Project.name)).all())
    with app.app_context(), unit_of_work(writes=True):
        before = ask()
        assert ask() is before
        with events.savepoint(keeps=False):
            db.session.execute(RENAME)
            assert ask() == ["Other"]
        assert ask() == before  # the savepoint is undone
        db.session.scalars(sa.select(Project)).one().name = "Changed, but not sent"
        assert ask() == ["Changed, but not sent"]


def test_what_is_read_to_be_changed_is_as_it_is_now(app):
    """Another connection changes it after the transaction has read it first."""
    with app.app_context(), unit_of_work(writes=True):
        if has_one_writer():
            return  # SQLite lets no one else write
        read = projects.get(COMMAND_LINE, "default")
        with db.engine.connect() as other:
            other.execute(RENAME)
            other.commit()
        locked = projects.get_for_change(COMMAND_LINE, "default")
        assert (read.name, locked.name) == ("Other", "Other")
        assert projects.get(COMMAND_LINE, "default") is locked


def test_what_an_earlier_transaction_has_read_is_read_again_to_be_changed(app):
    with app.app_context():
        with unit_of_work(writes=False):
            read = projects.get(COMMAND_LINE, "default")
        with db.engine.connect() as other:
            other.execute(RENAME)
            other.commit()
        with unit_of_work(writes=True):
            assert projects.get(COMMAND_LINE, "default") is read
            assert projects.get_for_change(COMMAND_LINE, "default").name == "Other"
