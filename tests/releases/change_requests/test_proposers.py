"""Who can propose: in an open project everyone, in a protected or private one its members."""

import pytest

from tests.support.browser import Browser
from tests.support.change_requests import LIST, PLACE, PROJECT, new_desk, rollout, switching
from tests.support.clients import error_of

CARD = f"{PROJECT}/features/card"
ON = f"{CARD}/environments/production/on"
PROPOSE = f"{CARD}/environments/production/propose"
ALLOWED = {"open": 200, "protected": 403, "private": 404}
"""What someone who is no member gets when they propose."""


@pytest.fixture
def desk(admin, people):
    return new_desk(admin, people)


@pytest.fixture
def outsiders(people):
    roles = ("Viewer", "Editor")
    return {role: people.client(f"outside-{role}", role=role) for role in roles}


def set_mode(desk, mode: str) -> None:
    desk.admin.ok("PUT", PROJECT, {"name": "Pay", "mode": mode})


@pytest.mark.parametrize("mode", ALLOWED)
def test_who_is_no_member_proposes_in_an_open_project_alone(desk, outsiders, mode):
    set_mode(desk, mode)
    for client in outsiders.values():
        answer = client.post(PLACE, switching("card", on=True))
        assert answer.status_code == ALLOWED[mode]
        assert ("UPDATE_FEATURE_ENVIRONMENT" in answer.text) == (mode == "protected")
        assert client.post(ON).status_code == 403
    assert desk.feature()["enabled"] is False
    assert desk.draft(switching("card", on=True))["state"] == "Draft"


@pytest.mark.parametrize("mode", ALLOWED)
def test_pages_let_the_same_people_propose(app, desk, outsiders, mode):
    strategy = desk.directly("card/environments/production/strategies", rollout(5))["id"]
    set_mode(desk, mode)
    form = {"rollout": "10", "stickiness": "userId", "into-production": "0"}
    for name, can in (("kim", True), ("outside-Viewer", mode == "open")):
        browser = Browser(app).sign_in(name)
        edit = f"{PROPOSE}/strategies/{strategy}"
        seen = dict(browser.get(edit).fields()) if can else {}
        found = [
            browser.post(f"{PROPOSE}/on", form).status,
            browser.post(f"{PROPOSE}/strategies/new", form).status,
            browser.post(edit, seen | form).status,
            browser.post(f"{edit}/delete", form).status,
            browser.get(f"{PROPOSE}/strategies/new").status,
            browser.get(edit).status,
        ]
        assert found == ([303, 303, 303, 303, 200, 200] if can else [403] * 6)


@pytest.mark.parametrize("method", ["get", "post"])
def test_proposing_in_a_private_project_looks_as_in_an_unknown_one(app, desk, outsiders, method):
    set_mode(desk, "private")
    browser = Browser(app).sign_in("outside-Editor")
    for path in (f"{PROPOSE}/strategies/new", f"{PROPOSE}/on"):
        if (method, path) != ("get", f"{PROPOSE}/on"):
            pages = [getattr(browser, method)(p) for p in (path, path.replace("/pay/", "/nope/"))]
            assert pages[0].status == pages[1].status == 403
            assert pages[0].h1 == pages[1].h1
    places = PLACE, PLACE.replace("/pay/", "/nope/")
    hidden, unknown = (outsiders["Editor"].post(p, switching("card", on=True)) for p in places)
    assert error_of(hidden) == error_of(unknown)
    assert hidden.json["message"] == unknown.json["message"].replace("nope", "pay")


def test_a_proposal_from_outside_takes_the_approvals_of_members(desk, outsiders):
    outside = outsiders["Viewer"]
    number = desk.open(switching("card", on=True), by=outside)
    assert error_of(desk.ask("Approved", number, by=outside)) == (403, "NoAccessError")
    assert error_of(desk.ask("Approved", number, by=outsiders["Editor"])) == (403, "NoAccessError")
    assert error_of(desk.ask("Applied", number, by=outside)) == (409, "ConflictError")
    for member in (desk.kim, desk.finn):
        desk.to("Approved", number, by=member)
    desk.to("Applied", number, by=desk.kim)
    assert desk.feature()["enabled"] is True


def test_from_outside_only_what_a_member_can_do_is_proposed(desk, outsiders):
    for payload in (
        {"action": "updateApprovals", "payload": {"requiredApprovals": 1}},
        {"action": "removeEnvironment", "payload": {}},
        {"action": "archiveProject", "payload": {}},
    ):
        for client in outsiders.values():
            assert error_of(client.post(PLACE, payload)) == (403, "NoAccessError")
    strategy = {"feature": "card", "action": "addStrategy", "payload": rollout(5)}
    assert outsiders["Viewer"].post(PLACE, strategy).status_code == 200


def test_where_changes_need_no_approval_nothing_is_proposed(desk, outsiders):
    place = PLACE.replace("production", "development")
    refused = outsiders["Viewer"].post(place, switching("card", on=True))
    assert error_of(refused) == (409, "ConflictError")
    assert desk.feature(environment="development")["enabled"] is False


@pytest.mark.parametrize("mode", ["protected", "private"])
def test_a_draft_from_outside_is_not_sent_once_the_project_is_no_longer_open(desk, outsiders, mode):
    outside = outsiders["Viewer"]
    draft = desk.draft(switching("card", on=True), by=outside)
    set_mode(desk, mode)
    assert desk.ask("In review", draft["id"], by=outside).status_code == ALLOWED[mode]
    edit = f"{LIST}/{draft['id']}/changes/{draft['features'][0]['changes'][0]['id']}"
    assert outside.put(edit, switching("card", on=True)).status_code == ALLOWED[mode]


def test_the_page_of_a_feature_offers_what_the_reader_can_do(app, desk, outsiders):
    browser = Browser(app).sign_in("outside-Viewer")
    page = browser.get(CARD)
    assert page.has("Propose switching on…")
    assert not page.select('main [role="switch"]')
    assert not any("Add strategy" in link for link in page.links)
    set_mode(desk, "protected")
    assert not browser.get(CARD).has("Propose")
