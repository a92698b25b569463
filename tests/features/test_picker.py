"""Changing the tags of many features: choosing, reviewing, doing it, and taking it back."""

import pytest

from tests.browser import Browser, Page
from tests.clients import ApiClient

HOME = "/projects/default"


@pytest.fixture
def three(admin: ApiClient) -> list[str]:
    """Three features; a and b carry simple:old, c carries simple:kept."""
    for name in "abc":
        admin.ok("POST", "/projects/default/features", json={"name": name})
    admin.ok("POST", "/tag-types", json={"name": "team", "hue": 3})
    tag(admin, ["a", "b"], "old")
    tag(admin, ["c"], "kept")
    return ["a", "b", "c"]


def tag(admin: ApiClient, names: list[str], value: str, *, remove: bool = False) -> None:
    part, other = ("removedTags", "addedTags") if remove else ("addedTags", "removedTags")
    body = {"features": names, "tags": {part: [{"value": value}], other: []}}
    admin.ok("PUT", "/projects/default/tags", json=body)


def tags_of(admin: ApiClient) -> dict[str, list[str]]:
    rows = admin.ok("GET", "/projects/default/features")["features"]
    return {row["name"]: [f"{tag['type']}:{tag['value']}" for tag in row["tags"]] for row in rows}


def picker(browser: Browser, *names: str) -> Page:
    """The picker for these features, chosen in the list."""
    page = browser.get(HOME)
    page = browser.submit(page, {"feature": list(names)}, form="Edit tags", button="Edit tags")
    return browser.follow(page)


def state(page: Page, tag: str) -> str:
    return page.fields("Review")[f"way-{tag}"]


def test_every_tag_is_kept_unless_something_is_chosen(browser, three):
    page = picker(browser, *three)
    assert page.h1 == "Edit tags of 3 features"
    assert state(page, "simple:old") == "keep"
    assert page.has("on 2 of 3")
    assert page.has("on 1 of 3")


def test_nothing_chosen_in_the_list_is_said(browser, three):
    page = browser.submit(browser.get(HOME), form="Edit tags", button="Edit tags")
    assert browser.follow(page).messages[0].startswith("Choose at least one feature first")


def test_the_review_says_of_each_feature_what_happens_and_nothing_has_happened(
    browser, admin, three
):
    page = picker(browser, *three)
    page = browser.submit(
        page, {"way-simple:old": "remove", "way-simple:kept": "add"}, form="Review", button="Review"
    )
    page = browser.follow(page)
    assert page.has("2 of 3 features change")
    assert page.has("a + simple:kept − simple:old simple:kept")
    assert page.has("c Nothing, it is so already")
    assert tags_of(admin)["a"] == ["simple:old"]


def change(browser: Browser, names: list[str], **ways: str) -> Page:
    """Choose and review; the page of the review."""
    page = picker(browser, *names)
    changes = {f"way-simple:{value}": way for value, way in ways.items()}
    return browser.follow(browser.submit(page, changes, form="Review", button="Review"))


def test_all_is_done_in_one_go_and_only_real_changes_are_counted(browser, admin, three):
    page = change(browser, three, kept="add", old="remove")
    assert page.has("4 real changes")
    assert page.has("2 change nothing")
    page = browser.submit(page, {"reason": "spring"}, button="Change tags of 2 features")
    page = browser.follow(page)
    assert page.h1 == "Tags of 2 features changed"
    assert tags_of(admin) == {name: ["simple:kept"] for name in three}
    told = admin.ok("GET", "/events?type=feature-tags-changed")["events"][:2]
    assert {event["reason"] for event in told} == {"spring"}
    assert len({event["batchId"] for event in told}) == 1


def test_features_that_are_so_already_are_said_to_be(browser, admin, three):
    page = change(browser, three, kept="add")
    assert page.has("2 of 3 features change; 1 is so already")
    page = browser.follow(browser.submit(page, button="Change tags of 2 features"))
    assert page.has("2 features changed; 1 was so already")


def test_a_change_is_taken_back_exactly(browser, admin, three):
    before = tags_of(admin)
    page = change(browser, three, kept="add", old="remove")
    page = browser.follow(browser.submit(page, button="Change tags of 2 features"))
    assert tags_of(admin) != before
    page = browser.get(page.links["Take it back…"])
    assert page.has("2 of 2 features change")
    page = browser.submit(page, button="Take it back on 2 features")
    assert browser.follow(page).h1 == "Tags of 2 features changed"
    assert tags_of(admin) == before


def test_a_review_that_does_not_hold_any_more_is_shown_again_and_not_done(browser, admin, three):
    page = change(browser, three, kept="add")
    tag(admin, ["a"], "kept")
    page = browser.submit(page, {"reason": "why"}, button="Change tags of 2 features")
    assert page.status == 409
    assert page.title.startswith("Error:")
    assert page.has("a Changed meanwhile Nothing, it is so already")
    assert tags_of(admin)["b"] == ["simple:old"]
    assert page.fields()["reason"] == "why"
    page = browser.submit(page, button="Change tags of 1 feature")
    assert browser.follow(page).status == 200
    assert tags_of(admin)["b"] == ["simple:kept", "simple:old"]


def test_a_review_of_somebody_else_or_made_up_does_nothing(app, browser, admin, three):
    page = change(browser, three, kept="add")
    other = Browser(app).sign_in("admin")
    fields = page.fields()
    for plan in (fields["plan"], "made-up", fields["plan"][:-2], ""):
        refused = other.post(page.path, {"plan": plan, "reason": ""})
        assert refused.status == 400
    assert tags_of(admin)["a"] == ["simple:old"]


def test_back_from_the_review_keeps_what_was_chosen(browser, three):
    page = change(browser, three, kept="add", old="remove")
    page = browser.get(page.links["Back"])
    assert (state(page, "simple:kept"), state(page, "simple:old")) == ("add", "remove")


def test_filtering_keeps_what_was_chosen_also_where_it_is_not_shown(browser, three):
    page = picker(browser, *three)
    page = browser.submit(
        page, {"way-simple:old": "remove", "text": "kept"}, form="Review", button="Filter"
    )
    page = browser.follow(page)
    assert "way-simple:old" not in page.fields("Review")
    assert page.has("Also chosen, but not shown by this filter: − simple:old")
    page = browser.follow(browser.submit(page, form="Review", button="Review"))
    assert page.has("2 of 3 features change")


def test_choosing_no_tag_at_all_leads_back_to_the_choice(browser, three):
    page = picker(browser, *three)
    page = browser.follow(browser.submit(page, form="Review", button="Review"))
    page = browser.follow(page)
    assert page.messages[0] == "Choose what is to happen to at least one tag."


def new_tag(browser: Browser, page: Page, type: str, value: str) -> Page:
    typed = {"new_type": type, "value": value}
    return browser.submit(page, typed, form="Review", button="Add to the list")


def test_a_new_tag_comes_into_being_with_the_commit_and_not_before(browser, admin, three):
    page = browser.follow(new_tag(browser, picker(browser, "a"), "team", "payments"))
    assert state(page, "team:payments") == "add"
    assert page.has("team:payments new")
    page = browser.follow(browser.submit(page, form="Review", button="Review"))
    assert page.has("new tag: team:payments")
    values = [row["value"] for row in admin.ok("GET", "/tags")["tags"]]
    assert "payments" not in values
    browser.follow(browser.submit(page, button="Change tags of 1 feature"))
    assert tags_of(admin)["a"] == ["simple:old", "team:payments"]


@pytest.mark.parametrize("value", ["payment", "Payments", "paymentss"])
def test_a_new_tag_that_is_almost_a_known_one_is_pointed_out(browser, admin, three, value):
    body = {"addedTags": [{"type": "team", "value": "payments"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", json={"features": ["c"], "tags": body})
    page = browser.follow(new_tag(browser, picker(browser, "a"), "team", value))
    assert page.has(f"There is no team:{value} yet. Did you mean team:payments, used 1 time?")
    known = browser.follow(browser.submit(page, form="Review", button="Use team:payments"))
    assert state(known, "team:payments") == "add"
    new = browser.follow(browser.submit(page, form="Review", button="No, make the new one"))
    assert state(new, f"team:{value}") == "add"


@pytest.mark.parametrize("value", ["", "x" * 51, "a\nb"])
def test_a_new_tag_that_can_not_be_one_is_refused_in_the_words_of_the_api(
    browser, admin, three, value
):
    body = {"addedTags": [{"type": "team", "value": value}], "removedTags": []}
    refusal = admin.put("/projects/default/tags", json={"features": ["a"], "tags": body})
    page = picker(browser, *three)
    page = browser.submit(
        page,
        {"new_type": "team", "value": value, "way-simple:old": "remove"},
        form="Review",
        button="Add to the list",
    )
    assert page.status == 400
    assert refusal.json["details"][0]["message"] in page.errors[0]
    assert state(page, "simple:old") == "remove"


def test_a_pasted_list_names_what_is_unknown_archived_or_elsewhere(browser, admin, three):
    admin.ok("POST", "/projects", json={"id": "other", "name": "Other"})
    admin.ok("POST", "/projects/other/features", json={"name": "theirs"})
    admin.ok("POST", "/projects/default/archive", json={"features": ["c"]})
    typed = 'a, "b";c\r\ntheirs  no-such\tsp\u00e4t\na'
    page = browser.get(f"{HOME}/paste")
    page = browser.follow(browser.submit(page, {"names": typed}, button="Edit tags"))
    assert page.h1 == "Edit tags of 3 features"
    assert page.has("Unknown here: no-such and sp\u00e4t")
    assert page.has("Of another project: theirs")
    assert page.has("1 of them is archived: c")


def test_names_of_private_projects_are_only_unknown_to_who_may_not_know_of_them(
    app, people, admin, three
):
    admin.ok("POST", "/projects", json={"id": "secret", "name": "S", "mode": "private"})
    admin.ok("POST", "/projects/secret/features", json={"name": "hidden"})
    people.join(people.person("member"), "default")
    browser = Browser(app).sign_in("member")
    page = browser.get(f"{HOME}/paste")
    page = browser.follow(browser.submit(page, {"names": "a hidden"}, button="Edit tags"))
    assert page.has("Unknown here: hidden")


def test_all_that_match_are_chosen_over_all_pages(browser, admin):
    for number in range(55):
        admin.ok("POST", "/projects/default/features", json={"name": f"f{number:02}"})
    admin.ok("POST", "/projects/default/features", json={"name": "other"})
    page = browser.get(f"{HOME}?text=f")
    page = browser.get(HOME + page.links["Select all 55 that match"])
    assert page.has("All 55 that match are selected")
    page = browser.follow(browser.submit(page, form="Edit tags", button="Edit tags"))
    assert page.h1 == "Edit tags of 55 features"


def test_a_selection_has_the_same_address_for_everybody_and_only_in_its_project(
    app, browser, admin, three
):
    admin.ok("POST", "/projects", json={"id": "other", "name": "Other"})
    page = picker(browser, "a", "b")
    assert picker(Browser(app).sign_in("admin"), "b", "a").path == page.path
    assert browser.get(page.path.replace("default", "other")).status == 404
    assert browser.get(f"{HOME}/tags?selection=unknown").status == 404


def test_a_tag_type_that_was_deleted_meanwhile_is_named(browser, admin, three):
    page = browser.follow(new_tag(browser, picker(browser, "a"), "team", "payments"))
    admin.ok("DELETE", "/tag-types/team")
    page = browser.follow(browser.submit(page, form="Review", button="Review"))
    assert page.status == 400
    assert page.has("There is no tag type 'team'")


def test_tags_of_another_change_can_not_be_taken_back_in_this_project(browser, admin, three):
    admin.ok("POST", "/projects", json={"id": "other", "name": "Other"})
    admin.ok("POST", "/projects/other/features", json={"name": "theirs"})
    body = {"addedTags": [{"type": "simple", "value": "kept"}], "removedTags": []}
    admin.ok("PUT", "/projects/other/tags", json={"features": ["theirs"], "tags": body})
    batch = admin.ok("GET", "/events?project=other&type=feature-tags-changed")["events"][0][
        "batchId"
    ]
    assert browser.get(f"/projects/other/tags/take-back?batch={batch}").status == 200
    for other in (batch, "unknown"):
        assert browser.get(f"{HOME}/tags/take-back?batch={other}").status == 404
    assert browser.get(f"{HOME}/tags/done").status == 404
