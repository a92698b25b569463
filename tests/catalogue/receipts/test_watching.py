"""Notices of instances that were silent and ask again."""

from datetime import timedelta
from functools import partial

import pytest

from app.catalogue.receipts import watching
from app.core import clock
from app.core.clock import utcnow
from app.core.db import transact
from app.portal.notices.service import RETENTION
from tests.catalogue.receipts.conftest import PLACE
from tests.support.sdks import Process, write_reports


@pytest.fixture
def kim(people):
    return people.member("kim", "default")


@pytest.fixture
def notices(app, kim):
    """Kim's notices of instances, some minutes from now."""

    def read(minutes):
        write_reports(app)
        with clock.at(utcnow() + timedelta(minutes=minutes)), app.app_context():
            transact(partial(watching.notify, kept_for=RETENTION), writes=True)
            found = kim.ok("GET", "/user/notices")["notices"]
        return [one["event"] for one in found if one["event"]["type"] == "instances-returned"]

    return read


def test_who_asks_for_it_gets_a_notice_when_a_silent_instance_asks_again(
    switch, kim, sdk, process, notices
):
    other = Process(sdk, "two")
    process.poll(), other.poll()
    switch()
    assert notices(minutes=0) == []
    with clock.at(utcnow() + timedelta(minutes=1)):
        watched = [kim.ok("POST", f"{PLACE}/receipts/notify", {}) for _ in range(2)]
    assert watched == [{"watched": 2}] * 2
    assert notices(minutes=2) == []
    with clock.at(utcnow() + timedelta(minutes=2)):
        process.poll()
    [event] = notices(minutes=3)
    assert (event["createdBy"], event["featureName"]) == ("Flagstaff", "base")
    assert event["data"]["instances"] == [{"appName": "shop", "instanceId": "one"}]
    assert len(notices(minutes=4)) == 1
    with clock.at(utcnow() + timedelta(minutes=5)):
        other.poll()
    assert len(notices(minutes=6)) == 2


def test_one_that_is_silent_again_can_be_watched_again(switch, kim, process, notices):
    process.poll()
    switch()
    notices(minutes=0)
    seen = []
    for minutes in (1, 10):
        with clock.at(utcnow() + timedelta(minutes=minutes)):
            assert kim.ok("POST", f"{PLACE}/receipts/notify", {}) == {"watched": 1}
        with clock.at(utcnow() + timedelta(minutes=minutes + 1)):
            process.poll()
        process.etag = ""
        seen += notices(minutes=minutes + 2)
    assert len({event["id"] for event in seen}) == 2


def test_silent_instances_are_watched_for_a_week(switch, kim, process, notices):
    process.poll()
    switch()
    notices(minutes=0)
    with clock.at(utcnow() + timedelta(minutes=1)):
        assert kim.ok("POST", f"{PLACE}/receipts/notify", {}) == {"watched": 1}
    notices(minutes=8 * 24 * 60)
    with clock.at(utcnow() + timedelta(days=9)):
        process.poll()
    assert notices(minutes=9 * 24 * 60) == []
