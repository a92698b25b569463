"""Sends what is new to open event streams, beside the requests."""

from app.core.logs import LOGGER, reason
from app.delivery.sdk.streams import Streams
from app.operations.server.background_thread import BackgroundThread

PAUSE_SECONDS = 0.1
FAULT_SECONDS = 2.0


class Streaming(BackgroundThread):
    def __init__(self, streams: Streams) -> None:
        super().__init__("streams", wait_seconds=FAULT_SECONDS)
        self._streams = streams

    def _run(self) -> None:
        pause = PAUSE_SECONDS
        while not self._end.wait(pause):
            pause = PAUSE_SECONDS
            try:
                self._streams.tend()
            except Exception as error:  # noqa: BLE001 - the next attempt may succeed
                LOGGER.warning("sending to event streams failed: %s", reason(error))
                pause = FAULT_SECONDS
