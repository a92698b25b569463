"""The health of a project: stages, ages, and what is ready to archive, with the way to do so."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests.support.browser import Browser, text_of
from tests.support.clients import error_of

START = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)
FEATURES = "/projects/default/features"
NONE = {"upTo30Days": 0, "upTo90Days": 0, "upTo365Days": 0, "older": 0}


@pytest.fixture
def clock():
    with time_machine.travel(START, tick=False) as clock:
        yield clock


def health(client, project="default"):
    return client.ok("GET", f"/projects/{project}/health")


def make(admin, *names, **settings):
    for name in names:
        admin.ok("POST", FEATURES, {"name": name, **settings})


def test_a_project_without_features_is_healthy(admin):
    found = health(admin)
    assert (found["percent"], found["total"]) == (100, 0)
    assert found["stages"] == {"initial": 0, "pre-live": 0, "live": 0, "completed": 0}
    assert found["leftoverAges"] == found["onAges"] == NONE


def test_features_are_counted_by_stage_and_archived_ones_are_not(admin):
    make(admin, "a", "b", "c", "gone")
    admin.ok("POST", f"{FEATURES}/c/lifecycle/complete", {"status": "kept"})
    admin.ok("POST", "/projects/default/archive", {"features": ["gone"]})
    found = health(admin)
    assert found["total"] == 3
    assert found["stages"] == {"initial": 2, "pre-live": 0, "live": 0, "completed": 1}


def test_what_is_stale_is_not_healthy_and_counts_by_its_age(admin, clock):
    make(admin, "old", "kept")
    admin.ok("PUT", f"{FEATURES}/old", {"stale": True})
    clock.shift(40 * DAY)
    make(admin, "young", stale=True)
    found = health(admin)
    assert (found["percent"], found["stale"], found["proposed"]) == (33, 2, 0)
    assert found["leftoverAges"] == {**NONE, "upTo30Days": 1, "upTo90Days": 1}


def test_what_is_on_in_production_counts_by_its_last_change_there(admin, clock):
    make(admin, "long", "lately")
    for name in ("long", "lately"):
        admin.ok("POST", f"{FEATURES}/{name}/environments/production/on")
    make(admin, "elsewhere")
    admin.ok("POST", f"{FEATURES}/elsewhere/environments/development/on")
    clock.shift(400 * DAY)
    admin.ok("POST", f"{FEATURES}/lately/environments/production/off")
    admin.ok("POST", f"{FEATURES}/lately/environments/production/on")
    assert health(admin)["onAges"] == {**NONE, "upTo30Days": 1, "older": 1}


def test_what_looks_ready_to_go_is_proposed(admin, clock):
    make(admin, "everywhere")
    for environment in ("development", "production"):
        admin.ok("POST", f"{FEATURES}/everywhere/environments/{environment}/on")
    clock.shift(31 * DAY)
    found = health(admin)
    assert (found["percent"], found["proposed"]) == (0, 1)


def test_a_project_that_is_hidden_has_no_health(admin, viewer):
    admin.ok("POST", "/projects", {"id": "hidden", "name": "Hidden", "mode": "private"})
    assert error_of(viewer.get("/projects/hidden/health")) == (404, "NotFoundError")
    assert Browser(viewer.app).sign_in("viewer").get("/projects/hidden/health").status == 404


def test_the_page_leads_to_the_archive_preview(admin, browser):
    make(admin, "old", stale=True)
    make(admin, "kept")
    page = browser.get("/projects/default/health")
    assert page.has("50% of 2 features are in good health.")
    [row] = page.select("form[data-rows] tbody tr")
    assert text_of(row).startswith("old Stale")
    preview = browser.follow(
        browser.submit(page, {"feature": "old"}, form="Archive…", button="Archive…")
    )
    assert preview.h1 == "Archive 1 feature"


def test_the_page_names_who_changed_most_to_those_who_can_read_events(app, admin, people):
    make(admin, "a", "b")
    people.person("noa")
    assert Browser(app).sign_in("admin").get("/projects/default/health").has("Most changes")
    page = Browser(app).sign_in("noa").get("/projects/default/health")
    assert not page.has("Most changes")


def test_the_page_of_a_project_without_features_says_what_it_is_for(browser):
    assert browser.get("/projects/default/health").has("No active features")
