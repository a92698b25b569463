"""What goes from the beginning of the event log; by the command: tests/cli/test_events.py."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work
from app.core.errors import Conflict
from app.events import service as events

START = datetime(2099, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def told(app, admin):
    """Tells one event a day, in this order of days; the ids and digests where the log ended."""

    def tell(*days):
        ends = []
        for day in days:
            with time_machine.travel(START + day * DAY, tick=False):
                admin.ok("POST", "/projects/default/features", {"name": f"f{day}"})
            with app.app_context():
                ends.append(events.head())
        return ends

    return tell


def prune(app, before):
    with (
        time_machine.travel(START + 9 * DAY, tick=False),
        app.app_context(),
        unit_of_work(writes=True),
    ):
        return events.prune(COMMAND_LINE, before=before)


def verify(app, known=()):
    with app.app_context(), unit_of_work(writes=False):
        return events.verify(dict(known))


def left(admin):
    return [(e["type"], e["featureName"]) for e in admin.ok("GET", "/events")["events"]]


def test_what_is_older_goes_and_the_log_says_so_and_goes_on_unbroken(app, admin, told):
    first, second, third = told(1, 2, 3)
    assert prune(app, START + 3 * DAY) == second[0]
    assert left(admin) == [("events-pruned", None), ("feature-created", "f3")]
    pruned = admin.ok("GET", "/events?type=events-pruned")["events"][0]
    assert pruned["createdBy"] == "flagstaff (command line)"
    assert pruned["data"] == {"through": second[0], "digest": second[1].hex(), "count": second[0]}
    [fourth] = told(4)
    verdict = verify(app, [first, second, third, fourth])
    assert (verdict.broken, verdict.count) == (None, 3)
    assert (verdict.last_id, verdict.digest) == fourth == (third[0] + 2, fourth[1])


def test_it_can_be_done_again(app, admin, told):
    told(1, 2)
    assert prune(app, START + 2 * DAY) > 1
    assert prune(app, START + 3 * DAY) == 1
    assert verify(app).broken is None


def test_where_nothing_is_old_nothing_is_told(app, admin, told):
    [end] = told(1)
    assert prune(app, datetime(2020, 1, 1, tzinfo=UTC)) == 0
    with app.app_context():
        assert events.head() == end


def test_what_a_clock_that_was_set_back_mixed_up_is_left_as_it_is(app, admin, told):
    told(3, 1)
    before = left(admin)
    with pytest.raises(Conflict, match="the clock was set back"):
        prune(app, START + 2 * DAY)
    assert left(admin) == before
    assert verify(app).broken is None


def test_a_digest_that_was_written_down_is_compared(app, admin, told):
    first, second = told(1, 2)
    verdict = verify(app, [(first[0], second[1]), second])
    assert (verdict.broken.event_id, verdict.count) == (first[0], first[0])
    assert (verdict.last_id, verdict.digest) == first
    assert verdict.broken.how == (
        "its digest is not the one that was written down; the log was told anew"
    )


def test_an_event_that_was_written_down_and_is_not_there_is_missed(app, admin, told):
    [end] = told(1)
    verdict = verify(app, [end, (end[0] + 1, bytes(32))])
    assert verdict.broken == (end[0], "events after it are missing")
    assert (verdict.count, verdict.last_id, verdict.digest) == (end[0], *end)
