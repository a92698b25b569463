"""Everyone keeps projects and features of their own at hand."""

import pytest

from app.catalogue.favourites.service import MAX_FAVOURITES
from tests.support.browser import Browser, text_of
from tests.support.clients import error_of

OF_CARD = "/projects/default/features/card/favorites"


@pytest.fixture(autouse=True)
def card(admin):
    admin.ok("POST", "/projects/default/features", {"name": "card"})


def favourites(client):
    return [
        (one["project"], one["feature"]) for one in client.ok("GET", "/user/favorites")["favorites"]
    ]


def test_projects_come_before_features_and_both_by_name(admin):
    admin.ok("POST", "/projects", {"id": "a", "name": "Zoo"})
    admin.ok("POST", "/projects/default/features", {"name": "about"})
    for path in (OF_CARD, "/projects/default/features/about/favorites"):
        admin.ok("POST", path)
    for project in ("a", "default"):
        admin.ok("POST", f"/projects/{project}/favorites")
    assert favourites(admin) == [
        ("default", None),
        ("a", None),
        ("default", "about"),
        ("default", "card"),
    ]


def test_marking_and_removing_twice_changes_nothing_more(admin):
    admin.ok("POST", OF_CARD)
    admin.ok("POST", OF_CARD)
    assert favourites(admin) == [("default", "card")]
    admin.ok("DELETE", OF_CARD)
    admin.ok("DELETE", OF_CARD)
    assert favourites(admin) == []


def test_everyone_has_their_own(admin, viewer):
    admin.ok("POST", OF_CARD)
    viewer.ok("POST", "/projects/default/favorites")
    assert favourites(viewer) == [("default", None)]
    assert favourites(admin) == [("default", "card")]


def test_what_is_not_there_or_hidden_can_not_be_one(admin, viewer):
    admin.ok("POST", "/projects", {"id": "hidden", "name": "Hidden", "mode": "private"})
    for path in (
        "/projects/hidden/favorites",
        "/projects/nowhere/favorites",
        "/projects/default/features/none/favorites",
    ):
        assert error_of(viewer.post(path)) == (404, "NotFoundError")


def test_a_favourite_that_is_hidden_later_is_left_out_until_it_is_visible_again(admin, viewer):
    admin.ok("POST", "/projects", {"id": "pay", "name": "Payments"})
    admin.ok("POST", "/projects/pay/features", {"name": "tips"})
    viewer.ok("POST", "/projects/pay/features/tips/favorites")
    viewer.ok("POST", "/projects/pay/favorites")
    admin.ok("PUT", "/projects/pay", {"name": "Payments", "mode": "private"})
    assert favourites(viewer) == []
    admin.ok("PUT", "/projects/pay", {"name": "Payments", "mode": "open"})
    assert favourites(viewer) == [("pay", None), ("pay", "tips")]


def test_an_archived_favourite_says_so(admin):
    admin.ok("POST", OF_CARD)
    admin.ok("POST", "/projects/default/archive", {"features": ["card"]})
    [found] = admin.ok("GET", "/user/favorites")["favorites"]
    assert found == {"project": "default", "feature": "card", "archived": True}


@pytest.fixture
def most(admin):
    """As many favourites as one can have."""
    for number in range(MAX_FAVOURITES):
        path = f"/projects/default/features/f{number}"
        admin.ok("POST", "/projects/default/features", {"name": f"f{number}"})
        admin.ok("POST", f"{path}/favorites")


@pytest.mark.slow
def test_there_is_a_most(admin, most):
    assert error_of(admin.post(OF_CARD)) == (409, "ConflictError")
    admin.ok("POST", "/projects/default/features/f0/favorites")  # it is one already


def test_the_star_beside_the_heading_marks_and_removes(app, admin):
    browser, path = Browser(app).sign_in("admin"), "/projects/default/features/card"
    for before, after in (("false", "true"), ("true", "false")):
        page = browser.get(path)
        [star] = page.select("button.star")
        assert star.attributes["aria-pressed"] == before
        answer = browser.submit(page, form="Favourite: card", button="Favourite: card")
        [star] = browser.follow(answer).select("button.star")
        assert star.attributes["aria-pressed"] == after


@pytest.mark.slow
def test_a_star_that_can_not_be_given_says_why(app, admin, most):
    browser = Browser(app).sign_in("admin")
    page = browser.get("/projects/default/features/card")
    page = browser.follow(browser.submit(page, form="Favourite: card"))
    assert page.messages == [
        f"You have {MAX_FAVOURITES} favourites, which is the most. Remove one first."
    ]


def test_pages_about_a_task_have_no_star(browser):
    assert browser.get("/projects/default").select(".star")
    assert not browser.get("/projects/default/new-feature").select(".star")


def test_home_has_the_favourite_features_and_the_favourite_projects_first(app, admin):
    for number in range(3):
        admin.ok("POST", "/projects", {"id": f"p{number}", "name": f"Project {number}"})
    admin.ok("POST", "/projects/p0/favorites")
    admin.ok("POST", OF_CARD)
    page = Browser(app).sign_in("admin").get("/")
    names = [text_of(name) for name in page.select("th .table__name")]
    assert names == ["Project 0", "Project 2", "Project 1"]
    [panel] = page.select('[aria-labelledby="favourites"] li')
    assert text_of(panel) == "Favourite: card card Default"


def test_home_has_a_favourite_project_of_someone_who_is_no_member(app, admin, viewer):
    viewer.ok("POST", "/projects/default/favorites")
    page = Browser(app).sign_in("viewer").get("/")
    assert [text_of(name) for name in page.select("th .table__name")] == ["Default"]
