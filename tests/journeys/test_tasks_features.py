"""Work on features, by the clicks and page loads that it takes."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.hand import Hand
from tests.journeys.instance import Instance, import_features, names

pytestmark = pytest.mark.one_in(2)


def test_all_are_archived_but_what_the_preview_finds_in_use(page: Page, instance: Instance):
    project = instance.project(1)
    instance.use(project, "production")
    used, *others = names(3, project)
    for name in others:
        instance.api("POST", f"/projects/{project}/features", {"name": name})
    page.goto(f"/projects/{project}")
    hand = Hand(page)
    with hand.at_most(clicks=6, loads=3):
        hand.pick(*(f"Select {name}" for name in (used, *others)))
        hand.button("Archive…")
        expect(page.get_by_role("region", name="Still checked: 1")).to_contain_text(used)
        hand.button("Leave it out")
        hand.button("Archive 2 features")
        expect(page.get_by_role("heading", level=1)).to_have_text("2 features archived")
    assert active(instance, project) == [used]
    with hand.at_most(clicks=1, loads=1):
        hand.button("Revive all 2")
        expect(page.get_by_role("status").first).to_contain_text("2 features revived.")
    assert active(instance, project) == [used, *others]


def test_two_hundred_are_tagged_by_names_that_are_pasted(page: Page, instance: Instance):
    project = instance.project()
    some = [f"{project}.part-{number:03}" for number in range(200)]
    import_features(instance, {"features": [{"name": name, "project": project} for name in some]})
    page.goto(f"/projects/{project}")
    hand = Hand(page)
    with hand.at_most(clicks=6, loads=4):
        hand.link("Paste a list of names")
        hand.fill("Feature names", "\n".join(some))
        hand.button("Edit tags")
        hand.pick("risk:low")
        hand.button("Review")
        expect(page.get_by_text("200 of 200 features will change.")).to_be_visible()
        hand.button("Change tags of 200 features")
        expect(page.get_by_role("heading", level=1)).to_have_text("Tags of 200 features changed")
    assert instance.tags(project, some[0]) == instance.tags(project, some[-1]) == {"risk:low"}


def test_why_someone_gets_a_feature_is_answered_from_its_page(page: Page, instance: Instance):
    project = instance.project(1)
    [name] = names(1, project)
    feature = f"/projects/{project}/features/{name}"
    production = f"{feature}/environments/production"
    constraint = {"contextName": "userId", "operator": "IN", "values": ["1042"]}
    strategy = {"name": "flexibleRollout", "constraints": [constraint]}
    instance.api("POST", f"{production}/strategies", strategy)
    instance.api("POST", f"{production}/on")
    page.goto(feature)
    hand = Hand(page)
    with hand.at_most(clicks=3, loads=2):
        hand.link("Try it")
        hand.fill("userId", "1042")
        hand.button("Try it")
        expect(page.locator(".verdict")).to_have_text(f"User 1042 gets {name} in production.")
        expect(page.get_by_text("Strategy 1: everyone where userId is 1042")).to_be_visible()
    asked = {
        "environments": ["production"],
        "projects": [project],
        "context": {"userId": "1042", "appName": "shop"},
    }
    [answer] = instance.api("POST", "/playground/advanced", asked)["features"]
    assert answer["environments"]["production"][0]["isEnabled"]


def test_who_changed_a_feature_and_what_is_one_page_away(page: Page, instance: Instance):
    project = instance.project(1)
    [name] = names(1, project)
    feature = f"/projects/{project}/features/{name}"
    place = f"{feature}/environments/production/strategies"
    strategy = {"name": "flexibleRollout", "parameters": {"rollout": "10"}}
    made = instance.api("POST", place, strategy)
    strategy["parameters"] = {"rollout": "40"}
    instance.api("PUT", f"{place}/{made['id']}", strategy)
    page.goto(feature)
    hand = Hand(page)
    with hand.at_most(clicks=2, loads=1):
        hand.link("History")
        event = page.locator(".event").first
        expect(event).to_contain_text("Tomás Herrera changed a strategy of feature")
        expect(event).to_contain_text("rollout 10% → 40%")
        hand.click(event.locator("summary").first)
        expect(event.get_by_role("definition")).to_have_text("10% → 40%")
    [change, *_] = instance.api("GET", f"/events?feature={name}")["events"]
    assert change["createdBy"] == "tomas.herrera"
    assert change["data"]["parameters"]["rollout"] == "40"


def test_a_feature_is_found_and_opened_by_keyboard(page: Page, instance: Instance):
    project = instance.project(2)
    name = names(2, project)[1]
    page.goto("/")
    hand = Hand(page)
    with hand.at_most(clicks=0, keys=2, loads=1):
        hand.press("Control+k")
        expect(page.get_by_label("Search for anything")).to_be_focused()
        hand.type(name)
        expect(page.locator("#palette [role=status]")).to_have_text("1 result")
        hand.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(name)


def active(instance: Instance, project: str) -> list[str]:
    found = instance.api("GET", f"/projects/{project}/features")["features"]
    return [row["name"] for row in found]
