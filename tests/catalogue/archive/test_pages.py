"""The archive preview, archiving and reviving, in a browser without a script."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient
from tests.support.dependencies import parents

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
    return text_of(page.select("p.verdict")[0])


def active(admin: ApiClient) -> list[str]:
    return [row["name"] for row in admin.ok("GET", "/projects/default/features")["features"]]


def test_the_verdict_comes_first_and_nothing_has_changed(browser, admin, family):
    family("base", "in", "out")
    family("alone")
    admin.ok("POST", "/projects/default/features", json={"name": "gone"})
    admin.ok("POST", "/projects/default/archive", json={"features": ["gone"]})
    page = preview(browser, "base", "in", "alone", "gone", "alonne")
    assert verdict(page) == (
        "2 of 5 can be archived. Other features depend on 1 of them. "
        "1 is already archived. 1 isn’t in this project."
    )
    assert page.has("base is needed by out")
    assert page.has("in will no longer depend on base")
    assert page.has("alonne isn’t in this project. Did you mean alone ? It’s already selected.")
    assert active(admin) == ["alone", "base", "in", "out"]


def test_the_drawing_has_the_same_facts_as_the_table_beside_it(browser, family):
    family("base", "in", "out")
    page = preview(browser, "base", "in")
    drawing = page.select('svg[role="img"]')[0]
    assert [text_of(text) for text in drawing.css("text")] == ["base", "in", "out"]
    title = text_of(drawing.css("title")[0])
    assert title == "1 parent with its children. base is blocked by children that aren’t selected."
    classes = [path.attributes["class"] for path in drawing.css("path")]
    assert classes.count("drawing__cross") == 1
    rows = [text_of(row) for row in page.select("tbody")[0].css("tr")]
    assert rows == ["in base Removed", "out base Blocks"]


def test_adding_the_child_makes_a_new_plan(browser, admin, family):
    family("base", "in", "out")
    page = preview(browser, "base", "in")
    page = browser.follow(browser.submit(page, form="Add the child"))
    assert verdict(page) == "All 3 can be archived."
    assert active(admin) == ["base", "in", "out"]


def test_leaving_the_parent_out_makes_a_new_plan(browser, family):
    family("base", "in", "out")
    page = preview(browser, "base", "in")
    page = browser.follow(browser.submit(page, form="Leave it out"))
    assert verdict(page) == "It can be archived."
    assert page.has("in will no longer depend on base")


def parents_of(admin: ApiClient, name: str) -> list[str]:
    return parents(admin, f"/projects/default/features/{name}")


def test_removing_a_dependency_is_part_of_the_plan_and_changes_nothing_yet(browser, admin, family):
    family("base", "out")
    page = preview(browser, "base")
    page = browser.get(page.links["Remove the dependency"])
    assert verdict(page) == "It can be archived."
    assert page.has("Dependencies to remove: 1")
    assert page.has("out will no longer depend on base")
    assert parents_of(admin, "out") == ["base"]
    kept = browser.get(page.links["Keep the dependency"])
    assert verdict(kept).startswith("Nothing can be archived yet.")


def test_a_planned_removal_is_done_with_the_archiving_and_undone_by_reviving(
    browser, admin, family
):
    family("base", "out")
    page = browser.get(preview(browser, "base").links["Remove the dependency"])
    done = browser.follow(browser.submit(page, button="Archive 1 feature"))
    assert (active(admin), parents_of(admin, "out")) == (["out"], [])
    page = browser.follow(browser.submit(done, form="Revive"))
    assert page.messages == ["1 feature revived. 1 feature depends on the same parent again."]
    assert parents_of(admin, "out") == ["base"]


def test_a_planned_removal_is_kept_while_other_choices_are_made(browser, family):
    family("one", "one.child")
    family("two", "two.child")
    page = browser.get(preview(browser, "one").links["Remove the dependency"])
    with_two = page.path.replace(
        f"selection={selection_of(page)}",
        f"selection={selection_of(preview(browser, 'one', 'two'))}",
    )
    page = browser.follow(browser.submit(browser.get(with_two), form="Add the child"))
    assert verdict(page) == "All 3 can be archived."
    assert page.has("one.child will no longer depend on one")


def selection_of(page: Page) -> str:
    return parse_qs(urlsplit(page.path).query)["selection"][0]


def test_a_plan_with_removals_that_changed_is_shown_again(browser, admin, family):
    family("base", "out")
    page = browser.get(preview(browser, "base").links["Remove the dependency"])
    admin.ok("POST", "/projects/default/features", json={"name": "late"})
    admin.ok("POST", "/projects/default/features/late/dependencies", json={"feature": "base"})
    page = browser.submit(page, button="Archive 1 feature")
    assert page.status == 409
    assert page.has("late and out will no longer depend on base Changed since your review")
    assert parents_of(admin, "out") == ["base"]


def test_all_blocked_features_can_be_left_out_at_once(browser, family):
    family("one", "one.child")
    family("two", "two.child")
    family("free")
    page = preview(browser, "one", "two", "free")
    page = browser.follow(browser.submit(page, form="Leave out the 2 blocked, continue with 1"))
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
    events = admin.ok("GET", "/events?type=feature-archived")["events"]
    assert [event["reason"] for event in events] == ["not used"] * 2
    page = browser.follow(browser.submit(page, form="Revive all 2"))
    assert page.messages == ["2 features revived. 1 feature depends on the same parent again."]
    assert parents(admin, "/projects/default/features/child") == ["base"]


def test_a_plan_that_changed_is_shown_again_with_the_differences_marked(browser, admin, family):
    family("base", "child")
    page = preview(browser, "base", "child")
    path = "/projects/default/features/child/dependencies/base"
    admin.ok("DELETE", path)
    page = browser.submit(page, {"reason": "why"}, button="Archive 2 features")
    assert page.status == 409
    assert page.title == "Error: Archive 2 features · Flagstaff"
    assert page.has("child Changed since your review")
    assert page.fields(-1)["reason"] == "why"
    assert active(admin) == ["base", "child"]
    browser.follow(browser.submit(page, form=-1, button="Archive 2 features"))
    assert active(admin) == []


def test_a_new_child_blocks_a_plan_that_was_not_blocked(browser, admin, family):
    family("base")
    page = preview(browser, "base")
    admin.ok("POST", "/projects/default/features", json={"name": "late"})
    path = "/projects/default/features/late/dependencies"
    admin.ok("POST", path, json={"feature": "base"})
    page = browser.submit(page, button="Archive 1 feature")
    assert page.status == 409
    assert page.has("base is needed by late Changed since your review")
    assert active(admin) == ["base", "late"]


def test_a_plan_of_nothing_says_so(browser, family):
    page = preview(browser, "no-such")
    assert verdict(page).startswith("Nothing can be archived.")
    assert "Archive" not in {text_of(button) for button in page.select("button")}


def test_the_address_of_a_plan_can_be_shared_with_anyone_who_can_archive(
    app, browser, people, family
):
    family("base")
    page = preview(browser, "base")
    people.join(people.person("member"), "default")
    people.person("viewer")
    assert verdict(Browser(app).sign_in("member").get(page.path)) == "It can be archived."
    assert Browser(app).sign_in("viewer").get(page.path).status == 403


def test_many_features_are_previewed_in_one_go(browser, admin):
    names = [f"f{number:03}" for number in range(300)]
    for name in names:
        admin.ok("POST", "/projects/default/features", json={"name": name})
    page = preview(browser, *names)
    assert verdict(page) == "All 300 can be archived."
    browser.follow(browser.submit(page, button="Archive 300 features"))
    assert active(admin) == []


def test_a_feature_that_was_archived_since_the_review_is_marked(browser, admin, family):
    family("alone")
    family("other")
    page = preview(browser, "alone", "other")
    admin.ok("POST", "/projects/default/archive", json={"features": ["alone"]})
    page = browser.submit(page, button="Archive 2 features")
    assert page.status == 409
    assert page.title == "Error: Archive 1 feature · Flagstaff"
    assert page.h1 == "Archive 1 feature"
    assert verdict(page) == "1 of 2 can be archived. 1 is already archived."
    assert page.has("1 feature is already archived: alone Changed since your review")


def test_all_names_that_were_left_out_can_be_seen(browser, family):
    family("alone")
    names = [f"no.such.{number}" for number in range(60)]
    page = preview(browser, "alone", *names)
    assert all(page.has(name) for name in names)


def test_similar_names_are_suggested_for_the_first_20_names(browser, family):
    for number in range(25):
        family(f"checkout.banner.{number}")
    page = preview(browser, *(f"Chekout_banner_{number}" for number in range(25)))
    assert page.text.count("Did you mean") == 20
    assert page.has("Similar names are suggested for the first 20 names only")


def test_a_suggested_name_replaces_the_one_that_was_typed(browser, family):
    family("checkout.banner")
    page = preview(browser, "chekout.banner")
    page = browser.follow(browser.submit(page, form="Use checkout.banner"))
    assert verdict(page) == "It can be archived."
