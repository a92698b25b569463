"""The security log stays small, whatever strangers do, and slows no one down."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask import Flask

from app.access.security_log import pending, service
from app.access.security_log.models import SecurityEntry, SecurityKind
from app.access.security_log.pending import Pending
from app.access.security_log.service import LogEntry
from app.core.db import db, unit_of_work
from app.core.errors import Unavailable
from tests.support.security_log import Log
from tests.support.statements import statements

START = datetime(2026, 11, 21, tzinfo=UTC)
UNKNOWN = LogEntry(SecurityKind.TOKEN_REFUSED, "192.0.2.7", detail="unknown")


@pytest.fixture
def clock() -> Iterator[Any]:
    with time_machine.travel(START, tick=False) as clock:
        yield clock


def record(app: Flask, *entries: LogEntry) -> None:
    with app.app_context(), unit_of_work(writes=True):
        for entry in entries:
            service.record(entry)


def times(app: Flask) -> list[int]:
    """How often each entry happened, oldest first."""
    with app.app_context():
        return list(db.session.scalars(sa.select(SecurityEntry.times).order_by(SecurityEntry.id)))


@pytest.mark.slow
def test_after_ten_rows_a_minute_the_rest_is_counted_in_the_last(app, clock):
    record(app, *[UNKNOWN] * 500)
    assert times(app) == [1] * 9 + [491]
    clock.shift(timedelta(minutes=1))
    record(app, UNKNOWN)
    assert times(app) == [1] * 9 + [491, 1]


def test_addresses_of_one_network_are_counted_together_and_others_apart(app, clock):
    def of(ip: str) -> LogEntry:
        return LogEntry(SecurityKind.TOKEN_REFUSED, ip)

    record(app, *(of(f"192.0.2.{n}") for n in range(100)), of("198.51.100.1"))
    assert times(app) == [1] * 9 + [91, 1]


def test_a_flood_hides_no_other_kind_and_no_other_account(app, clock):
    failed = SecurityKind.SIGN_IN_FAILED
    record(app, *[LogEntry(failed, "192.0.2.7", 1, "ada")] * 100)
    record(app, LogEntry(failed, "192.0.2.7", 2, "kim"), LogEntry(failed, "192.0.2.7"), UNKNOWN)
    assert times(app) == [1] * 9 + [91, 1, 1, 1]


def test_entries_are_deleted_after_the_days_of_the_setting(app, clock):
    record(app, UNKNOWN)
    clock.shift(timedelta(days=89))
    record(app, UNKNOWN)
    with app.app_context():
        service.prune(days=90)
        assert len(times(app)) == 2
        clock.shift(timedelta(days=2))
        service.prune(days=90)
    assert len(times(app)) == 1


def test_the_oldest_entries_beyond_the_limit_are_deleted(app, clock, monkeypatch):
    fewer = replace(service.SECURITY_ENTRIES, rows=3)
    monkeypatch.setattr(service, "SECURITY_ENTRIES", fewer)
    for _ in range(5):
        record(app, UNKNOWN)
    with app.app_context():
        service.prune(days=90)
        assert set(db.session.scalars(sa.select(SecurityEntry.id))) == {3, 4, 5}


def test_pruning_without_need_only_reads(app, clock):
    record(app, UNKNOWN)
    with app.app_context(), statements(app) as run:
        service.prune(days=90)
    assert len(run) == 1


@pytest.fixture
def slowly(app: Flask) -> Iterator[Pending]:
    """Lets the application write as a server does, at most once a second."""
    waiting: Pending = app.extensions["flagstaff.security_log"]
    waiting.seconds = 60
    yield waiting
    waiting.seconds = 0
    with app.app_context():
        waiting.write()


def test_a_flood_of_refusals_writes_once_until_the_next_second(app, viewer, log: Log, slowly):
    viewer.get("/events")
    with statements(app) as run:
        for _ in range(50):
            assert viewer.get("/events").status_code == 403
    assert not [one for one in run if "security_log" in one]
    assert [entry["times"] for entry in log("access-refused")] == [1]
    with app.app_context():
        slowly.write()
    assert [entry["times"] for entry in log("access-refused")] == [50, 1]


def test_what_waits_does_not_fill_the_memory(app, clock):
    waiting = Pending()
    for number in range(10_000):
        ip = f"10.{number // 250 % 250}.{number % 250}.1"
        waiting.add(LogEntry(SecurityKind.TOKEN_REFUSED, ip))
    with app.app_context():
        waiting.write()
    found = times(app)
    assert (len(found), sum(found)) == (pending.MAX_PENDING + 1, 10_000)


def test_what_could_not_be_written_waits_and_keeps_its_time(app, clock, monkeypatch):
    waiting = Pending()
    waiting.add(UNKNOWN)
    waiting.add(UNKNOWN)
    with app.app_context():
        with monkeypatch.context() as patch:
            patch.setattr(pending, "transact", _unavailable)
            with pytest.raises(Unavailable):
                waiting.write()
        clock.shift(timedelta(minutes=5))
        waiting.write()
        [entry] = db.session.scalars(sa.select(SecurityEntry))
        assert (entry.at, entry.times) == (START, 2)


def _unavailable(*_: object, **__: object) -> None:
    raise Unavailable
