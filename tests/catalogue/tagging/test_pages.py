"""Changing the tags of many features: choosing, reviewing, applying and undoing."""

import pytest

from app.catalogue.tags.models import Tag
from app.core.db import insert_all, unit_of_work
from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient

HOME = "/projects/default"


@pytest.fixture
def three(admin: ApiClient) -> list[str]:
    """Three features; a and b have simple:old, c has simple:kept."""
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
    return page.fields("Review")[f"choice-{tag}"]


def test_every_tag_is_kept_unless_something_is_chosen(browser, three):
    page = picker(browser, *three)
    assert page.h1 == "Edit tags of 3 features"
    assert state(page, "simple:old") == "keep"
    assert page.has("on 2 of 3")
    assert page.has("on 1 of 3")


def test_selecting_nothing_in_the_list_is_refused(browser, three):
    page = browser.submit(browser.get(HOME), form="Edit tags", button="Edit tags")
    assert browser.follow(page).messages[0].startswith("Select at least one feature first")


def test_the_review_groups_features_by_what_changes_and_changes_nothing(browser, admin, three):
    page = picker(browser, *three)
    page = browser.submit(
        page,
        {"choice-simple:old": "remove", "choice-simple:kept": "add"},
        form="Review",
        button="Review",
    )
    page = browser.follow(page)
    assert page.has("2 of 3 features will change. 1 feature is already set.")
    assert page.has("+ simple:kept − simple:old a b")
    assert page.has("Already set c")
    assert tags_of(admin)["a"] == ["simple:old"]


def change(browser: Browser, names: list[str], **choices: str) -> Page:
    """Choose and review; the page of the review."""
    page = picker(browser, *names)
    changes = {f"choice-simple:{value}": choice for value, choice in choices.items()}
    return browser.follow(browser.submit(page, changes, form="Review", button="Review"))


def test_all_changes_are_made_at_once_and_only_real_ones_are_counted(browser, admin, three):
    page = change(browser, three, kept="add", old="remove")
    assert page.has("4 changes")
    assert page.has("2 already set")
    page = browser.submit(page, {"reason": "spring"}, button="Change tags of 2 features")
    page = browser.follow(page)
    assert page.h1 == "Tags of 2 features changed"
    assert tags_of(admin) == {name: ["simple:kept"] for name in three}
    events = admin.ok("GET", "/events?type=feature-tags-changed")["events"][:2]
    assert {event["reason"] for event in events} == {"spring"}
    assert len({event["batchId"] for event in events}) == 1


def test_features_that_already_have_the_tags_are_counted_apart(browser, admin, three):
    page = change(browser, three, kept="add")
    assert page.has("2 of 3 features will change. 1 feature is already set.")
    page = browser.follow(browser.submit(page, button="Change tags of 2 features"))
    assert page.has("2 features changed. 1 feature was already set.")


def test_a_change_is_undone_exactly(browser, admin, three):
    before = tags_of(admin)
    page = change(browser, three, kept="add", old="remove")
    page = browser.follow(browser.submit(page, button="Change tags of 2 features"))
    assert tags_of(admin) != before
    page = browser.get(page.links["Undo…"])
    assert page.has("2 of 2 features will change.")
    page = browser.submit(page, button="Undo on 2 features")
    assert browser.follow(page).h1 == "Tags of 2 features changed"
    assert tags_of(admin) == before


def test_a_review_that_changed_is_shown_again_and_not_applied(browser, admin, three):
    page = change(browser, three, kept="add")
    tag(admin, ["a"], "kept")
    page = browser.submit(page, {"reason": "why"}, button="Change tags of 2 features")
    assert page.status == 409
    assert page.title == "Error: Review the tags of 3 features · Flagstaff"
    assert page.has("Already set a Changed since your review c")
    assert tags_of(admin)["b"] == ["simple:old"]
    assert page.fields()["reason"] == "why"
    page = browser.submit(page, button="Change tags of 1 feature")
    assert browser.follow(page).status == 200
    assert tags_of(admin)["b"] == ["simple:kept", "simple:old"]


def test_a_review_of_someone_else_or_a_forged_one_changes_nothing(app, browser, admin, three):
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
        page, {"choice-simple:old": "remove", "text": "kept"}, form="Review", button="Filter"
    )
    page = browser.follow(page)
    assert "choice-simple:old" not in page.fields("Review")
    assert page.has("Also chosen, but not shown by this filter: − simple:old")
    page = browser.follow(browser.submit(page, form="Review", button="Review"))
    assert page.has("2 of 3 features will change.")


def test_choosing_no_tag_at_all_leads_back_to_the_choice(browser, three):
    page = picker(browser, *three)
    page = browser.follow(browser.submit(page, form="Review", button="Review"))
    page = browser.follow(page)
    assert page.messages[0] == "Choose at least one tag to add or remove."


def new_tag(browser: Browser, page: Page, type: str, value: str) -> Page:
    typed = {"new_type": type, "value": value}
    return browser.submit(page, typed, form="Review", button="Add to the list")


def test_a_new_tag_is_created_when_the_review_is_confirmed(browser, admin, three):
    page = browser.follow(new_tag(browser, picker(browser, "a"), "team", "payments"))
    assert state(page, "team:payments") == "add"
    assert page.has("team:payments new")
    page = browser.follow(browser.submit(page, form="Review", button="Review"))
    assert page.has("1 new tag: team:payments")
    values = [row["value"] for row in admin.ok("GET", "/tags")["tags"]]
    assert "payments" not in values
    browser.follow(browser.submit(page, button="Change tags of 1 feature"))
    assert tags_of(admin)["a"] == ["simple:old", "team:payments"]


@pytest.mark.parametrize("value", ["payment", "Payments", "paymentss"])
def test_a_new_tag_that_is_similar_to_an_existing_one_is_questioned(browser, admin, three, value):
    body = {"addedTags": [{"type": "team", "value": "payments"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", json={"features": ["c"], "tags": body})
    page = browser.follow(new_tag(browser, picker(browser, "a"), "team", value))
    assert page.has(f"There is no team:{value} yet. Did you mean team:payments, used 1 time?")
    known = browser.follow(browser.submit(page, form="Review", button="Use team:payments"))
    assert state(known, "team:payments") == "add"
    new = browser.follow(browser.submit(page, form="Review", button=f"Create team:{value}"))
    assert state(new, f"team:{value}") == "add"


@pytest.mark.parametrize("value", ["", "x" * 51, "a\nb"])
def test_an_invalid_new_tag_is_refused_in_the_words_of_the_api(browser, admin, three, value):
    body = {"addedTags": [{"type": "team", "value": value}], "removedTags": []}
    refusal = admin.put("/projects/default/tags", json={"features": ["a"], "tags": body})
    page = picker(browser, *three)
    page = browser.submit(
        page,
        {"new_type": "team", "value": value, "choice-simple:old": "remove"},
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
    assert page.has("2 names aren’t in this project: no-such sp\u00e4t")
    assert page.has("1 feature belongs to another project: theirs")
    assert page.has("1 of them is archived: c")
    assert page.has("Its tags change too.")


def test_names_of_private_projects_are_unknown_to_people_who_can_not_see_them(
    app, people, admin, three
):
    admin.ok("POST", "/projects", json={"id": "secret", "name": "S", "mode": "private"})
    admin.ok("POST", "/projects/secret/features", json={"name": "hidden"})
    people.join(people.person("member"), "default")
    browser = Browser(app).sign_in("member")
    page = browser.get(f"{HOME}/paste")
    page = browser.follow(browser.submit(page, {"names": "a hidden"}, button="Edit tags"))
    assert page.has("1 name isn’t in this project: hidden")


def test_all_that_match_are_chosen_over_all_pages(browser, admin):
    for number in range(55):
        admin.ok("POST", "/projects/default/features", json={"name": f"f{number:02}"})
    admin.ok("POST", "/projects/default/features", json={"name": "other"})
    page = browser.get(f"{HOME}?text=f")
    page = browser.get(HOME + page.links["Select all 55 that match"])
    assert page.has("All 55 that match are selected")
    page = browser.follow(browser.submit(page, form="Edit tags", button="Edit tags"))
    assert page.h1 == "Edit tags of 55 features"


def test_a_selection_has_the_same_address_for_everyone_and_only_in_its_project(
    app, browser, admin, three
):
    admin.ok("POST", "/projects", json={"id": "other", "name": "Other"})
    page = picker(browser, "a", "b")
    assert picker(Browser(app).sign_in("admin"), "b", "a").path == page.path
    assert browser.get(page.path.replace("default", "other")).status == 404
    assert browser.get(f"{HOME}/tags?selection=unknown").status == 404


def test_a_tag_type_that_was_deleted_since_is_named(browser, admin, three):
    page = browser.follow(new_tag(browser, picker(browser, "a"), "team", "payments"))
    admin.ok("DELETE", "/tag-types/team")
    page = browser.follow(browser.submit(page, form="Review", button="Review"))
    assert page.status == 400
    assert page.has("There is no tag type 'team'")


def test_a_change_in_another_project_can_not_be_undone_here(browser, admin, three):
    admin.ok("POST", "/projects", json={"id": "other", "name": "Other"})
    admin.ok("POST", "/projects/other/features", json={"name": "theirs"})
    body = {"addedTags": [{"type": "simple", "value": "kept"}], "removedTags": []}
    admin.ok("PUT", "/projects/other/tags", json={"features": ["theirs"], "tags": body})
    batch = admin.ok("GET", "/events?project=other&type=feature-tags-changed")["events"][0][
        "batchId"
    ]
    assert browser.get(f"/projects/other/tags/undo?batch={batch}").status == 200
    for other in (batch, "unknown"):
        assert browser.get(f"{HOME}/tags/undo?batch={other}").status == 404
    assert browser.get(f"{HOME}/tags/done").status == 404


def test_enter_in_a_field_filters_and_never_reviews(browser, three):
    page = picker(browser, *three)
    first = page.form("Review").css("button")[0].attributes
    assert (first["name"], first["value"]) == ("step", "filter")
    assert not page.select('button[form="picker"]')


def test_a_typed_new_tag_counts_as_added_when_review_is_pressed(browser, admin, three):
    page = picker(browser, "a")
    typed = {"new_type": "team", "value": "payments"}
    page = browser.follow(browser.submit(page, typed, form="Review", button="Review"))
    assert page.has("+ team:payments a")


def test_a_typed_new_tag_is_added_also_by_enter(browser, three):
    page = picker(browser, "a")
    typed = {"new_type": "team", "value": "payments"}
    page = browser.follow(browser.submit(page, typed, form="Review", button="Filter"))
    assert state(page, "team:payments") == "add"


def test_a_typed_new_tag_that_is_similar_to_another_is_questioned_before_the_review(browser, three):
    page = picker(browser, "a")
    typed = {"new_type": "simple", "value": "keptt"}
    page = browser.follow(browser.submit(page, typed, form="Review", button="Review"))
    assert page.h1 == "Edit tags of 1 feature"
    assert page.has("Did you mean simple:kept, used 1 time?")


def test_what_is_searched_for_can_be_created(browser, three):
    page = picker(browser, "a")
    page = browser.follow(
        browser.submit(page, {"text": "beta", "type": "team"}, form="Review", button="Filter")
    )
    page = browser.follow(browser.submit(page, form="Review", button="Create “ team:beta ”"))
    assert state(page, "team:beta") == "add"
    page = browser.follow(
        browser.submit(page, {"text": "old", "type": ""}, form="Review", button="Filter")
    )
    [create] = page.select("button[data-create]")
    assert "hidden" in create.attributes


def test_a_similar_tag_in_an_address_that_has_none_shows_the_picker(browser, three):
    page = picker(browser, "a")
    assert browser.get(f"{page.path}&near=simple:zzz").status == 200


def test_tags_on_the_features_come_first_and_are_never_cut(app, browser, admin, three):
    with app.app_context(), unit_of_work(writes=True):
        insert_all([{"type": "simple", "value": f"a{n:03}"} for n in range(520)], Tag)
    page = picker(browser, *three)
    rows = [e.attributes["data-text"] for e in page.select("tr[data-text]")]
    assert rows[:3] == ["simple:kept", "simple:old", "simple:a000"]
    assert len(rows) == 502
    assert page.has("502 tags of 522. The filter finds the others.")


@pytest.mark.one_in(2)
@pytest.mark.slow
def test_a_review_of_many_features_is_grouped_and_names_every_one(browser, admin):
    names = [f"f{number:03}" for number in range(600)]
    for name in names:
        admin.ok("POST", "/projects/default/features", json={"name": name})
    tag(admin, names[:200], "old")
    page = browser.get(f"{HOME}/paste")
    page = browser.follow(browser.submit(page, {"names": " ".join(names)}, button="Edit tags"))
    changes = {"choice-simple:old": "remove", "new_type": "simple", "value": "beta"}
    page = browser.follow(browser.submit(page, changes, form="Review", button="Review"))
    assert page.has("600 of 600 features will change.")
    groups = [text_of(row.css_first("summary")) for row in page.select("tbody")[0].css("tr")]
    assert groups == ["400 features", "200 features"]
    assert all(page.has(name) for name in names)
