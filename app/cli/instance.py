"""What every command begins with: the settings, the folder, the application, the database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask

from app import create_app
from app.config import Settings, from_environment
from app.core import logs, migrations
from app.core.db import db, unit_of_work


def application() -> Flask:
    """The application as the environment says, its folder made."""
    settings = from_environment(os.environ)
    os.umask(0o077)  # the database holds what is nobody else's business on this machine
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    logs.configure(settings.log_format)
    return create_app(settings)


@contextmanager
def change() -> Iterator[Settings]:
    """One unit of work on a migrated database, and the settings it runs with."""
    with _unit_of_work(writes=True) as settings:
        yield settings


@contextmanager
def look() -> Iterator[Settings]:
    """The same for what changes nothing, and keeps nobody from changing something meanwhile."""
    with _unit_of_work(writes=False) as settings:
        yield settings


@contextmanager
def _unit_of_work(*, writes: bool) -> Iterator[Settings]:
    app = application()
    with app.app_context():
        migrations.upgrade(db.engine)
        with unit_of_work(writes=writes):
            yield app.config["SETTINGS"]
