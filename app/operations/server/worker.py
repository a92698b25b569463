"""A worker process: runs waitress on sockets that listen already."""

import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import ClassVar
from uuid import uuid4

import waitress
from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer
from waitress.task import ErrorTask

from app.core import logs
from app.core.config import Settings
from app.core.db import db
from app.core.errors import PayloadTooLarge
from app.core.logs import ACCESS
from app.delivery.sdk.api import is_for_sdks
from app.operations.server.background import background
from app.operations.server.connections import Channel
from app.operations.server.loop import IDLE_SECONDS, Loop
from app.operations.server.proxies import behind_proxies
from app.operations.server.sockets import Sockets
from app.operations.server.streaming import Streaming
from app.operations.server.threads import Dispatcher
from app.web.http import SAFE_METHODS, headers
from app.web.metrics import Metrics
from app.web.refusals import name_of
from app.web.routes import reading_posts

MAX_CONNECTIONS = 12_000
OTHER_FILES = 128
"""File descriptors besides connections: the database, the log, large uploads and responses."""
RECEIVED_AT_ONCE = 65_536
"""Bytes of a request that one look at its socket takes at most."""
MAX_HEADER_BYTES = 16_384
NO_WATERMARK = sys.maxsize
"""A thread never waits for a client to take a response, which waits in a file."""
HEARTBEAT_SECONDS = 1.0
SWITCH_SECONDS = 0.001
"""How long a computing thread may hold the GIL while others wait."""
MAX_SPOOLED = 2_000_000_000
"""Most bytes of responses that wait for clients, over all processes."""
STATM = Path("/proc/self/statm")


class Worker:
    """A process of the server.

    ``is_change``: from ``changes``. ``heart`` and ``life`` are the pipes to and from its parent.
    """

    def __init__(
        self,
        app: Flask,
        sockets: list[socket.socket],
        is_change: Callable[[HTTPChannel], bool],
        *,
        heart: int | None = None,
        life: int | None = None,
    ) -> None:
        settings: Settings = app.config["SETTINGS"]
        _ServerRefusal.headers = headers(settings)
        _ServerRefusal.max_bytes = app.config["MAX_CONTENT_LENGTH"]
        Channel.error_task_class = _ServerRefusal
        BaseWSGIServer.channel_class = Channel
        tempfile.tempdir = str(settings.home)  # not /tmp, which may be in memory
        self._dispatcher = Dispatcher(settings.threads, is_change)
        open_sockets = Sockets()
        server = waitress.create_server(
            behind_proxies(app, settings.trusted_proxy),
            open_sockets,
            _dispatcher=self._dispatcher,
            sockets=sockets,
            **_options(app, settings),
        )
        for listener in open_sockets.values():
            if isinstance(listener, BaseWSGIServer):
                listener.pull_trigger = partial(self._dispatcher.wake, listener.pull_trigger)
        most = partial(_most_spooled, settings)
        self._loop = Loop(server, open_sockets, self._each_pass, most)
        self._heart, self._next_beat = heart, 0.0
        self._metrics: Metrics = app.extensions["flagstaff.metrics"]
        self._metrics.begin_process()
        if life is not None:
            _EndOfParent(life, self._loop.end, open_sockets)
        self._app = app

    def run(self) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        streams = Streaming(self._app.extensions["flagstaff.streams"])
        with (
            logs.written_in_batches() as self._write_log,
            background(self._app),
            streams,
        ):
            self._loop.run()
        with self._app.app_context():
            db.engine.dispose()

    def _end(self, number: int, _frame: FrameType | None) -> None:
        # Service managers signal the parent and its workers at once, and the parent signals them
        # again: ignore that. A second signal to the parent makes it kill them.
        alone = self._heart is None
        signal.signal(number, (lambda *_: os._exit(1)) if alone else signal.SIG_IGN)
        self._loop.end()

    def _each_pass(self) -> None:
        self._write_log()
        now = time.monotonic()
        if now < self._next_beat:
            return
        self._next_beat = now + HEARTBEAT_SECONDS
        self._metrics.note_process(
            waiting=len(self._dispatcher.queue),
            busy=self._dispatcher.active_count,
            memory=_resident_bytes(),
        )
        if self._heart is not None:
            try:
                os.write(self._heart, b".")
            except BrokenPipeError:
                self._loop.end()


def _most_spooled(settings: Settings) -> int:
    """Bytes of responses that this process may keep: its share of half the free disk."""
    room = shutil.disk_usage(settings.home).free // 2
    return min(room, MAX_SPOOLED) // settings.processes


class _EndOfParent(wasyncore.file_dispatcher):  # type: ignore[misc] # untyped
    """Ends the loop when the parent is gone, which closes the other end of this pipe."""

    def __init__(self, life: int, end: Callable[[], None], sockets: object) -> None:
        super().__init__(life, map=sockets)
        self._end = end

    def writable(self) -> bool:
        return False

    def handle_close(self) -> None:
        self._end()
        self.close()

    handle_read = handle_close  # some systems report a closed pipe this way


class _ServerRefusal(ErrorTask):  # type: ignore[misc] # untyped
    """An error of waitress, before the application sees the request, as JSON like all others."""

    headers: ClassVar[dict[str, str]]
    max_bytes: ClassVar[int]

    def execute(self) -> None:
        error, id = self.request.error, str(uuid4())
        # Only the client sees what was wrong: it may quote a header, and so a token.
        facts = {"id": id, "status": error.code, "refusal": error.reason}
        ACCESS.info(
            "%s refused unread: %s %s", id, error.code, error.reason, extra={"facts": facts}
        )
        message = f"{error.reason}: {error.body}."
        if error.code == PayloadTooLarge.status:
            message = PayloadTooLarge(self.max_bytes).message
        body = json.dumps(
            {"id": id, "name": name_of(error.code, error.reason), "message": message}
        ).encode()
        own = {"Content-Type": "application/json", "Cache-Control": "no-store", "X-Request-Id": id}
        self.status = f"{error.code} {error.reason}"
        self.response_headers.extend((self.headers | own).items())
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


def _resident_bytes() -> int:
    """The memory of this process; 0 where the system has no /proc."""
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def changes(app: Flask) -> Callable[[HTTPChannel], bool]:
    """Tells which requests may change something, for all workers: made before they are forked."""
    settings: Settings = app.config["SETTINGS"]
    only_reads = reading_posts(app)

    def is_change(channel: HTTPChannel) -> bool:
        """Whether the request that comes next on a connection may change something."""
        request = channel.requests[0]
        if request.error is not None or request.command in SAFE_METHODS:
            return False
        path = request.path.removeprefix(settings.url_prefix)
        return not (is_for_sdks(path) or only_reads(path))

    return is_change


def _options(app: Flask, settings: Settings) -> dict[str, object]:
    return {
        "threads": settings.threads,
        "url_prefix": settings.url_prefix,
        "ident": None,
        "asyncore_use_poll": True,  # select() ends at 1,024 file descriptors
        "recv_bytes": RECEIVED_AT_ONCE,
        "connection_limit": _most_connections(),
        "channel_timeout": IDLE_SECONDS,
        "cleanup_interval": IDLE_SECONDS // 4,
        "max_request_header_size": MAX_HEADER_BYTES,
        # The application refuses what is too large, in its own words and after asking who calls;
        # this bound is for bodies that would fill the disk before it is asked.
        "max_request_body_size": 2 * app.config["MAX_CONTENT_LENGTH"],
        "clear_untrusted_proxy_headers": False,  # behind_proxies does that
        "outbuf_high_watermark": NO_WATERMARK,
    }


def _most_connections() -> int:
    """As many as the limit of open files allows, which is raised first if possible."""
    wanted = MAX_CONNECTIONS + OTHER_FILES
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return MAX_CONNECTIONS
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != allowed < wanted:
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    return MAX_CONNECTIONS if allowed == resource.RLIM_INFINITY else allowed - OTHER_FILES
