"""The preview warns of features that applications still ask for."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from app.catalogue.archive.service import AskedFor
from app.catalogue.archive.words import asked_for
from tests.support.sdks import write_reports
from tests.support.statements import statements

PROJECT = "/projects/default"
NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def features(admin):
    for name in ("used", "also-used", "quiet"):
        admin.ok("POST", f"{PROJECT}/features", {"name": name})


def ask(sdk, app, application, *names):
    toggles = {name: {"yes": 1, "no": 0} for name in names}
    sdk.post("metrics", {"appName": application, "bucket": {"toggles": toggles}})
    write_reports(app)


def plan(client, *names):
    found = client.ok("POST", f"{PROJECT}/archive/plan", {"features": list(names)})
    assert found["archivable"] == sorted(names)
    return found["stillAskedFor"]


def test_the_plan_says_who_asked_for_features_in_the_last_week(app, admin, sdk):
    with time_machine.travel(NOW, tick=False) as clock:
        ask(sdk, app, "shop", "used", "also-used")
        ask(sdk, app, "api", "used")
        seen = "2026-11-21T14:05:00.000Z"
        assert plan(admin, "used", "quiet", "also-used") == [
            {"feature": "also-used", "lastSeenAt": seen, "applications": 1},
            {"feature": "used", "lastSeenAt": seen, "applications": 2},
        ]
        clock.shift(timedelta(days=8))
        assert plan(admin, "used", "quiet", "also-used") == []


def test_the_plan_takes_the_same_statements_for_any_number(app, admin, sdk):
    ask(sdk, app, "shop", "used", "also-used")
    plan(admin, "used")  # which notes the use of the token, once a minute
    taken = []
    for names in (["used"], ["used", "also-used", "quiet"]):
        with statements(app) as run:
            plan(admin, *names)
        taken.append(len(run))
    assert taken[0] == taken[1]


def test_the_page_warns_and_offers_to_leave_the_feature_out(app, browser, sdk):
    ask(sdk, app, "shop", "used")
    page = browser.get(f"{PROJECT}/paste")
    page = browser.submit(page, {"names": "used quiet"}, button="Archive…")
    page = browser.follow(page)
    assert page.has("Still checked: 1")
    assert page.has("used last checked just now by 1 application")
    page = browser.follow(browser.submit(page, button="Leave it out"))
    assert not page.has("Still checked")
    assert page.has("Archive: 1")


def test_new_use_does_not_make_a_review_out_of_date(app, admin, browser, sdk):
    page = browser.get(f"{PROJECT}/paste")
    page = browser.follow(browser.submit(page, {"names": "used"}, button="Archive…"))
    ask(sdk, app, "shop", "used")
    assert browser.submit(page, button="Archive 1 feature", form=-1).status == 303
    assert admin.ok("GET", f"{PROJECT}/features?archived=true")["total"] == 1


def test_the_command_line_says_it_in_a_line():
    one = AskedFor("used", NOW, 2)
    assert asked_for(one) == "still checked by 2 applications, last on 2026-11-21 at 14:05 UTC"
