"""The server’s clock jumps, clocks change to summer time, and applications fall silent."""

from collections.abc import Callable

import pytest
import time_machine
from flask import Flask

from app.core import clock
from app.core.clock import utcnow
from app.releases.plans.running import start_due
from tests.releases.plans.conftest import PLANS, Releases, step
from tests.support.browser import Browser, text_of
from tests.support.clients import ApiClient
from tests.support.sdks import Process, Sdk, write_reports

PAGE = "/projects/default/features/base"
NEW = f"{PAGE}/environments/production/new-release"
STEP_STARTED = "release-plan-milestone-started"
SET_BACK = "which is still to come: the server’s clock was set back. Steps start by its time."
NOON_BEFORE = "2027-03-27T11:00:00Z"
"""In Stockholm. In the night after it, clocks there skip the hour from 02:00."""


@pytest.fixture
def started(admin: ApiClient) -> Callable[[], list[int]]:
    """The numbers of the steps that were started, as the event log has them."""

    def read() -> list[int]:
        found = admin.ok("GET", f"/events?type={STEP_STARTED}")["events"]
        return [event["data"]["milestone"]["number"] for event in reversed(found)]

    return read


@pytest.fixture
def panel(browser: Browser, releases: Releases) -> Callable[[], str]:
    """The words of the release on the page of the feature, at the clock of the releases."""

    def read() -> str:
        with clock.at(utcnow() + releases.later):
            [found] = browser.get(PAGE).select("#released-in-production")
        return text_of(found)

    return read


def test_a_clock_that_jumps_ahead_starts_one_step_and_the_next_waits_its_whole_time(
    releases: Releases, started: Callable[[], list[int]]
) -> None:
    releases.create()
    releases.wait(hours=2)
    releases.wait(seconds=2)
    assert started() == [1, 2]
    releases.wait(minutes=59)
    assert started() == [1, 2]
    releases.wait(minutes=1)
    assert started() == [1, 2, 3]


def test_a_clock_that_is_set_back_repeats_nothing_and_starts_nothing_early(
    releases: Releases, started: Callable[[], list[int]]
) -> None:
    releases.create()
    before = releases.wait(hours=1)
    for hours in (-2, 1, 1):
        assert releases.wait(hours=hours) == before
        assert (started(), releases.rollouts()) == ([1, 2], ["25"])
    assert releases.wait(hours=1)["summary"] == "Step 3 of 4: on for 50% of users."
    assert started() == [1, 2, 3]


def test_the_page_says_that_the_clock_was_set_back(
    releases: Releases, panel: Callable[[], str]
) -> None:
    releases.wait(hours=3)  # the browser’s session began before that, and stays good
    releases.create()
    assert "25% starts automatically on" in panel()
    releases.wait(hours=-2)
    assert SET_BACK in panel()
    releases.wait(hours=2)
    assert SET_BACK not in panel()
    assert "25% starts automatically on" in panel()


@pytest.mark.usefixtures("feature")
def test_a_start_time_is_typed_in_the_time_of_the_reader(
    app: Flask, admin: ApiClient, browser: Browser
) -> None:
    browser.post("/account/time-zone", {"time_zone": "Europe/Stockholm"})
    with time_machine.travel(NOON_BEFORE, tick=False):
        page = browser.sign_in("boss").get(NEW)
        sent = {"begins": "at", "start_at": "2027-03-28T03:30"}
        page = browser.follow(browser.submit(page, sent, button="Start release"))
    assert page.has("starts automatically on 28 Mar 2027, 03:30 (01:30 UTC).")
    assert state_at("2027-03-28T01:29:59Z", app, admin) == "draft"
    assert state_at("2027-03-28T01:30:00Z", app, admin) == "running"


@pytest.mark.usefixtures("feature")
def test_a_step_of_24_hours_lasts_as_long_over_the_change_to_summer_time(
    app: Flask, admin: ApiClient, browser: Browser
) -> None:
    browser.post("/account/time-zone", {"time_zone": "Europe/Stockholm"})
    steps = [step(5, 24 * 60), step(100, None)]
    with time_machine.travel(NOON_BEFORE, tick=False):
        admin.ok("POST", PLANS, {"milestones": steps, "start": True})
        page = browser.sign_in("boss").get(PAGE)
    assert page.has("Since 27 Mar 2027, 12:00, for at least 1 day")
    assert page.has("100% starts automatically on 28 Mar 2027, 13:00 (11:00 UTC).")
    assert state_at("2027-03-28T10:59:59Z", app, admin) == "running"
    assert state_at("2027-03-28T11:00:00Z", app, admin) == "done"


def state_at(moment: str, app: Flask, admin: ApiClient) -> str:
    """The state of the release after the runner looked at that moment."""
    with time_machine.travel(moment, tick=False), app.app_context():
        start_due()
    return str(admin.ok("GET", PLANS)[0]["state"])


def test_a_release_goes_on_when_an_instance_falls_silent(
    app: Flask, sdk: Sdk, releases: Releases, panel: Callable[[], str]
) -> None:
    stays, falls_silent = Process(sdk, "one"), Process(sdk, "two")

    def poll(*processes: Process) -> None:
        with clock.at(utcnow() + releases.later):
            for process in processes * 2:  # the second time it names what it was given
                process.poll()
        write_reports(app)

    poll(stays, falls_silent)
    releases.create(step(5, 20), step(25, 20), step(100, None))
    poll(stays, falls_silent)
    assert "Step 1: Everywhere: 2 of 2 instances confirmed" in panel()
    for number in (2, 3):
        releases.wait(minutes=20)
        assert f"Step {number}: 0 of 2 instances confirmed" in panel()
        poll(stays)
        assert f"Step {number}: 1 of 2 instances confirmed" in panel()
    assert (releases.read()["state"], releases.rollouts()) == ("done", ["100"])


@pytest.mark.usefixtures("feature")
def test_a_start_time_that_clocks_skip_is_refused(admin: ApiClient, browser: Browser) -> None:
    browser.post("/account/time-zone", {"time_zone": "Europe/Stockholm"})
    with time_machine.travel(NOON_BEFORE, tick=False):
        page = browser.sign_in("boss").get(NEW)
        sent = {"begins": "at", "start_at": "2027-03-28T02:30"}
        page = browser.submit(page, sent, button="Start release")
    [error] = page.errors
    assert "02:30 doesn’t exist on that day in the time of Stockholm (UTC+1)." in error
    assert admin.ok("GET", PLANS) == []


@pytest.mark.parametrize("act", ["stop", "start"])
def test_no_length_of_time_is_negative_after_the_clock_was_set_back(
    releases: Releases, panel: Callable[[], str], act: str
) -> None:
    releases.wait(hours=3)
    last = releases.create(step(5), step(100, None))["milestones"][1]
    releases.wait(hours=-2)
    releases.act(act if act == "stop" else f"milestones/{last['id']}/start")
    assert " -" not in panel()
