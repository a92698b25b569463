"""What every command begins with: the settings, the folder, the application, the database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask

from app import create_app
from app.config import Settings, from_environment
from app.core import logs, migrations
from app.core.db import db, unit_of_work

HEADS = "event_heads.jsonl"
"""In the home folder: where the log ended, written down again and again outside the database."""


class Lost(Exception):
    """There was an instance here, and its database is gone."""


def settings_with_home() -> Settings:
    """The settings that the environment has, and the folder that they name, made if missing."""
    settings = from_environment(os.environ)
    os.umask(0o077)  # the database holds what is nobody else's business on this machine
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    logs.configure(settings.log_format)
    return settings


def application() -> Flask:
    """The application as the environment says."""
    return create_app(settings_with_home())


@contextmanager
def opened(settings: Settings | None = None) -> Iterator[Settings]:
    """The application, as the environment says unless ``settings`` do, running for the block."""
    app = create_app(settings) if settings is not None else application()
    with app.app_context():
        try:
            yield app.config["SETTINGS"]
        finally:
            db.engine.dispose()


def has_served(settings: Settings) -> bool:
    """Whether an instance was ever served from this folder, which leaves its mark there."""
    return (settings.home / HEADS).exists()


def migrate(settings: Settings) -> None:
    """Bring the database of the application that is running to what this version needs.

    Raises:
        Lost: when it is empty though an instance was served from this folder.

    """
    if has_served(settings) and migrations.current(db.engine) is None:
        raise Lost(
            f"The database {db.engine.url.render_as_string()} is empty, but this folder has served "
            "an instance. If a disk is not there, bring it back; if the data is lost, restore a "
            f"backup: flagstaff restore FILE. To begin anew, delete {settings.home / HEADS}."
        )
    migrations.upgrade(db.engine)


@contextmanager
def change(*, is_rehearsal: bool = False) -> Iterator[Settings]:
    """One unit of work on a migrated database, and the settings it runs with.

    Of a rehearsal nothing is kept.
    """
    with _unit_of_work(writes=True) as settings:
        yield settings
        if is_rehearsal:
            db.session.rollback()


@contextmanager
def look() -> Iterator[Settings]:
    """The same for what changes nothing, and keeps nobody from changing something meanwhile."""
    with _unit_of_work(writes=False) as settings:
        yield settings


@contextmanager
def _unit_of_work(*, writes: bool) -> Iterator[Settings]:
    with opened() as settings:
        migrate(settings)
        with unit_of_work(writes=writes):
            yield settings
