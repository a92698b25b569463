"""Listens to PostgreSQL, so that SDKs get changes that other processes have committed."""

import time

from flask import Flask

from app.core.commits import LISTEN_SECONDS
from app.core.db import db
from app.core.logs import LOGGER, reason
from app.delivery.sdk.source import Source
from app.operations.server.background_thread import BackgroundThread

RETRY_SECONDS = 1.0
RETRY_BEHIND_POOLER_SECONDS = 600.0
WARN_SECONDS = 600.0


class Listening(BackgroundThread):
    """Listens during the block. While it can't, SDKs’ requests look for changes more often."""

    def __init__(self, app: Flask) -> None:
        super().__init__("listening", wait_seconds=2 * LISTEN_SECONDS)
        source: Source = app.extensions["flagstaff.source"]
        self._app, self._notifications = app, source.notifications
        self._warned_at = float("-inf")

    def _run(self) -> None:
        with self._app.app_context():
            engine = db.engine
        if engine.dialect.name != "postgresql":
            return  # SQLite tells each process of commits when it asks
        pause = 0.0
        while not self._end.wait(pause):
            pause = RETRY_SECONDS
            try:
                if not self._notifications.listen(engine, self._end.is_set):
                    self._warn("a pooler between here and PostgreSQL keeps notifications back")
                    pause = RETRY_BEHIND_POOLER_SECONDS
            except Exception as error:  # noqa: BLE001 - the next attempt may succeed
                self._warn(reason(error))

    def _warn(self, why: str) -> None:
        now = time.monotonic()
        if now >= self._warned_at + WARN_SECONDS:
            self._warned_at = now
            LOGGER.warning("changes by other processes may arrive half a second later: %s", why)
