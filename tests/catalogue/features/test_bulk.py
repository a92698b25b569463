"""Changing the type and state of many features: through the API and on the pages."""

import pytest

from tests.support.browser import Browser, Page
from tests.support.clients import ApiClient, error_of, problems_of

HOME = "/projects/default"


@pytest.fixture
def three(admin: ApiClient) -> list[str]:
    """Three features: c is stale, and an experiment."""
    for name in "ab":
        admin.ok("POST", f"{HOME}/features", {"name": name})
    admin.ok("POST", f"{HOME}/features", {"name": "c", "type": "experiment", "stale": True})
    return ["a", "b", "c"]


def settings(admin: ApiClient) -> dict[str, tuple[str, bool]]:
    rows = admin.ok("GET", f"{HOME}/features")["features"]
    return {row["name"]: (row["type"], row["stale"]) for row in rows}


def updates(admin: ApiClient) -> list[dict]:
    return admin.ok("GET", "/events?type=feature-updated")["events"]


def test_several_features_are_marked_stale_at_once(admin, three):
    answer = admin.post(f"{HOME}/stale", {"features": three, "stale": True})
    assert (answer.status_code, answer.data) == (202, b"")
    assert [stale for _, stale in settings(admin).values()] == [True, True, True]
    events = updates(admin)
    assert sorted(event["featureName"] for event in events) == ["a", "b"]
    assert len({event["batchId"] for event in events}) == 1
    assert {(e["preData"]["stale"], e["data"]["stale"]) for e in events} == {(False, True)}


def test_the_type_of_several_features_is_changed_at_once(admin, three):
    admin.ok("POST", f"{HOME}/type", {"features": three, "type": "experiment"})
    assert [type for type, _ in settings(admin).values()] == ["experiment"] * 3
    assert sorted(event["featureName"] for event in updates(admin)) == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "body", "problem"),
    [
        ("stale", {"features": ["a"]}, "/stale"),
        ("stale", {"features": ["a"], "stale": "yes"}, "/stale"),
        ("stale", {"features": [], "stale": True}, "/features"),
        ("stale", {"stale": True}, "/features"),
        ("type", {"features": ["a"], "type": "other"}, "/type"),
        ("type", {"features": ["a"]}, "/type"),
    ],
)
def test_invalid_requests_are_refused(admin, three, path, body, problem):
    assert list(problems_of(admin.post(f"{HOME}/{path}", body))) == [problem]


def test_one_unknown_or_archived_feature_refuses_the_whole_request(admin, three):
    admin.ok("POST", f"{HOME}/archive", {"features": ["b"]})
    before = settings(admin)
    unknown = admin.post(f"{HOME}/stale", {"features": ["a", "nowhere"], "stale": True})
    archived = admin.post(f"{HOME}/stale", {"features": ["a", "b"], "stale": True})
    assert error_of(unknown) == (404, "NotFoundError")
    assert error_of(archived) == (409, "ConflictError")
    assert settings(admin) == before


def test_viewers_can_not_change_features(viewer, three):
    answer = viewer.post(f"{HOME}/stale", {"features": ["a"], "stale": True})
    assert error_of(answer) == (403, "NoAccessError")


def choose(browser: Browser, *names: str, **choices: str) -> Page:
    """The review of these choices for these features."""
    page = browser.get(HOME)
    page = browser.submit(
        page, {"feature": list(names)}, form="Edit tags", button="Edit type and state…"
    )
    return browser.submit(browser.follow(page), choices, form="Review")


def test_the_review_groups_features_by_what_changes_and_changes_nothing(browser, admin, three):
    before = settings(admin)
    page = choose(browser, *three, stale="true", type="experiment")
    assert page.h1 == "Review the changes to 3 features"
    assert page.has("2 of 3 features will change. 1 feature is already set.")
    assert page.has("+ type experiment + stale − type release a b")
    assert settings(admin) == before


def test_changes_are_applied_and_undone_as_a_batch(browser, admin, three):
    before = settings(admin)
    page = choose(browser, *three, stale="true", type="permission")
    page = browser.submit(page, {"reason": "spring"}, button="Change 3 features")
    page = browser.follow(page)
    assert page.h1 == "3 features changed"
    assert page.has("+ type permission + stale − type release a b")
    assert settings(admin) == dict.fromkeys(three, ("permission", True))
    assert {event["reason"] for event in updates(admin)} == {"spring"}
    page = browser.get(page.links["Undo…"])
    assert page.has("3 of 3 features will change.")
    browser.follow(browser.submit(page, button="Undo on 3 features"))
    assert settings(admin) == before


def test_a_review_that_changed_is_shown_again_and_not_applied(browser, admin, three):
    page = choose(browser, *three, stale="true")
    admin.ok("POST", f"{HOME}/stale", {"features": ["a"], "stale": True})
    page = browser.submit(page, button="Change 2 features")
    assert page.status == 409
    assert page.title == "Error: Review the changes to 3 features · Flagstaff"
    assert page.has("Already set a Changed since your review c")
    assert settings(admin)["b"] == ("release", False)
    browser.follow(browser.submit(page, button="Change 1 feature"))
    assert settings(admin)["b"] == ("release", True)


def test_archived_features_are_left_out_and_named(browser, admin, three):
    admin.ok("POST", f"{HOME}/archive", {"features": ["b"]})
    page = browser.get(f"{HOME}/paste")
    page = browser.submit(page, {"names": "a b nowhere"}, button="Edit type and state…")
    page = browser.follow(page)
    assert page.h1 == "Edit type and state of 1 feature"
    assert page.has("1 of them is archived: b")
    assert page.has("1 name isn’t in this project: nowhere")
    page = browser.submit(page, {"stale": "true"}, form="Review")
    browser.follow(browser.submit(page, button="Change 1 feature"))
    assert settings(admin)["a"] == ("release", True)


def test_choosing_nothing_leads_back_to_the_choice(browser, three):
    page = choose(browser, "a")
    page = browser.follow(page)
    assert page.messages[0] == "Choose a type or a state."


def test_settings_that_all_features_have_change_nothing(browser, admin, three):
    page = choose(browser, "c", stale="true")
    assert page.has("Nothing to change. 1 feature is already set.")
    assert updates(admin) == []


def test_a_batch_of_another_project_can_not_be_undone_here(browser, admin, three):
    admin.ok("POST", "/projects", {"id": "other", "name": "Other"})
    admin.ok("POST", f"{HOME}/stale", {"features": ["a"], "stale": True})
    batch = updates(admin)[0]["batchId"]
    assert browser.get(f"{HOME}/bulk/undo?batch={batch}").status == 200
    for path in (f"/projects/other/bulk/undo?batch={batch}", f"{HOME}/bulk/done?batch=unknown"):
        assert browser.get(path).status == 404
