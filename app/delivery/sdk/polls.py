"""What the polls of an application's process prove that it has of the features.

An SDK that names the ETag of a payload has taken that payload. If it is sent another one, it isn't
known which of both it has until it asks again.
"""

import time
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from app.catalogue.usage.service import Proof
from app.core.clock import utcnow

MOST_OFFERS = 20_000
LEAST_GAP, MOST_GAP = 15, 600
"""Seconds between two polls, if the SDK doesn't say it."""
NOTE_SECONDS = 60.0
"""Interval between two notes that a process still runs, if it says nothing new."""


class Offer(NamedTuple):
    """A payload that is current. ``event``: the id of the last event in it."""

    etag: str
    event: int


class Offers:
    """Which payloads were current, and until which event. One that was forgotten proves nothing."""

    def __init__(self) -> None:
        self._events: dict[str, int] = {}

    def add(self, offer: Offer) -> None:
        if len(self._events) >= MOST_OFFERS:
            self._events.clear()
        # The latest: another thread may have read the same payload with an older event.
        self._events[offer.etag] = max(offer.event, self._events.get(offer.etag, 0))

    def event(self, etag: str | None) -> int | None:
        return None if etag is None else self._events.get(etag)


class Process:
    """A process of an application. ``note`` gets what a poll proves, if that is new.

    It also gets what is known already, once a minute while the process runs. ``offers``: to all
    processes.
    """

    def __init__(self, note: Callable[["Process", Proof], None], offers: Offers) -> None:
        self._note, self._offers = note, offers
        self.sdk: str | None = None
        self.token_id = 0
        self.interval: int | None = None
        """Seconds between two of its polls, if it says so."""
        self.shared_at: datetime | None = None
        """When it named something older than before, as several processes with one id do."""
        self._polled_at: float | None = None
        self._gap: int | None = None
        self._noted_at = float("-inf")
        self._held: Offer | None = None
        """What its latest poll named, if that was current."""
        self._named_nothing = False
        self._proof: Proof | None = None

    def has(self, offer: Offer) -> None:
        """Note a poll that named this payload, which is the current one."""
        now = self._polls()
        if offer == self._held and now < self._noted_at + NOTE_SECONDS:
            return
        self._held, self._named_nothing = offer, False
        self._offers.add(offer)
        self._write(self._holding(Proof(utcnow(), keeps_etags=True), offer))

    def gets(self, offer: Offer, named: str | None) -> None:
        """Note a poll that is answered with a payload. ``named``: the ETag in the poll.

        It is always noted: another server may have noted since that the process has the payload.
        """
        self._polls()
        is_forgetful = named is None and self._named_nothing
        self._note_sent(offer, named, keeps_etags=not is_forgetful)

    def streams(self, offer: Offer, named: str | None = None) -> None:
        """Note that it is sent what leads to a payload, on a stream that stays open.

        It can't say what it has until it comes back. ``named``: what it said that it had.
        """
        self._note_sent(offer, named, keeps_etags=False)

    def keeps(self, offer: Offer) -> None:
        """Note that its stream is open, and that what it was sent last is still current."""
        known = self._proof
        if known is None:
            return
        was_sent = known.sent_event is not None
        event = known.sent_event if was_sent else known.held_event
        if event == offer.event and time.monotonic() < self._noted_at + NOTE_SECONDS:
            return
        self._offers.add(offer)
        proof = known._replace(polled_at=utcnow())
        if was_sent:
            self._write(proof._replace(sent_event=offer.event))
        else:
            self._write(proof._replace(held_event=offer.event))

    def _note_sent(self, offer: Offer, named: str | None, *, keeps_etags: bool) -> None:
        self._held, self._named_nothing = None, named is None
        self._offers.add(offer)
        proof = Proof(utcnow(), keeps_etags=keeps_etags, sent_event=offer.event)
        event, known = self._offers.event(named), self._proof
        if named is not None and event is not None:
            proof = self._holding(proof, Offer(named, event))
            if known is not None and event < (known.held_event or 0):
                self.shared_at = self.shared_at or utcnow()
        self._write(proof)

    def _holding(self, proof: Proof, held: Offer) -> Proof:
        known = self._proof
        since = known.held_at if known is not None and known.etag == held.etag else proof.polled_at
        return proof._replace(etag=held.etag, held_event=held.event, held_at=since)

    def _polls(self) -> float:
        """Return the time. Measure the gap between two polls, if the process doesn't say it."""
        now = time.monotonic()
        if self.interval is None:
            if self._polled_at is not None:
                self._gap = min(max(round(now - self._polled_at), LEAST_GAP), MOST_GAP)
            self._polled_at = now
        return now

    def _write(self, proof: Proof) -> None:
        self._noted_at = time.monotonic()
        self._proof = proof._replace(interval=self.interval or self._gap)
        self._note(self, self._proof)
