"""Event streams (server-sent events): what their clients have, and what they still have to get.

A stream is an open connection and a ``Subscription``, without a thread. ``tend`` brings all of them
up to date.
"""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from wsgiref.types import WSGIEnvironment

from app.core.errors import NotOffered, TooManyStreams, Unavailable
from app.core.streaming import COMMENT, STREAM, STREAM_HEADERS, Stream
from app.delivery.sdk.http import HTTP_OK, Answer
from app.delivery.sdk.payloads import Answers, FeatureQuery
from app.delivery.sdk.polls import Offer, Process
from app.delivery.sdk.source import Head, Reader, Source

MOST = 10_000
"""Streams of one process. Its other connections are for requests."""
MOST_OF_TOKEN = 5_000
MOST_OF_ADDRESS = 1_000
MOST_WAITING = 4_000_000
"""Bytes that wait for the clients of one token, or of one address, before they get no more."""
IN_A_ROW, PAUSE_SECONDS = 50, 0.002
"""After so many streams, requests get their turn for so long."""
LOOK_SECONDS = 1.0
"""How often streams are looked at if nothing has changed."""
QUIET_SECONDS = 25.0
"""After this time without an event, a stream gets a comment. SDKs and proxies give up after 60."""
FIRST_RETRY, LAST_RETRY = 1_000, 5_000
"""Milliseconds after which clients come back, at random so that they don't come at once."""

EventOf = Callable[[Answers, FeatureQuery, str], bytes]
"""Writes the event that leads from the payload with an ETag to the present one."""
News = tuple[Offer, bytes | None]


@dataclass(slots=True, eq=False)
class Subscription:
    """``etag``: of the payload that its client has, once it has read what it was sent."""

    reader: Reader
    process: Process | None
    address: str
    query: FeatureQuery
    event: EventOf
    etag: str
    sent_at: float = field(default_factory=time.monotonic)


def event(name: bytes, id: str, data: bytes) -> bytes:
    """Write an event. ``data``: JSON on one line."""
    return b"event: %b\nid: %b\ndata: %b\n\n" % (name, id.encode(), data)


class Streams:
    """The streams of this process. ``note``: called with their number."""

    def __init__(self, source: Source, note: Callable[[int], object] = lambda _: None) -> None:
        self._source, self._note = source, note
        self._lock = threading.Lock()
        self._open: dict[Subscription, Stream] = {}
        self._number: Counter[bytes | str] = Counter()
        """Of open streams, by token and by address."""
        self._head: Head | None = None
        self._looked_at = float("-inf")

    def open(self, environ: WSGIEnvironment, asked: Subscription, first: bytes) -> Answer:
        """Return the response that begins a stream. ``first``: its first events.

        Raises:
            NotOffered: if this server keeps no responses open.
            TooManyStreams: if the process, the token or the address has as many as it can get.

        """
        if STREAM not in environ:
            raise NotOffered("This server offers no streams. Ask for features at intervals.")
        if (
            len(self._open) >= MOST
            or self._number[asked.reader.digest] >= MOST_OF_TOKEN
            or self._number[asked.address] >= MOST_OF_ADDRESS
        ):
            raise TooManyStreams
        return Answer(HTTP_OK, [*STREAM_HEADERS], on_open=partial(self._begin, asked, first))

    def _begin(self, asked: Subscription, first: bytes, stream: Stream) -> None:
        retry = FIRST_RETRY + secrets.randbelow(LAST_RETRY - FIRST_RETRY)
        stream.send(b"retry: %d\n\n%b" % (retry, first))
        with self._lock:
            self._open[asked] = stream
            self._number.update((asked.reader.digest, asked.address))
        self._head = None  # something may have changed since its first event was written

    def tend(self) -> None:
        """Send what is new to all streams. Call it several times a second."""
        head, now = self._source.head(), time.monotonic()
        if head == self._head and now < self._looked_at + LOOK_SECONDS:
            return
        self._head, self._looked_at = head, now
        with self._lock:
            streams = list(self._open.items())
        waiting = Counter[bytes | str]()
        for one, stream in streams:
            if size := stream.waiting:
                waiting.update({one.reader.digest: size, one.address: size})
        full = {key for key, size in waiting.items() if size > MOST_WAITING}
        look = _Look(self._source)
        for number, (one, stream) in enumerate(streams, start=1):
            if not number % IN_A_ROW:
                time.sleep(PAUSE_SECONDS)
            if not stream.is_open or not look.is_granted(one.reader):
                stream.end()
                self._remove(one)
            elif not (stream.waiting or one.reader.digest in full or one.address in full):
                self._send(one, stream, look, now)
        self._note(len(self._open))

    def _send(self, one: Subscription, stream: Stream, look: "_Look", now: float) -> None:
        found = look.news(one)
        if found is None:
            return
        offer, data = found
        if data is None and one.process is not None:
            one.process.keeps(offer)
        if data is None and now < one.sent_at + QUIET_SECONDS:
            return
        stream.send(data or COMMENT)
        one.sent_at, one.etag = now, offer.etag
        if data is not None and one.process is not None:
            one.process.streams(offer)

    def _remove(self, one: Subscription) -> None:
        with self._lock:
            del self._open[one]
            for key in (one.reader.digest, one.address):
                self._number[key] -= 1
                if not self._number[key]:
                    del self._number[key]


class _Look:
    """One look at all streams. What is equal for many of them is found out once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._granted: dict[bytes, bool] = {}
        self._news: dict[tuple[str, FeatureQuery, EventOf, str], News | None] = {}

    def is_granted(self, reader: Reader) -> bool:
        """Whether its token still is what it was when the stream began."""
        found = self._granted.get(reader.digest)
        if found is None:
            found = self._granted[reader.digest] = self._source.grants(reader)
        return found

    def news(self, one: Subscription) -> News | None:
        """The present payload, and the event that leads to it, or None if the client has it.

        None for both while it can't be read.
        """
        key = one.reader.environment, one.query, one.event, one.etag
        if key not in self._news:
            self._news[key] = self._find(*key)
        return self._news[key]

    def _find(self, environment: str, query: FeatureQuery, event: EventOf, had: str) -> News | None:
        try:
            answers = self._source.answers(environment)
            offer = Offer(answers.all(query).etag, answers.state.version)
            return offer, None if offer.etag == had else event(answers, query, had)
        except Unavailable:
            return None
