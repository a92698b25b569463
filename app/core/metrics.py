"""Figures of this process for Prometheus, counted and written out by its own client library."""

from collections.abc import Callable, Iterable
from functools import cache

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily

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
        self._registry.register(_Watched(name, what, look))

    def text(self) -> bytes:
        """Everything in Prometheus' own form."""
        return generate_latest(self._registry)


class _Watched:
    def __init__(self, name: str, what: str, look: Callable[[], float]) -> None:
        self.name = name
        self.what = what
        self.look = look

    def collect(self) -> Iterable[GaugeMetricFamily]:
        yield GaugeMetricFamily(self.name, self.what, value=self.look())
