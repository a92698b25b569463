"""The pages of templates, all without scripts."""

from typing import Any

import pytest
from flask import Flask

from tests.releases.plans.conftest import Releases, rollout, step
from tests.releases.templates.conftest import ROOT, started
from tests.support.browser import Browser, Page, attribute, text_of
from tests.support.clients import ApiClient
from tests.support.people import People

LIST = "/releases/templates"


def named(admin: ApiClient, name: str) -> Any:
    """The template that the API has under this name."""
    [found] = [each for each in admin.ok("GET", ROOT) if each["name"] == name]
    return found


def shares(template: Any) -> list[str]:
    """The last share of each step."""
    return [each["strategies"][-1]["parameters"]["rollout"] for each in template["milestones"]]


def row(browser: Browser, name: str) -> str:
    """The line of a template in the list."""
    rows = [text_of(each) for each in browser.get(LIST).select("tbody tr")]
    [found] = [each for each in rows if each.startswith(name)]
    return found


def faults(page: Page, id: str) -> list[str]:
    """What is said at an input that is marked as wrong."""
    [field] = page.select(f"#{id}")
    assert attribute(field, "aria-invalid") == "true"
    ids = attribute(field, "aria-describedby").split()
    return [text_of(page.select(f"#{each}")[0]) for each in ids]


def test_one_with_two_steps_is_created(browser: Browser, admin: ApiClient) -> None:
    page = browser.get(browser.get(LIST).links["New template"])
    typed = {"name": "Two steps", "description": "In a day", "step-0-share": "10"}
    done = browser.follow(browser.submit(page, {**typed, "last": None}))
    assert done.messages == ["Template Two steps created."]
    assert row(browser, "Two steps") == ("Two steps 10%, Everyone All projects 1 day Automatic 0 0")
    found = named(admin, "Two steps")
    assert (found["description"], shares(found)) == ("In a day", ["10", "100"])
    waits = [each["transitionCondition"] for each in found["milestones"]]
    assert waits == [{"intervalMinutes": 1440, "manual": False}, None]


def test_steps_are_added_and_removed_and_what_was_typed_stays(
    browser: Browser, admin: ApiClient
) -> None:
    typed = {"name": "Mine", "step-0-name": "First", "step-0-share": "7", "reason": "Try"}
    page = browser.submit(browser.get(f"{LIST}/new"), {**typed, "step": "add-step"})
    assert (page.has("3 steps"), page.status) == (True, 200)
    assert page.fields().items() >= typed.items()
    changes = {"step-2-who": "share", "step-2-share": "60", "step-2-name": "Last"}
    page = browser.submit(page, {**changes, "step": "remove-step-1"})
    fields = page.fields()
    assert fields.items() >= typed.items()
    assert (fields["step-1-name"], fields["step-1-share"]) == ("Last", "60")
    assert "step-2-who" not in fields
    assert "Mine" not in [each["name"] for each in admin.ok("GET", ROOT)]
    browser.submit(page)
    assert shares(named(admin, "Mine")) == ["7", "60"]


def test_mistakes_are_shown_at_their_fields_and_nothing_is_lost(
    browser: Browser, admin: ApiClient, quick_id: str
) -> None:
    page = browser.submit(browser.get(f"{LIST}/{quick_id}"), {"step": "add-step"})
    wrong = {"name": "", "step-1-who": "share", "step-1-share": "4", "step-2-share": "many"}
    page = browser.submit(page, wrong)
    assert page.status == 400
    assert page.errors == [
        "Name: Enter 1 to 100 characters.",
        "Step 2: Enter more than 5, the share of step 1.",
        "Step 3: Enter a whole number from 0 to 100.",
    ]
    assert "Enter 1 to 100 characters." in faults(page, "name")
    assert faults(page, "step-1-share") == ["Enter more than 5, the share of step 1."]
    assert faults(page, "step-2-share") == ["Enter a whole number from 0 to 100."]
    assert page.fields().items() >= wrong.items()
    page = browser.submit(page, {"name": "Careful", "step-1-share": "6", "step-2-share": "7"})
    assert faults(page, "name")[-1] == "A release template named 'Careful' already exists."
    assert shares(named(admin, "Quick")) == ["5", "100"]


def test_one_without_steps_is_refused(browser: Browser, admin: ApiClient, quick_id: str) -> None:
    page = browser.get(f"{LIST}/{quick_id}")
    for _ in range(2):
        page = browser.submit(page, {"step": "remove-step-0"})
    page = browser.submit(page)
    assert (page.status, page.errors) == (400, ["Send 1 to 30 steps."])
    assert shares(named(admin, "Quick")) == ["5", "100"]


def test_a_saved_form_changes_only_what_was_changed_in_it(
    browser: Browser, admin: ApiClient
) -> None:
    variant = {"name": "blue", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    odd = {
        "name": "Odd",
        "strategies": [rollout(3, variants=[variant]), rollout(7)],
        "transitionCondition": {"intervalMinutes": 45},
    }
    steps = [odd, step(25, 2880), step(50, None), step(100, None)]
    id = admin.ok("POST", ROOT, {"name": "Odd", "milestones": steps})["id"]
    before = admin.ok("GET", f"{ROOT}/{id}")
    page = browser.get(f"{LIST}/{id}")
    done = browser.follow(browser.submit(page))
    assert done.messages == ["Nothing changed."]
    done = browser.follow(browser.submit(page, {"description": "Slow at first"}))
    assert done.messages == ["Template Odd saved."]
    assert admin.ok("GET", f"{ROOT}/{id}") == before | {"description": "Slow at first"}


def test_careful_is_edited_without_losing_its_staff(browser: Browser, admin: ApiClient) -> None:
    before = named(admin, "Careful")
    page = browser.get(f"{LIST}/{before['id']}")
    assert browser.follow(browser.submit(page)).messages == ["Nothing changed."]
    browser.submit(page, {"step-1-share": "10"})
    after = named(admin, "Careful")
    assert shares(after) == ["100", "10", "25", "50", "100"]
    assert [len(each["strategies"]) for each in after["milestones"]] == [1, 2, 2, 2, 1]
    staff = after["milestones"][1]["strategies"][0]["constraints"]
    assert staff == before["milestones"][1]["strategies"][0]["constraints"] != []


@pytest.mark.parametrize(("button", "more"), [(None, {}), ("Add step", {"step-2-who": "everyone"})])
def test_an_edit_by_someone_else_is_shown_first(
    browser: Browser, admin: ApiClient, quick_id: str, button: str | None, more: dict[str, str]
) -> None:
    page = browser.get(f"{LIST}/{quick_id}")
    theirs = {"description": "Theirs", "milestones": [step(10), step(100, None)]}
    admin.ok("PUT", f"{ROOT}/{quick_id}", theirs)
    refused = browser.submit(page, {"name": "Mine"}, button=button)
    assert refused.status == 409
    assert refused.has(
        "They changed Description from “In an hour” to “Theirs”, Steps from “5% (5% of"
    )
    assert named(admin, "Quick")["description"] == "Theirs"
    saved = browser.follow(browser.submit(refused, more))
    assert saved.messages == ["Template Mine saved."]


def test_its_events_lead_to_the_templates(browser: Browser, quick_id: str) -> None:
    for path in ("/", "/events"):
        assert browser.get(path).links["Quick"] == LIST, quick_id


def test_one_is_deleted_and_its_releases_go_on(
    browser: Browser, admin: ApiClient, releases: Releases, quick_id: str
) -> None:
    started(releases, quick_id)
    page = browser.get(f"{LIST}/{quick_id}")
    assert page.has("1 release started from it.")
    done = browser.follow(browser.submit(page, form="Delete Quick"))
    assert done.messages == ["Template Quick deleted."]
    assert [each["name"] for each in admin.ok("GET", ROOT)] == ["Careful"]
    assert browser.get(f"{LIST}/{quick_id}").status == 404
    assert releases.wait(hours=1)["state"] == "done"


def test_the_list_says_how_often_each_was_used_and_stopped(
    browser: Browser, releases: Releases, quick_id: str
) -> None:
    assert browser.get(f"{LIST}/{quick_id}").has("No release has started from it yet.")
    started(releases, quick_id)
    releases.act("stop")
    started(releases, quick_id)
    assert row(browser, "Quick") == "Quick 5%, 100% All projects 1 hour Automatic 2 1"
    assert row(browser, "Careful").endswith("3 days and 4 hours Automatic, last by hand 0 0")


def test_the_list_is_filtered_by_text(browser: Browser, quick_id: str) -> None:
    def names(query: str) -> list[str]:
        page = browser.get(f"{LIST}?{query}")
        return [text_of(each) for each in page.select("tbody th a")]

    assert names("text=staff+first") == ["Careful"]
    assert names("text=UICK") == ["Quick"]
    assert browser.get(f"{LIST}?text=nope").has("No template matches")


def test_owners_create_and_edit_those_of_their_project(
    app: Flask, people: People, admin: ApiClient, quick_id: str
) -> None:
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    people.member("olga", "shop", "Owner")
    olga = Browser(app).sign_in("olga")
    page = olga.get(f"{LIST}/new")
    assert [text_of(each) for each in page.select("#project option")] == ["Shop"]
    refused = olga.submit(page, {"name": "For all", "project": ""})
    assert refused.status in {400, 403}
    done = olga.follow(olga.submit(page, {"name": "Ours"}))
    assert done.messages == ["Template Ours created."]
    [own] = admin.ok("GET", "/projects/shop/release-templates")
    done = olga.follow(olga.submit(olga.get(f"{LIST}/{own['id']}"), {"description": "New"}))
    assert done.messages == ["Template Ours saved."]
    [own] = admin.ok("GET", "/projects/shop/release-templates")
    assert (own["description"], own["project"]) == ("New", "shop")
    assert [each["name"] for each in admin.ok("GET", ROOT)] == ["Careful", "Quick"]


def test_those_who_cannot_change_one_see_what_it_is(
    app: Flask, people: People, browser: Browser, admin: ApiClient, quick_id: str
) -> None:
    people.person("vic")
    reader = Browser(app).sign_in("vic")
    sent = browser.get(f"{LIST}/{quick_id}").fields() | {"name": "Mine"}
    del sent["csrf_token"]
    assert "New template" not in reader.get(LIST).links
    page = reader.get(f"{LIST}/{quick_id}")
    assert page.has("You can’t change this. Only Admins can.")
    assert page.has("For All projects Steps 5%, 100%")
    assert page.select("main form") == []
    assert reader.post(f"{LIST}/{quick_id}", sent).status in {400, 403}
    assert reader.post(f"{LIST}/{quick_id}/delete").status == 403
    assert [each["name"] for each in admin.ok("GET", ROOT)] == ["Careful", "Quick"]
