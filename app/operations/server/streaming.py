"""Sends what is new to open event streams, beside the requests."""

from app.delivery.sdk.streams import Streams
from app.operations.server.background_thread import BackgroundThread

PAUSE_SECONDS = 0.1
FAULT_SECONDS = 2.0


class Streaming(BackgroundThread):
    def __init__(self, streams: Streams) -> None:
        super().__init__("streams", wait_seconds=FAULT_SECONDS)
        self._streams = streams

    def _run(self) -> None:
        doing = "sending to event streams"
        self._repeat(self._streams.tend, doing, pause=PAUSE_SECONDS, fault_pause=FAULT_SECONDS)
