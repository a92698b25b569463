"""Removing the oldest events; by the command: tests/operations/cli/test_events.py."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work
from app.core.errors import Conflict
from app.core.events import service as events
from app.core.events.service import Pruning
from app.core.events.verification import Evidence, verify

START = datetime(2099, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def recorded(app, admin):
    """Records one event a day, in this order of days; the ids and digests where the log ended."""

    def record(*days):
        ends = []
        for day in days:
            with time_machine.travel(START + day * DAY, tick=False):
                admin.ok("POST", "/projects/default/features", {"name": f"f{day}"})
            with app.app_context():
                end = events.end()
            ends.append((end.last_id, end.digest))
        return ends

    return record


def prune(app, before):
    with (
        time_machine.travel(START + 9 * DAY, tick=False),
        app.app_context(),
        unit_of_work(writes=True),
    ):
        return events.prune(COMMAND_LINE, before=before)


def verdict(app, heads=(), prunings=None):
    with app.app_context(), unit_of_work(writes=False):
        return verify(Evidence("the file", heads, prunings))


def left(admin):
    return [(e["type"], e["featureName"]) for e in admin.ok("GET", "/events")["events"]]


def test_older_events_are_removed_and_the_log_says_so_and_stays_intact(app, admin, recorded):
    first, second, third = recorded(1, 2, 3)
    assert prune(app, START + 3 * DAY) == Pruning(second[0], *second)
    assert left(admin) == [("events-pruned", None), ("feature-created", "f3")]
    pruned = admin.ok("GET", "/events?type=events-pruned")["events"][0]
    assert pruned["createdBy"] == COMMAND_LINE.username
    assert pruned["data"] == {"through": second[0], "digest": second[1].hex(), "count": second[0]}
    [fourth] = recorded(4)
    found = verdict(app, [first, second, third, fourth])
    assert (found.problems, found.count) == ([], 3)
    assert (found.last_id, found.digest) == fourth == (third[0] + 2, fourth[1])


def test_it_must_be_known_outside_if_prunings_are(app, admin, recorded):
    first, second = recorded(1, 2)
    prune(app, START + 2 * DAY)
    assert verdict(app, [first, second], frozenset({first})).problems == []
    assert verdict(app, [first, second], frozenset({second})).problems == [
        f"Events up to {first[0]} are missing, and the file does not say that they were pruned."
    ]


def test_another_digest_of_the_last_removed_event_is_found(app, admin, recorded):
    first, _ = recorded(1, 2)
    prune(app, START + 2 * DAY)
    assert verdict(app, [(first[0], bytes(32))]).problems == [
        f"Event {first[0]} is not the one in the file: the log was rewritten."
    ]


def test_it_can_be_repeated(app, admin, recorded):
    recorded(1, 2)
    assert prune(app, START + 2 * DAY).count > 1
    assert prune(app, START + 3 * DAY).count == 1
    assert verdict(app).problems == []


def test_where_nothing_is_old_nothing_is_recorded(app, admin, recorded):
    [end] = recorded(1)
    assert prune(app, datetime(2020, 1, 1, tzinfo=UTC)) == Pruning(0)
    with app.app_context():
        assert events.end().last_id == end[0]


def test_events_that_a_slow_clock_mixed_up_are_left_as_they_are(app, admin, recorded):
    recorded(3, 1)
    before = left(admin)
    with pytest.raises(Conflict, match="the clock was set back"):
        prune(app, START + 2 * DAY)
    assert left(admin) == before
    assert verdict(app).problems == []


def test_a_digest_from_outside_is_compared(app, admin, recorded):
    first, second = recorded(1, 2)
    found = verdict(app, [(first[0], second[1]), second])
    assert found.problems == [
        f"Event {first[0]} is not the one in the file: the log was rewritten."
    ]
    assert (found.count, found.last_id, found.digest) == (second[0], *second)


def test_an_event_that_is_known_outside_and_is_not_there_is_missed(app, admin, recorded):
    [end] = recorded(1)
    found = verdict(app, [end, (end[0] + 1, bytes(32))])
    assert found.problems == [
        f"Events after {end[0]} are missing: the file has event {end[0] + 1}."
    ]
    assert (found.count, found.last_id, found.digest) == (end[0], *end)
