"""Whether what an applied change request changed has arrived."""

from datetime import timedelta

import pytest

from app.core import clock
from app.core.clock import utcnow
from tests.support.browser import Browser
from tests.support.change_requests import LIST, switching
from tests.support.clients import error_of
from tests.support.sdks import Process, write_reports


@pytest.fixture
def applied(desk):
    """The number of a change request that is applied."""

    def apply(*changes):
        number = desk.approved(*changes)
        desk.to("Applied", number)
        return number

    return apply


def test_its_changes_arrive_together(app, desk, applied, sdk):
    process = Process(sdk, "one")
    process.poll(), process.poll()
    write_reports(app)
    number = applied(switching("card", on=True), switching("tips", on=True))
    assert desk.kim.ok("GET", f"{LIST}/{number}/receipts")["waiting"] == 1
    process.poll(), process.poll()
    write_reports(app)
    with clock.at(utcnow() + timedelta(seconds=10)):
        found = desk.kim.ok("GET", f"{LIST}/{number}/receipts")
    assert (found["confirmed"], found["hasArrived"]) == (1, True)
    page = Browser(app).sign_in("kim").get(f"{LIST}/{number}")
    assert "Everywhere: 1 of 1 instance confirmed" in page.words
    assert "All changes were applied at once, so they arrive together." in page.words


def test_one_that_is_not_applied_has_none(app, desk):
    number = desk.open(switching("card", on=True))
    refused = desk.kim.get(f"{LIST}/{number}/receipts")
    assert error_of(refused) == (404, "NotFoundError")
    assert "has not been applied" in refused.json["message"]
    assert "Has it arrived?" not in Browser(app).sign_in("kim").get(f"{LIST}/{number}").words
