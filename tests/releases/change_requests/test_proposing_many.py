"""Switching many features where that needs approvals, and copying strategies there."""

import pytest

from tests.support.browser import Browser
from tests.support.change_requests import LIST, PROJECT, rollout, switching

pytestmark = pytest.mark.slow

PAGE = "/projects/pay"
COPY = f"{PAGE}/features/card/environments/development/copy"
ADDED = "Added to your draft. Send it for review when it’s complete."


@pytest.fixture
def kim(app, desk):
    return Browser(app).sign_in("kim")


@pytest.fixture
def five(desk):
    """Besides card and tips: one on, one archived, and one with a strategy."""
    for name in ("gift", "old", "refund"):
        desk.admin.ok("POST", f"{PROJECT}/features", {"name": name})
    desk.directly("gift/environments/production/on")
    desk.directly("refund/environments/production/strategies", rollout(25))
    desk.admin.ok("POST", f"{PROJECT}/archive", {"features": ["old"]})
    return ["card", "gift", "old", "refund", "tips"]


def choose(browser, names, way="on"):
    sent = {"names": "\n".join(names), "to": way, "environment": "production"}
    first = browser.follow(browser.submit(browser.get(f"{PAGE}/paste"), sent))
    return browser.follow(first) if first.status == 303 else first


def drafts(desk, by=None):
    return (by or desk.kim).ok("GET", f"{LIST}?state=Draft")["changeRequests"]


def test_many_features_become_one_change_request_with_a_title(kim, desk, five):
    finn = desk.finn.ok("GET", "/user")["user"]["id"]
    desk.admin.ok("PUT", f"/user-admin/{finn}", {"name": "Finn Gallagher"})
    number = desk.open(switching("tips", on=True), by=desk.finn)
    review = choose(kim, five)
    assert review.h1 == "Switch on 3 features in production"
    assert review.has("2 of 5 features can be proposed. Changes in production need 2 approvals,")
    assert review.has(
        "Propose: 1 They keep their strategies. refund on for 25% of users, by userId"
    )
    assert review.has("Get a strategy first: 1")
    assert review.has("card on for everyone")
    assert review.has(f"tips in change request {number} by Finn Gallagher")
    assert review.has("Already on: 1 Nothing to do. gift")
    assert review.has("1 feature is archived: old")
    assert not review.has("without approval")
    assert review.fields()["title"] == "Switch on 2 features in production"
    done = kim.submit(review, {"title": "Open the shop"}, button="Propose 2 changes")
    assert kim.follow(done).messages == [ADDED]
    [draft] = drafts(desk)
    assert draft["title"] == "Open the shop"
    assert [each["name"] for each in draft["features"]] == ["card", "refund"]
    assert not desk.feature()["enabled"]


def test_what_is_in_the_draft_x_the_draft_keeps_its_title(kim, desk, five):
    draft = desk.draft(switching("card", on=True))
    desk.kim.put(f"{LIST}/{draft['id']}/title", {"title": "Open the shop"})
    review = choose(kim, five)
    assert review.has("card in your draft")
    question = kim.submit(review, button="Propose 2 changes")
    assert question.has(f"Your draft {draft['id']}: Open the shop")
    kim.submit(question, {"into-production": str(draft["id"])}, button="Continue")
    [draft] = drafts(desk)
    assert (draft["title"], len(draft["features"])) == ("Open the shop", 3)


def test_a_review_that_is_out_of_date_is_shown_again_and_proposes_nothing(kim, desk, five):
    review = choose(kim, five)
    desk.directly("card/environments/production/on")
    again = kim.submit(review, button="Propose 3 changes")
    assert again.status == 409
    assert again.errors[0].startswith("Something changed since your review")
    assert drafts(desk) == []
    kim.submit(again, button="Propose 2 changes")
    assert len(drafts(desk)) == 1


def test_nothing_to_propose_leads_back(kim, five):
    review = choose(kim, ["gift", "old"])
    assert review.has("0 of 2 features can be proposed.")
    assert "Back to the features" in review.links
    assert not review.has("Propose 0")


def test_an_admin_switches_many_without_approval_and_undoing_is_proposed(app, desk, five):
    browser = Browser(app).sign_in("admin")
    review = choose(browser, five)
    button = "Switch on 3 features without approval"
    done = browser.submit(review, {"reason": "The shop is down"}, form=button, button=button)
    page = browser.follow(done)
    assert page.h1 == "3 features switched on in production"
    assert desk.feature()["enabled"]
    undo = browser.follow(browser.get(page.links["Undo…"]))
    assert undo.h1 == "Switch off 3 features in production"
    browser.submit(undo, button="Propose 3 changes")
    [draft] = drafts(desk, desk.admin)
    assert len(draft["features"]) == 3
    assert desk.feature()["enabled"]
    button = "Switch off 3 features without approval"
    browser.submit(undo, {"reason": "All is well"}, form=button, button=button)
    assert not desk.feature()["enabled"]


@pytest.fixture
def copied(desk):
    path = f"{PROJECT}/features/card/environments/development/strategies"
    for share in (10, 20):
        desk.admin.ok("POST", path, rollout(share, title=f"{share}"))
    desk.directly("card/environments/production/on")


def test_copying_into_a_guarded_environment_is_proposed(kim, desk, copied):
    page = kim.get(COPY)
    assert page.has("Needs 2 approvals, so the copies go into a draft change request.")
    done = kim.submit(page, {"targets": ["production"]}, button="Propose copying 2 strategies")
    assert kim.follow(done).messages == [ADDED]
    [draft] = drafts(desk)
    found = [change["payload"]["title"] for change in draft["features"][0]["changes"]]
    assert found == ["10", "20"]
    assert len(desk.feature()["strategies"]) == 1


def test_what_needs_no_approval_is_copied_at_once(kim, desk, copied):
    desk.admin.ok("POST", "/environments", {"name": "qa", "type": "test"})
    rules = [{"name": "production", "requiredApprovals": 2}]
    body = {"environments": ["development", "production", "qa"]}
    desk.admin.ok("PUT", f"{PROJECT}/environments", body | {"changeRequestEnvironments": rules})
    page = kim.get(COPY)
    done = kim.submit(page, {"targets": ["production", "qa"]}, button="Copy 2 strategies")
    messages = kim.follow(done).messages
    assert messages == ["2 strategies copied from development to qa.", ADDED]
    assert len(desk.feature(environment="qa")["strategies"]) == 2
    assert len(desk.feature()["strategies"]) == 1
    assert len(drafts(desk)) == 1


def test_copying_to_nowhere_or_to_where_they_are_is_refused(kim, desk, copied):
    none = kim.submit(kim.get(COPY), button="Propose copying 2 strategies")
    assert none.status == 400
    page = kim.get(COPY)
    same = kim.submit(page, {"targets": ["development"]}, button="Propose copying 2 strategies")
    assert "The strategies are in development already." in same.errors[0]
    assert drafts(desk) == []


def test_an_admin_copies_without_approval_with_a_reason(browser, desk, copied):
    page, button = browser.get(COPY), "Copy 2 strategies without approval"
    sent = {"targets": ["production"]}
    assert browser.submit(page, sent, button=button).status == 400
    browser.submit(page, sent | {"reason": "The shop is down"}, button=button)
    assert len(desk.feature()["strategies"]) == 3
