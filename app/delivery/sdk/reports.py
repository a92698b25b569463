"""Reports of SDKs: parsed leniently, kept in memory, written in batches.

A client that sends an odd field must not lose its counts, and a database that is busy must not slow
an application down.
"""

import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from app.catalogue.sdk_tokens import service as sdk_tokens
from app.catalogue.usage import service as usage
from app.catalogue.usage.models import MAX_NAME, Span
from app.catalogue.usage.service import RETENTION, Counted, Proof, Report, Running, Seen
from app.core.clock import utcnow
from app.core.db import transact
from app.core.logs import LOGGER
from app.core.words import is_key
from app.delivery.sdk.polls import NOTE_SECONDS, Offers, Process
from app.delivery.sdk.source import Reader

MAX_COUNT = 2**31 - 1
MAX_VARIANT = 100
MAX_STRATEGIES = 100
MOST_COUNTS = 200_000
"""Limit of counters that wait to be written. More are dropped."""
MOST_NOTED = 50_000

JsonObject = Mapping[str, Any]


class Caller(NamedTuple):
    """The process of an application that sent a request, as its headers or body say."""

    application: str
    instance: str
    sdk: str | None

    @classmethod
    def of(cls, application: Any, instance: Any, connection: Any, sdk: Any) -> "Caller | None":
        """Return the caller; None without the name of an application.

        ``connection``: the id of one process. Older SDKs send none, and some send one ``instance``
        for all their processes.
        """
        name = _text(application)
        if name is None:
            return None
        return cls(name, _text(connection) or _text(instance) or "unknown", _text(sdk))


class Reports:
    """What was reported and waits to be written. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._report = Report()
        self._used: dict[int, datetime] = {}
        self._noted: dict[object, float] = {}
        self._processes: dict[Running, Process] = {}
        self._offers = Offers()

    def note_caller(self, reader: Reader, caller: Caller | None) -> None:
        """Note that a process of an application is running, and uses a token."""
        if caller is None:
            return
        key = Running(reader.environment, caller.application, caller.instance)
        if self._is_worth_noting((key, caller.sdk, reader.token_id)):
            now = utcnow()
            self._see(key, Seen(now, now, caller.sdk, reader.token_id))

    def process(self, reader: Reader, caller: Caller, interval: int | None) -> Process:
        """Return the process that polls. ``interval``: seconds between its polls, if it says so."""
        key = Running(reader.environment, caller.application, caller.instance)
        process = self._processes.get(key)
        if process is None:
            if len(self._processes) >= MOST_NOTED:
                self._processes.clear()
            process = self._processes[key] = Process(partial(self._note_proof, key), self._offers)
        process.sdk, process.token_id, process.interval = caller.sdk, reader.token_id, interval
        return process

    def _note_proof(self, key: Running, process: Process, proof: Proof) -> None:
        at = proof.polled_at
        seen = Seen(at, at, process.sdk, process.token_id, proof, process.shared_at)
        self._see(key, seen)

    def _see(self, key: Running, seen: Seen) -> None:
        with self._lock:
            before = self._report.instances.get(key)
            self._report.instances[key] = seen.after(before)
            self._report.tokens[seen.token_id, key.application] = seen.at

    def note_use(self, token_id: int) -> None:
        """Note that a token was used."""
        if self._is_worth_noting(token_id):
            with self._lock:
                self._used[token_id] = utcnow()

    def register(self, reader: Reader, body: JsonObject) -> None:
        """Record what an application reports when it starts."""
        sdk = body.get("sdkVersion")
        ids = body.get("instanceId"), body.get("connectionId")
        caller = Caller.of(body.get("appName"), *ids, sdk)
        self.note_caller(reader, caller)
        strategies = body.get("strategies")
        if caller is not None and isinstance(strategies, list):
            names = sorted({name for each in strategies if (name := _text(each))})
            with self._lock:
                self._report.strategies[caller.application] = names[:MAX_STRATEGIES]

    def count(self, reader: Reader, body: JsonObject, sdk: str | None) -> None:
        """Record how often each feature was asked for since the last report."""
        ids = body.get("instanceId"), body.get("connectionId")
        caller = Caller.of(body.get("appName"), *ids, sdk)
        self.note_caller(reader, caller)
        bucket = body.get("bucket")
        if caller is None or not isinstance(bucket, dict):
            return
        hour, features = _hour(bucket.get("stop")), bucket.get("toggles")
        if isinstance(features, dict):
            for name, counts in features.items():
                place = (hour, reader.environment, name, caller.application)
                self._add(Counted(*place, reader.projects), counts)

    def count_many(self, reader: Reader, body: JsonObject) -> None:
        """Record what a proxy collected: applications, and counts by hour."""
        for application in _objects(body.get("applications")):
            self.register(reader, application)
        environment = reader.environment
        for row in _objects(body.get("metrics")):
            app_name = _text(row.get("appName"))
            if app_name is None or row.get("environment", environment) != environment:
                continue
            name, hour = row.get("featureName"), _hour(row.get("timestamp"))
            self._add(Counted(hour, environment, str(name), app_name, reader.projects), row)

    def write(self) -> None:
        """Write all reports. If that fails, keep them for the next time."""
        with self._lock:
            report, used = self._report, self._used
            self._report, self._used = Report(), {}
        if not report and not used:
            return
        try:
            transact(lambda: _write(report, used), writes=True)
        except BaseException:
            with self._lock:
                self._restore(report, used)
            raise

    def _add(self, key: Counted, counts: Any) -> None:
        if not isinstance(counts, dict) or not is_key(key.feature):
            return
        yes, no = _count(counts.get("yes")), _count(counts.get("no"))
        if not yes and not no:
            return
        variants = counts.get("variants")
        with self._lock:
            if len(self._report.counts) >= MOST_COUNTS and key not in self._report.counts:
                LOGGER.warning("usage is reported faster than it is written; some is dropped")
                return
            before = self._report.counts.get(key, (0, 0))
            self._report.counts[key] = (before[0] + yes, before[1] + no)
            for name, times in variants.items() if isinstance(variants, dict) else ():
                variant = _text(name)
                if variant and len(variant) <= MAX_VARIANT and _count(times):
                    place = (key, variant)
                    known = self._report.variants.get(place, 0)
                    self._report.variants[place] = known + _count(times)

    def _is_worth_noting(self, key: object) -> bool:
        now = time.monotonic()
        if now < self._noted.get(key, float("-inf")) + NOTE_SECONDS:
            return False
        if len(self._noted) >= MOST_NOTED:
            self._noted.clear()
        self._noted[key] = now
        return True

    def _restore(self, report: Report, used: dict[int, datetime]) -> None:
        """Merge reports that could not be written with newer ones."""
        newer = self._report
        for key, (yes, no) in newer.counts.items():
            before = report.counts.get(key, (0, 0))
            report.counts[key] = (before[0] + yes, before[1] + no)
        for place, times in newer.variants.items():
            report.variants[place] = report.variants.get(place, 0) + times
        for instance, seen in newer.instances.items():
            report.instances[instance] = seen.after(report.instances.get(instance))
        report.tokens |= newer.tokens
        report.strategies |= newer.strategies
        self._report, self._used = report, used | self._used


def _write(report: Report, used: dict[int, datetime]) -> None:
    usage.write(report)
    sdk_tokens.note_uses(used)


def _text(value: Any) -> str | None:
    """Return a name that can be stored; None if there is none."""
    if not isinstance(value, str):
        return None
    # PostgreSQL stores no NUL, and UTF-8 has no lone surrogates.
    return value.replace("\0", "").encode("utf-8", "replace").decode().strip()[:MAX_NAME] or None


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MAX_COUNT:
        return 0
    return int(value)


def _objects(values: Any) -> list[dict[str, Any]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def _hour(at: Any) -> datetime:
    """Return the hour of a time (ISO text or milliseconds); now if it can't be parsed.

    A time in the future becomes now, and one that is too old the oldest hour that is kept.
    """
    now = utcnow()
    found = now
    try:
        if isinstance(at, str):
            found = datetime.fromisoformat(at)
        elif isinstance(at, int | float) and not isinstance(at, bool):
            found = datetime.fromtimestamp(at / 1_000, UTC)
    except (ValueError, OverflowError, OSError):
        found = now
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    oldest = now - RETENTION[Span.HOUR] + timedelta(hours=1)
    return max(oldest, min(found, now)).replace(minute=0, second=0, microsecond=0)
