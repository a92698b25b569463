"""Events are written at the end of a transaction, and no one can tell."""

import pytest

from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.verification import Evidence, verify


def record(name):
    events.record(COMMAND_LINE, EventType.FEATURE_CREATED, project="default", feature_name=name)


@pytest.fixture(autouse=True)
def _in_app(app):
    with app.app_context():
        yield


def test_a_transaction_that_reads_the_log_finds_what_it_has_recorded():
    with unit_of_work(writes=True):
        before = events.end().last_id
        record("f1")
        record("f2")
        assert events.end().last_id == before + 2


@pytest.mark.parametrize("reads", [False, True])
def test_undoing_a_savepoint_undoes_its_own_events_alone(reads):
    with unit_of_work(writes=True):
        before = events.end().last_id
        record("before")
        with events.savepoint(keeps=False):
            record("undone")
            if reads:
                assert events.end().last_id == before + 2
        record("after")
    with unit_of_work(writes=False):
        assert events.end().last_id == before + 2
        assert not verify(Evidence("nothing", ())).problems
