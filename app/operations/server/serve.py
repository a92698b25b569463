"""Start the server: bind the sockets, then run the worker processes."""

import errno
import gc
import os
import socket
from collections.abc import Callable
from tempfile import TemporaryDirectory

from flask import Flask
from waitress.adjustments import Adjustments

from app.core.config import Settings
from app.core.config.kinds import in_address
from app.operations.server import application
from app.operations.server.instance import CantListen
from app.operations.server.memory import return_large_buffers
from app.operations.server.supervisor import Supervisor
from app.operations.server.worker import Worker, changes
from app.web.health.api import Leaving
from app.web.metrics import Metrics

BACKLOG = 1_024
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the folder in it is made for this process alone

REMEDIES = {
    errno.EADDRINUSE: "Stop what listens there, or choose another port with FLAGSTAFF_PORT.",
    errno.EACCES: "Choose a port from 1024 on with FLAGSTAFF_PORT.",
}
"""What to do if a socket can't be bound, by error code."""


def serve(
    app: Flask,
    announce: Callable[[str], object],
    prepare: Callable[[Flask], list[str]] = application.prepare,
) -> int:
    """Prepare the database, then serve until a signal ends it. Return the exit status.

    ``announce`` shows the operator the address and the lines of ``prepare``.
    """
    settings: Settings = app.config["SETTINGS"]
    return_large_buffers()
    sockets = _bind(settings)  # first: where another server listens, nothing is migrated
    lines = prepare(app)
    for listener in sockets:
        listener.listen(BACKLOG)
    announce(f"Flagstaff listens on {_address(settings)}")
    for line in lines:
        announce(line)
    is_change = changes(app)
    if not hasattr(os, "fork"):  # Windows
        Worker(app, sockets, is_change).run()
        return 0
    metrics: Metrics = app.extensions["flagstaff.metrics"]
    leaving: Leaving = app.extensions["flagstaff.leaving"]
    # The metrics are in mapped files: writing to one kills the process if its disk is full.
    in_memory = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    with TemporaryDirectory(prefix="flagstaff-", dir=in_memory) as folder:
        metrics.share(folder)
        gc.collect()
        gc.freeze()  # so that the workers' garbage collectors leave the shared memory alone
        status = Supervisor(
            lambda heart, life: Worker(app, sockets, is_change, heart=heart, life=life).run(),
            settings.processes,
            on_end=metrics.forget,
            on_leave=leaving.begin,
            stop_listening=lambda: _close(sockets),
        ).run()
    application.write_down_end(app)
    return status


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
        remedy = REMEDIES.get(getattr(error, "errno", 0), "Change FLAGSTAFF_HOST.")
        raise CantListen(f"Can't listen on {_address(settings)}: {why}. {remedy}") from None
    return sockets


def _close(sockets: list[socket.socket]) -> None:
    for listener in sockets:
        listener.close()


def _address(settings: Settings) -> str:
    return f"http://{in_address(settings.host)}:{settings.port}{settings.url_prefix}"
