"""The archive preview, archiving and reviving, in a browser without a script."""

from collections.abc import Callable

import pytest

from tests.browser import Browser, Page
from tests.clients import ApiClient

HOME = "/projects/default"
Family = Callable[..., None]


@pytest.fixture
def family(admin: ApiClient) -> Family:
    """Makes a parent with its children."""

    def family(parent: str, *children: str) -> None:
        for name in (parent, *children):
            admin.ok("POST", "/projects/default/features", json={"name": name})
        for child in children:
            path = f"/projects/default/features/{child}/dependencies"
            admin.ok("POST", path, json={"feature": parent})

    return family


def preview(browser: Browser, *names: str) -> Page:
    page = browser.get(f"{HOME}/paste")
    return browser.follow(browser.submit(page, {"names": " ".join(names)}, button="Archive…"))


def verdict(page: Page) -> str:
    return next(e.text for e in page.root.all("p") if e.attrs.get("class") == "verdict")


def active(admin: ApiClient) -> list[str]:
    return [row["name"] for row in admin.ok("GET", "/projects/default/features")["features"]]


def test_the_verdict_comes_first_and_nothing_has_changed(browser, admin, family):
    family("base", "in", "out")
    family("alone")
    admin.ok("POST", "/projects/default/features", json={"name": "gone"})
    admin.ok("POST", "/projects/default/archive", json={"features": ["gone"]})
    page = preview(browser, "base", "in", "alone", "gone", "alonne")
    assert verdict(page) == (
        "2 of 5 can be archived. 1 is a parent of features that you did not select. "
        "1 is archived already. 1 does not exist here."
    )
    assert page.has("base is needed by out")
    assert page.has("in no longer depends on base")
    assert page.has("alonne is unknown here. Did you mean alone ? It is already selected.")
    assert active(admin) == ["alone", "base", "in", "out"]


def test_the_drawing_has_the_same_facts_as_the_table_beside_it(browser, family):
    family("base", "in", "out")
    page = preview(browser, "base", "in")
    drawing = next(e for e in page.root.all("svg") if e.attrs.get("role") == "img")
    assert [text.text for text in drawing.all("text")] == ["base", "in", "out"]
    title = drawing.all("title")[0].text
    assert title == "1 parent with its children. base is blocked by children that are not selected."
    classes = [path.attrs["class"] for path in drawing.all("path")]
    assert classes.count("drawing__cross") == 1
    rows = [row.text for row in page.root.all("tbody")[0].all("tr")]
    assert rows == ["in base Dropped", "out base Blocks"]


def test_adding_the_child_makes_a_new_plan(browser, admin, family):
    family("base", "in", "out")
    page = preview(browser, "base", "in")
    page = browser.follow(browser.submit(page, form="Add the child"))
    assert verdict(page) == "All 3 can be archived."
    assert active(admin) == ["base", "in", "out"]


def test_leaving_the_parent_out_makes_a_new_plan(browser, family):
    family("base", "in", "out")
    page = preview(browser, "base", "in")
    page = browser.follow(browser.submit(page, form="Leave the parent out"))
    assert verdict(page) == "It can be archived."
    assert page.has("in no longer depends on base")


def test_removing_the_dependency_does_so_at_once_and_shows_the_plan_anew(browser, admin, family):
    family("base", "out")
    page = preview(browser, "base")
    page = browser.follow(browser.submit(page, form="Remove the dependency"))
    assert page.messages == ["1 dependency removed."]
    assert verdict(page) == "It can be archived."
    assert admin.ok("GET", "/projects/default/features/out")["dependencies"] == []


def test_all_that_blocks_can_be_left_out_at_once(browser, family):
    family("one", "one.child")
    family("two", "two.child")
    family("free")
    page = preview(browser, "one", "two", "free")
    page = browser.follow(browser.submit(page, form="Leave the 2 out, go on with 1"))
    assert verdict(page) == "It can be archived."


def test_features_are_archived_with_a_reason_and_revived_with_their_dependencies(
    browser, admin, family
):
    family("base", "child")
    page = preview(browser, "base", "child")
    page = browser.submit(page, {"reason": "not used"}, button="Archive 2 features")
    page = browser.follow(page)
    assert page.h1 == "2 features archived"
    assert active(admin) == []
    told = admin.ok("GET", "/events?type=feature-archived")["events"]
    assert [event["reason"] for event in told] == ["not used"] * 2
    page = browser.follow(browser.submit(page, form="Revive all 2"))
    assert page.messages == ["2 features revived. 1 depends on the same parent again."]
    assert admin.ok("GET", "/projects/default/features/child")["dependencies"] == ["base"]


def test_a_plan_that_does_not_hold_any_more_is_shown_again_with_what_changed(
    browser, admin, family
):
    family("base", "child")
    page = preview(browser, "base", "child")
    path = "/projects/default/features/child/dependencies/base"
    admin.ok("DELETE", path)
    page = browser.submit(page, {"reason": "why"}, button="Archive 2 features")
    assert page.status == 409
    assert page.title.startswith("Error:")
    assert page.has("child Changed meanwhile")
    assert page.fields(-1)["reason"] == "why"
    assert active(admin) == ["base", "child"]
    browser.follow(browser.submit(page, form=-1, button="Archive 2 features"))
    assert active(admin) == []


def test_a_new_child_stops_a_plan_that_was_free_to_go(browser, admin, family):
    family("base")
    page = preview(browser, "base")
    admin.ok("POST", "/projects/default/features", json={"name": "late"})
    path = "/projects/default/features/late/dependencies"
    admin.ok("POST", path, json={"feature": "base"})
    page = browser.submit(page, button="Archive 1 feature")
    assert page.status == 409
    assert page.has("base is needed by late Changed meanwhile")
    assert active(admin) == ["base", "late"]


def test_a_plan_of_nothing_says_so(browser, family):
    page = preview(browser, "no-such")
    assert verdict(page).startswith("Nothing can be archived.")
    assert "Archive" not in {button.text for button in page.root.all("button")}


def test_the_address_of_a_plan_can_be_shared_with_whoever_may_archive(app, browser, people, family):
    family("base")
    page = preview(browser, "base")
    people.join(people.person("member"), "default")
    people.person("looker")
    assert verdict(Browser(app).sign_in("member").get(page.path)) == "It can be archived."
    assert Browser(app).sign_in("looker").get(page.path).status == 403


def test_many_features_are_previewed_in_one_go(browser, admin):
    names = [f"f{number:03}" for number in range(300)]
    for name in names:
        admin.ok("POST", "/projects/default/features", json={"name": name})
    page = preview(browser, *names)
    assert verdict(page) == "All 300 can be archived."
    browser.follow(browser.submit(page, button="Archive 300 features"))
    assert active(admin) == []
