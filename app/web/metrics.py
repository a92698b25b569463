"""Metrics for Prometheus, kept by its client library."""

import os
from collections.abc import Callable
from functools import cache
from math import nan

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    generate_latest,
    values,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import Unavailable

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """Counters and gauges of all processes of a server.

    Those of ``watch`` are computed on each scrape.
    """

    def __init__(self, version: str) -> None:
        self._folder: str | None = None
        self._watched = CollectorRegistry()
        info = Info("flagstaff", "The version that answers.", registry=self._watched)
        info.info({"version": version})
        self._build()

    def share(self, folder: str) -> None:
        """Add up the counters of all processes forked from now on, by files in this folder."""
        self._folder = folder
        # The library read the variable when it was imported, so its class is set as well.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call]

    def begin_process(self) -> None:
        """Start the counters of this process at zero."""
        self._build()

    def forget(self, process: int) -> None:
        """Drop the gauges of a process that has ended. Its counters stay."""
        if self._folder is not None:
            mark_process_dead(process, self._folder)  # type: ignore[no-untyped-call]

    def note(self, face: str, status: int, seconds: float) -> None:
        """Count a request. ``face``: ``api``, ``page``, …. ``status``: counted by class, as 2xx."""
        self._count(face, f"{status // 100}xx").inc()
        self._time(face).observe(seconds)

    def note_security(self, kind: str, times: int) -> None:
        """Count what the security log records."""
        self._security(kind).inc(times)

    def note_webhook(self, outcome: str) -> None:
        """Count an attempt to send a message to a webhook: ``delivered`` or ``failed``."""
        self._webhooks(outcome).inc()

    def note_not_evaluated(self, features: int) -> None:
        """Set how many features the engine could not evaluate when it last read them."""
        self._not_evaluated.set(features)

    def note_streams(self, number: int) -> None:
        """Set how many event streams this process has open."""
        self._streams.set(number)

    def note_process(self, *, waiting: int, busy: int, memory: int) -> None:
        """Set the load of this process now: requests, threads, and ``memory`` in bytes."""
        self._workers.set(1)
        self._waiting.set(waiting)
        self._busy.set(busy)
        self._memory.set(memory)

    def watch(
        self, name: str, what: str, look: Callable[[], float], *, unknown: float = nan
    ) -> None:
        """Add a gauge that calls ``look`` on each scrape.

        ``unknown``: its value while the database doesn't answer.
        """

        def read() -> float:
            try:
                return look()
            except (SQLAlchemyError, Unavailable):
                return unknown

        Gauge(name, what, registry=self._watched).set_function(read)

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        counted = self._counted
        if self._folder is not None:
            counted = CollectorRegistry()
            MultiProcessCollector(counted, self._folder)  # type: ignore[no-untyped-call]
        return generate_latest(counted) + generate_latest(self._watched)

    def _build(self) -> None:
        self._counted = registry = CollectorRegistry()
        requests = Counter(
            "flagstaff_requests", "Requests answered.", ("face", "status"), registry=registry
        )
        seconds = Histogram(
            "flagstaff_request_seconds",
            "From when a thread took a request until its answer was made.",
            ("face",),
            buckets=SECONDS,
            registry=registry,
        )
        security = Counter(
            "flagstaff_security_events",
            "What the security log recorded: sign-ins, failures, refusals, exports.",
            ("kind",),
            registry=registry,
        )
        webhooks = Counter(
            "flagstaff_webhook_attempts",
            "Attempts to send a message to a webhook.",
            ("outcome",),
            registry=registry,
        )
        self._security = cache(security.labels)
        self._webhooks = cache(webhooks.labels)
        self._count = cache(requests.labels)  # labels() is slow, and there are few of them
        self._time = cache(seconds.labels)

        def gauge(name: str, what: str, mode: str = "livesum") -> Gauge:
            return Gauge(f"flagstaff_{name}", what, registry=registry, multiprocess_mode=mode)  # type: ignore[arg-type] # one of the library's words

        self._not_evaluated = gauge(
            "features_not_evaluated",
            "Features that are off for browsers and OFREP because the engine can't read them.",
            "livemax",
        )
        self._workers = gauge("workers", "Processes that serve.")
        self._waiting = gauge("requests_waiting", "Requests that wait for a thread.")
        self._busy = gauge("threads_busy", "Threads that are handling a request.")
        self._streams = gauge("open_streams", "Event streams that are open.")
        self._memory = gauge("resident_memory_bytes", "Memory of each process.", "liveall")
