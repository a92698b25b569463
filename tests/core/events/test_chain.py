"""What the digest of an event covers. The check of the log: tests/operations/cli/test_events.py."""

from datetime import UTC, datetime, timedelta

import pytest

from app.core.events.chain import START, link
from app.core.events.event_types import EventType
from app.core.events.models import Event

EVENT = {
    "id": 7,
    "type": EventType.TOKEN_CREATED,
    "created_at": datetime(2026, 11, 21, 12, 30, 0, 250_000, tzinfo=UTC),
    "created_by": "ada",
    "created_by_user_id": 1,
    "token_id": 2,
    "ip": "127.0.0.1",
    "project": "shop",
    "feature_name": "café",
    "data": {"b": [1, None], "a": "é"},
    "pre_data": None,
    "reason": "spring",
    "batch_id": "x",
}
COLUMNS = [column.name for column in Event.__table__.columns if column.name != "digest"]


def test_a_log_recorded_years_ago_is_still_unbroken():
    assert link(START, EVENT).hex() == (
        "a8d5ee861e509e20c4d9d0e667d8da479f05252bdfdf087271d69107caaeef03"
    )


def test_the_digest_is_another_after_another_event():
    assert link(bytes(31) + b"x", EVENT) != link(START, EVENT)


@pytest.mark.parametrize("column", COLUMNS)
def test_no_column_of_an_event_changes_without_its_digest(column):
    value = EVENT[column]
    other = value + timedelta(microseconds=1) if isinstance(value, datetime) else "other"
    assert link(START, EVENT | {column: other}) != link(START, EVENT)


def test_what_was_and_what_is_do_not_change_places_without_the_digest():
    turned = EVENT | {"data": EVENT["pre_data"], "pre_data": EVENT["data"]}
    assert link(START, turned) != link(START, EVENT)
