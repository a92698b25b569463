"""Where applications run, and whether they have the newest state there."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from app.core.events.models import EventHead
from tests.catalogue.receipts.conftest import PLACE
from tests.support.sdks import Process, write_reports


@pytest.fixture
def arrival(app, admin):
    """What is known of an application in production."""

    def read(application="shop", later=0):
        write_reports(app)
        with clock.at(utcnow() + timedelta(seconds=later)):
            rows = admin.ok("GET", "/arrival")["applications"]
        [found] = [row for row in rows if row["appName"] == application]
        assert found["environment"] == "production"
        return found

    return read


def test_the_map_says_how_far_behind_an_application_is(switch, process, arrival):
    process.poll(), process.poll()
    assert (arrival()["confirmed"], arrival()["behind"]) == (1, 0)
    switch()
    switch(on=False)
    found = arrival()
    assert (found["waiting"], found["behind"], found["hasArrived"]) == (1, 3, False)
    process.poll(), process.poll()
    assert (arrival()["confirmed"], arrival()["behind"]) == (1, 0)


def test_an_application_that_ran_lately_is_on_the_map_without_instances(process, arrival):
    process.poll()
    assert arrival(later=7_200)["total"] == 0


@pytest.fixture
def unconfirmed(app):
    """The metric, some minutes from now."""

    def read(minutes):
        write_reports(app)
        with clock.at(utcnow() + timedelta(minutes=minutes)):
            text = app.test_client().get("/metrics").text
        [line] = [one for one in text.splitlines() if one.startswith("flagstaff_unconfirmed_")]
        return float(line.split()[1])

    return read


def test_instances_without_a_change_after_5_minutes_are_late(switch, browser, process, unconfirmed):
    process.poll(), process.poll()
    switch()
    switch(on=False)
    assert (unconfirmed(minutes=4), unconfirmed(minutes=6)) == (0, 1)
    with clock.at(utcnow() + timedelta(minutes=6)):
        page = browser.get("/")
    assert "Not off everywhere: base" in page.words
    assert "1 instance in production may not have it: shop" in page.words
    process.poll(), process.poll()
    assert unconfirmed(minutes=6) == 0


def test_the_page_shows_applications_by_environment(app, browser, switch, process):
    process.poll(), process.poll()
    write_reports(app)
    page = browser.get("/arrival")
    assert "1 of 1 running application confirmed the newest state everywhere." in page.words
    switch()
    assert "0 of 1 running application confirmed" in browser.get("/arrival").words


def test_without_a_change_only_those_that_named_what_they_have_are_up_to_date(
    app, sdk, arrival, process
):
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.update(EventHead).values(last_id=sa.text("last_id + 20000")))
    process.poll()
    assert arrival()["sent"] == 1
    process.poll()
    assert arrival()["confirmed"] == 1
    Process(sdk, "unknown", application="nameless").poll()
    assert arrival("nameless")["cantTell"] == 1


def test_one_that_comes_back_with_an_older_state_is_late(switch, admin, process, unconfirmed):
    process.poll(), process.poll()
    switch()
    assert unconfirmed(minutes=6) == 1
    with clock.at(utcnow() + timedelta(minutes=6)):
        admin.ok("POST", f"{PLACE}/instances/mark-as-ended", {})
        assert unconfirmed(minutes=0) == 0
        process.poll()
        assert unconfirmed(minutes=0) == 1
        process.poll()
        assert unconfirmed(minutes=0) == 0
