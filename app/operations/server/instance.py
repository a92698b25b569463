"""Open an instance, as every command does: settings, home folder and database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask

from app.catalogue.approvals import guard
from app.core import config, logs, migrations
from app.core import db as database
from app.core.config import Settings, from_process
from app.core.config.setting import WrongSetting
from app.core.db import check_changes, db, unit_of_work
from app.core.events import service as events
from app.core.maintenance import service as maintenance
from app.operations.upkeep.checkpoints import HEADS, has_served


class DatabaseMissing(Exception):
    """An instance was served from this folder, but its database is empty."""


class CantListen(Exception):
    """Another process listens there, or the address is not this machine's."""


def set_up_home(settings: Settings | None = None) -> Settings:
    """Create the home folder if it is missing. Without settings, read them from the environment."""
    settings = settings or from_process()
    os.umask(0o077)  # other users of this machine must not read what is written here
    try:
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (FileExistsError, NotADirectoryError, PermissionError):
        allowed = "a folder that this user can write to, or can make"
        raise WrongSetting("FLAGSTAFF_HOME", str(settings.home), allowed) from None
    logs.configure(settings)
    return settings


@contextmanager
def open_instance(settings: Settings | None = None) -> Iterator[Settings]:
    """Open the database, with the settings of the environment unless others are given.

    The application context has no pages and no API: creating them takes longer than most commands.
    """
    settings = settings or set_up_home()
    app = Flask("app")
    app.config.from_mapping(config.for_flask(settings))
    database.init_app(app, check=guard.check, write_log=events.write)
    with app.app_context():
        try:
            yield settings
        finally:
            db.session.remove()
            db.engine.dispose()  # with its last connection, SQLite moves all data into one file


def migrate(settings: Settings) -> None:
    """Migrate the database of the current application to this version's schema.

    Raises:
        DatabaseMissing: if it is empty although an instance was served from this folder.

    """
    if has_served(settings) and migrations.current(db.engine) is None:
        raise DatabaseMissing(
            f"The database {db.engine.url.render_as_string()} is empty, but an instance has been "
            "served from this folder. If a disk is missing, mount it again. If the data is lost, "
            "restore a backup: flagstaff restore FILE. To start with an empty instance, delete "
            f"{settings.home / HEADS}."
        )
    migrations.upgrade(db.engine)


@contextmanager
def write_transaction(
    *, dry_run: bool = False, even_in_maintenance: bool = False
) -> Iterator[Settings]:
    """A unit of work on the migrated database, rolled back after a dry run.

    ``even_in_maintenance``: for what changes nothing that maintenance mode protects.
    """
    with _unit_of_work(writes=True) as settings:
        if not dry_run and not even_in_maintenance:
            maintenance.refuse_changes()
        yield settings
        if dry_run:
            check_changes()
            db.session.rollback()


@contextmanager
def read_transaction() -> Iterator[Settings]:
    """A unit of work that only reads, and so doesn't block writers."""
    with _unit_of_work(writes=False) as settings:
        yield settings


@contextmanager
def _unit_of_work(*, writes: bool) -> Iterator[Settings]:
    with open_instance() as settings:
        migrate(settings)
        with unit_of_work(writes=writes):
            yield settings
