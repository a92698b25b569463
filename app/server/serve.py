"""From a migrated database to processes that serve."""

import errno
import gc
import os
import socket
from collections.abc import Callable
from tempfile import TemporaryDirectory

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError
from waitress.adjustments import Adjustments

from app.auth import first_admin
from app.config import Settings
from app.config.kinds import in_address
from app.core.db import db, refresh_statistics, unit_of_work
from app.core.errors import Unavailable
from app.core.logs import LOGGER
from app.operations import heads
from app.operations.backup import last_backup
from app.operations.errors import OperationFailed
from app.server.errors import CantListen
from app.server.instance import migrate
from app.server.memory import return_large_buffers
from app.server.supervisor import Supervisor
from app.server.worker import Worker
from app.service_accounts import service as service_accounts
from app.web.metrics import Metrics

BACKLOG = 1_024
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the folder in it is made for this process alone

REMEDIES = {
    errno.EADDRINUSE: "Stop the other program, or choose another port with FLAGSTAFF_PORT.",
    errno.EACCES: "Choose a port from 1024 on with FLAGSTAFF_PORT.",
}
"""What to do where a socket can't be bound."""


def serve(app: Flask, announce: Callable[[str], object]) -> int:
    """Migrate the database, then serve until told to stop; gives the exit status.

    ``announce`` tells the operator that it listens, and the link for the first Admin.
    """
    settings: Settings = app.config["SETTINGS"]
    return_large_buffers()
    sockets = _bind(settings)  # first: where another server listens, nothing is migrated
    with app.app_context():
        migrate(settings)
        refresh_statistics(db.engine)
        _bootstrap(settings)
        link = _first_admin_link(settings)
    for listener in sockets:
        listener.listen(BACKLOG)
    _write_down_end(app, settings)
    _measure(app, settings)
    announce(f"Flagstaff listens on {_address(settings)}")
    announce(f"Its data is in {_database(app)}")
    if link is not None:
        announce(f"There are no accounts yet. Create the first Admin within 24 hours: {link}")
    if not hasattr(os, "fork"):  # Windows
        Worker(app, sockets).run()
        return 0
    metrics: Metrics = app.extensions["flagstaff.metrics"]
    # A process that writes to a mapped file dies when the disk of the file is full.
    in_memory = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    with TemporaryDirectory(prefix="flagstaff-", dir=in_memory) as folder:
        metrics.share(folder)
        gc.collect()
        gc.freeze()  # so that the workers' garbage collectors leave the shared memory alone
        status = Supervisor(
            lambda heart, life: Worker(app, sockets, heart=heart, life=life).run(),
            settings.processes,
            on_end=metrics.forget,
            stop_listening=lambda: _close(sockets),
        ).run()
    _write_down_end(app, settings)
    return status


def _write_down_end(app: Flask, settings: Settings) -> None:
    """Write down where the event log ends, without keeping the database open.

    Failing to do so is no reason to stop; the log says so.
    """
    with app.app_context():
        try:
            heads.write_down(settings.home)
        except (OSError, SQLAlchemyError, OperationFailed, Unavailable) as error:
            LOGGER.warning("the end of the event log was not written down: %s", error)
        finally:
            db.session.remove()
            db.engine.dispose()  # no process may inherit an open connection


def _measure(app: Flask, settings: Settings) -> None:
    """Let the metrics tell what the server alone knows."""
    metrics: Metrics = app.extensions["flagstaff.metrics"]
    metrics.watch(
        "flagstaff_last_backup_timestamp_seconds",
        "When the last backup was made; 0 if none is known.",
        lambda: made.timestamp() if (made := last_backup(settings.home)) else 0,
    )


def _bind(settings: Settings) -> list[socket.socket]:
    """Sockets for every address that the host has; the workers inherit them."""
    sockets: list[socket.socket] = []
    try:
        for family, type, protocol, address in Adjustments(
            host=settings.host, port=settings.port
        ).listen:
            listener = socket.socket(family, type, protocol)
            sockets.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
    except (OSError, ValueError) as error:  # ValueError: the host name is unknown
        _close(sockets)
        why = getattr(error, "strerror", None) or str(error)
        remedy = REMEDIES.get(getattr(error, "errno", None), "Change FLAGSTAFF_HOST.")
        raise CantListen(f"Can't listen on {_address(settings)}: {why}. {remedy}") from None
    return sockets


def _close(sockets: list[socket.socket]) -> None:
    for listener in sockets:
        listener.close()


def _bootstrap(settings: Settings) -> None:
    if settings.bootstrap_token is None:
        return
    with unit_of_work(writes=True):
        made = service_accounts.bootstrap(settings.bootstrap_token)
    if made:
        LOGGER.info("the service account 'bootstrap' (Admin) holds the bootstrap token")


def _first_admin_link(settings: Settings) -> str | None:
    with unit_of_work(writes=True):
        path = first_admin.make_link()
    return settings.address(path) if path else None


def _database(app: Flask) -> str:
    """The file, or the address without the password."""
    with app.app_context():
        url = db.engine.url
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return url.set(drivername=url.get_backend_name()).render_as_string()


def _address(settings: Settings) -> str:
    return f"http://{in_address(settings.host)}:{settings.port}{settings.url_prefix}"
