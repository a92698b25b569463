"""No parameter and no field of a form makes the server fail."""

import pytest

from tests.input.pages import bombard
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.people import People

REQUESTS = 150


@pytest.fixture
def world(admin: ApiClient) -> None:
    """What the paths name."""
    admin.ok("POST", "/projects", {"id": "web", "name": "Web"})
    for name in ("child", "parent"):
        admin.ok("POST", "/projects/web/features", {"name": name})


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_no_page_breaks_over_hostile_parameters_and_fields(
    browser: Browser, people: People, world, seed
):
    _, broken = bombard(browser, people, REQUESTS, seed)
    assert broken == []


def test_a_tag_near_a_new_one_that_no_one_chose_is_no_fault(browser: Browser, world):
    chosen = browser.post("/projects/web/selection", {"feature": "child"}).location
    assert browser.get(f"{chosen}&near=simple:zzz").status == 200


@pytest.mark.parametrize("edge", ["from", "to", "before"])
@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "0001-01-01", "9999-12-31T23:59:59-14:00"])
def test_the_ends_of_time_are_no_fault(browser: Browser, admin: ApiClient, edge, at):
    for path in ("/events", "/projects/default/history"):
        assert browser.get(path, query_string={edge: at}).status == 200
    assert admin.get("/events", query_string={edge: at}).status_code in {200, 400}


def test_what_is_signed_for_a_form_is_no_review_and_the_other_way_round(
    browser: Browser, people: People, world
):
    people.person("looker")
    form = browser.get("/projects/web/settings")
    review = browser.submit(form, {"mode": "private"})
    seen, plan = review.fields()["seen"], review.fields()["plan"]
    for swapped in ({"seen": plan}, {"plan": seen}, {"seen": plan, "plan": seen}):
        page = browser.post("/projects/web/settings", review.fields() | swapped)
        assert page.status == 400
        assert page.has("This page is no longer valid.")
    assert browser.submit(review, button="Save Web").status == 303
