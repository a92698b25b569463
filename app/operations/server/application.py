"""Create and prepare the application, for Flagstaff's own server and for any other."""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.access.auth import first_admin
from app.access.scim import api as scim
from app.access.service_accounts import service as service_accounts
from app.catalogue.sdk_tokens import service as sdk_tokens
from app.core import statements
from app.core.config import Settings
from app.core.connections import refresh_statistics
from app.core.db import db, unit_of_work
from app.core.errors import Unavailable
from app.core.logs import LOGGER
from app.delivery.webhooks import channels
from app.factory import create_app
from app.operations.server.background import background
from app.operations.server.instance import migrate, set_up_home
from app.operations.upkeep import checkpoints
from app.operations.upkeep.backup import last_backup
from app.operations.upkeep.progress import OperationFailed
from app.portal.instance import service as instance
from app.web.metrics import Metrics


def application(settings: Settings | None = None) -> Flask:
    """The application, with the settings of the environment unless others are given."""
    return create_app(set_up_home(settings))


def application_for_any_server(announce: Callable[[str], object]) -> Flask:
    """The prepared application; runs background work in each process that has loaded it."""
    app = application()
    for line in prepare(app):
        announce(line)
    work = ExitStack()

    def start() -> None:
        work.enter_context(background(app))

    def stop() -> None:
        work.close()
        close_database(app)

    start()
    if hasattr(os, "register_at_fork"):  # threads and connections don't survive a fork
        os.register_at_fork(before=stop, after_in_parent=start, after_in_child=start)
    atexit.register(stop)
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # or atexit would not be called
    return app


def prepare(app: Flask) -> list[str]:
    """Migrate the database and create what the settings ask for. Return lines for the operator.

    No connection stays open, so processes may be forked.
    """
    settings: Settings = app.config["SETTINGS"]
    with app.app_context():
        migrate(settings)
        refresh_statistics(db.engine)
        _bootstrap(settings)
        with unit_of_work(writes=True):
            path = first_admin.make_link()
            instance.note_version(app.config["API_VERSION"])
            lines = sdk_tokens.bootstrap(settings.bootstrap_sdk_tokens)
        with unit_of_work(writes=False):
            scim.load_if_used()
        statements.compile_all(db.engine.dialect)
        lines = [f"The data is in {_database()}", *lines, *channels.unusable(settings.channels)]
    write_down_end(app)
    _measure(app, settings)
    if path:
        link = settings.address(path)
        lines.append(f"There are no accounts yet. Create the first Admin within 24 hours: {link}")
    return lines


def write_down_end(app: Flask) -> None:
    """Record a checkpoint of the event log, then close all database connections.

    A failure is logged, and doesn't stop the server.
    """
    settings: Settings = app.config["SETTINGS"]
    with app.app_context():
        try:
            checkpoints.write_down(settings.home)
        except (OSError, SQLAlchemyError, OperationFailed, Unavailable) as error:
            LOGGER.warning("the end of the event log was not written down: %s", error)
    close_database(app)


def close_database(app: Flask) -> None:
    """Close all connections, since forked processes must not share one."""
    with app.app_context():
        db.session.remove()
        db.engine.dispose()


def _measure(app: Flask, settings: Settings) -> None:
    """Add the metrics whose values only this room can read."""
    metrics: Metrics = app.extensions["flagstaff.metrics"]
    metrics.watch(
        "flagstaff_last_backup_timestamp_seconds",
        "When the last backup was made; 0 if none is known.",
        lambda: made.timestamp() if (made := last_backup(settings.home)) else 0,
    )


def _bootstrap(settings: Settings) -> None:
    if settings.bootstrap_token is None:
        return
    with unit_of_work(writes=True):
        made = service_accounts.bootstrap(settings.bootstrap_token)
    if made:
        LOGGER.info("the service account 'bootstrap' (Admin) holds the bootstrap token")


def _database() -> str:
    """The SQLite file, or the URL without the password."""
    url = db.engine.url
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return url.set(drivername=url.get_backend_name()).render_as_string()
