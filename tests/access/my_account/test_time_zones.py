"""People read times on pages in their time zone; everywhere else they are in UTC."""

import pytest
import time_machine

from tests.support.browser import Browser, text_of

WINTER = "2026-11-21T14:03:00Z"


@pytest.fixture
def kim(app, people):
    people.person("kim", role="Admin")
    with time_machine.travel(WINTER, tick=False):
        yield Browser(app).sign_in("kim")


def choose(browser, zone):
    page = browser.get("/account")
    return browser.follow(browser.submit(page, {"time_zone": zone}, form="Use this time zone"))


def times(page):
    return {text_of(time): time.attributes["title"] for time in page.select("main time")}


def test_times_are_in_utc_until_a_zone_is_chosen_and_then_have_utc_beside(kim, admin):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    assert times(kim.get("/events"))["14:03"] == "21 Nov 2026, 14:03 UTC"
    assert choose(kim, "Europe/Stockholm").messages == ["Time zone saved."]
    title = "21 Nov 2026, 15:03 in Stockholm (14:03 UTC)"
    assert times(kim.get("/events"))["15:03"] == title


def test_the_log_has_the_days_of_the_reader(kim, admin):
    choose(kim, "Pacific/Auckland")
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    page = kim.get("/events?type=features&from=2026-11-22&to=2026-11-22")
    assert [text_of(day) for day in page.select("h2.day")] == ["22 November 2026"]
    title = "22 Nov 2026, 03:03 in Auckland (21 Nov 2026, 14:03 UTC)"
    assert times(page)["03:03"] == title
    assert page.has("From: 22 Nov 2026")
    assert kim.get("/events?type=features&to=2026-11-21").has("No event matches")


def test_the_first_page_takes_the_zone_of_the_browser_and_later_ones_do_not(kim):
    page = kim.get("/")
    assert page.select('script[src*="time_zone"]')
    sent = page.fields("/account/time-zone")
    kim.post("/account/time-zone", sent | {"time_zone": "Asia/Tokyo"})
    page = kim.get("/account")
    assert not page.select('script[src*="time_zone"]')
    assert page.messages == []
    assert page.has("Times are shown in the time of Tokyo (UTC+9).")


def test_another_name_is_refused(kim):
    page = choose(kim, "Europe/Atlantis")
    assert page.messages == ["Time zone: Enter the name of a time zone, such as Europe/Stockholm."]
    assert page.has("Times are shown in UTC.")


def test_the_api_has_the_time_zone_of_the_account(admin):
    assert admin.ok("GET", "/user/time-zone") == {"timeZone": None}
    admin.ok("PUT", "/user/time-zone", {"timeZone": "America/New_York"})
    assert admin.ok("GET", "/user/time-zone") == {"timeZone": "America/New_York"}
    refused = admin.put("/user/time-zone", {"timeZone": "Mars/Olympus"})
    assert refused.status_code == 400
    assert "such as Europe/Stockholm" in refused.json["message"]
