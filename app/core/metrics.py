"""Figures of this process for Prometheus, counted and written out by its own client library."""

from collections.abc import Callable
from functools import cache

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """What one application counts, and what it looks up when it is asked."""

    def __init__(self, version: str) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        Info("flagstaff", "Which version answers.", registry=registry).info({"version": version})
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
        self._count = cache(requests.labels)  # which is slow, and there are few
        self._time = cache(seconds.labels)

    def note(self, face: str, status: int, seconds: float) -> None:
        """Count one request: to the ``api``, a ``page``, …; ``status`` by its hundred, 2xx."""
        self._count(face, f"{status // 100}xx").inc()
        self._time(face).observe(seconds)

    def watch(self, name: str, what: str, look: Callable[[], float]) -> None:
        """Have ``look`` called whenever the figures are asked for."""
        Gauge(name, what, registry=self._registry).set_function(look)

    def text(self) -> bytes:
        """Everything in Prometheus' own form."""
        return generate_latest(self._registry)
