"""Pages on which people propose what they could not change directly."""

import pytest

from tests.support.browser import Browser
from tests.support.change_requests import LIST, rollout, switching
from tests.support.change_requests import PLACE as PROPOSING
from tests.support.statements import settled

FEATURE = "/projects/pay/features/card"
PLACE = f"{FEATURE}/environments/production"
ADDED = "Added to your draft. Send it for review when it’s complete."


@pytest.fixture
def kim(app, desk):
    return Browser(app).sign_in("kim")


def drafts(desk, by=None):
    found = (by or desk.kim).ok("GET", f"{LIST}?state=Draft")["changeRequests"]
    return [
        (change["action"], each["name"], change["payload"])
        for draft in found
        for each in draft["features"]
        for change in each["changes"]
    ]


@pytest.fixture
def strategy(desk):
    made = desk.directly("card/environments/production/strategies", rollout(10))
    desk.directly("card/environments/production/on")
    return made["id"]


def test_a_guarded_environment_has_no_switch_and_offers_to_propose(kim, desk):
    page = kim.get(FEATURE)
    assert page.has("Needs 2 approvals")
    assert page.has("Propose switching on… in production")
    assert not page.has("without approval")
    done = kim.follow(kim.submit(page, form="production/propose/on"))
    assert done.messages == [ADDED]
    assert drafts(desk) == [("updateEnabled", "card", {"enabled": True})]
    assert not desk.feature()["enabled"]


def test_what_is_in_the_readers_draft_is_shown_to_them_alone(app, kim, desk):
    kim.submit(kim.get(FEATURE), form="production/propose/on")
    page = kim.get(FEATURE)
    assert page.has("1 change in your draft: on for everyone.")
    assert not page.has("Propose switching on…")
    other = Browser(app).sign_in("finn").get(FEATURE)
    assert not other.has("your draft")
    assert other.has("Propose switching on…")


def test_everyone_sees_what_waits_and_what_it_still_needs(app, desk):
    path = "card/environments/production/strategies"
    desk.directly(path, rollout(50))
    number = desk.open(switching("card", on=True))
    finn = Browser(app).sign_in("finn")
    waits = f"1 change waiting: on for 50% of users, by userId. Change request {number} needs"
    assert finn.get(FEATURE).has(f"{waits} 2 more approvals.")
    desk.to("Approved", number, by=desk.finn)
    assert finn.get(FEATURE).has(f"{waits} 1 more approval.")
    desk.to("Approved", number, by=desk.sofia)
    assert finn.get(FEATURE).has(f"Change request {number} is approved and can be applied.")
    at = "2026-12-24T07:00:00Z"
    desk.to("Scheduled", number, scheduledAt=at)
    assert finn.get(FEATURE).has("applies on 24 Dec 2026, 07:00 UTC")
    desk.to("Approved", number)
    desk.to("Applied", number)
    assert not finn.get(FEATURE).has(f"Change request {number}")


def outcome(desk, kim, *changes):
    desk.draft(*changes)
    words = kim.get(FEATURE).words
    return words.partition("in your draft: ")[2].partition(". Send it")[0]


def test_an_outcome_tells_of_all_changes_together(kim, desk):
    ids = [
        desk.directly("card/environments/production/strategies", rollout(share))["id"]
        for share in (10, 20)
    ]
    first, second = "for 10% of users, by userId", "for 20% of users, by userId"
    delete = {"feature": "card", "action": "deleteStrategy", "payload": {"id": ids[0]}}
    assert outcome(desk, kim, delete) == f"off, and {second} once it’s switched on"
    assert outcome(desk, kim, switching("card", on=True)) == f"on {second}"
    more = {"feature": "card", "action": "addStrategy", "payload": rollout(10)}
    assert outcome(desk, kim, more) == f"on {second} or {first}"
    variants = {"variants": [{"name": "blue"}]}
    other = {"feature": "card", "action": "patchVariant", "payload": variants}
    parent = {"feature": "card", "action": "addDependency", "payload": {"feature": "tips"}}
    found = outcome(desk, kim, other, parent)
    assert found == f"on {second} or {first}; other variants; depends on tips"


def test_an_outcome_names_segments(kim, desk):
    rule = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    segment = desk.admin.ok("POST", "/segments", {"name": "Staff", "constraints": [rule]})["id"]
    more = {"feature": "card", "action": "addStrategy", "payload": rollout(100, segments=[segment])}
    found = outcome(desk, kim, more, switching("card", on=True))
    assert found == "on for everyone in segment Staff"


def test_a_proposal_that_is_refused_says_why_on_the_page(kim, desk):
    page = kim.get(FEATURE)
    desk.directly("card/environments/production/on")
    done = kim.follow(kim.submit(page, form="production/propose/on"))
    assert done.messages == ["Nothing would change for card. Leave it out."]
    assert drafts(desk) == []


def test_an_admin_still_switches_without_approval_with_a_reason(browser, desk):
    page = browser.get(FEATURE)
    browser.submit(page, {"reason": "The shop is down"}, form="Switch on in production")
    assert desk.feature()["enabled"]
    assert desk.recorded("change-request-bypassed")


def test_a_new_strategy_of_what_is_on_is_proposed(kim, desk, strategy):
    page = kim.get(kim.get(FEATURE).links["Propose a strategy in production"])
    assert page.h1 == "Propose a strategy in production"
    assert page.has("Changes here need 2 approvals, so this goes into a draft change request.")
    assert not page.has("without approval…")
    done = kim.submit(page, {"rollout": "40"}, button="Add to change request")
    assert kim.follow(done).messages == [ADDED]
    [(action, name, payload)] = drafts(desk)
    assert (action, name, payload["parameters"]["rollout"]) == ("addStrategy", "card", "40")
    assert [each["id"] for each in desk.feature()["strategies"]] == [strategy]


def test_a_new_strategy_of_what_is_off_is_added_at_once(kim, desk):
    page = kim.get(kim.get(FEATURE).links["Add strategy in production"])
    kim.submit(page, {"rollout": "40"}, button="Add strategy")
    assert desk.feature()["strategies"][0]["parameters"]["rollout"] == "40"
    assert kim.get(FEATURE).has("Edit strategy 1 in production")


def test_a_form_that_was_opened_before_a_feature_was_switched_on_is_refused(kim, desk):
    page = kim.get(kim.get(FEATURE).links["Add strategy in production"])
    desk.directly("card/environments/production/on")
    refused = kim.submit(page, {"rollout": "40"}, button="Add strategy")
    assert (refused.status, len(desk.feature()["strategies"])) == (400, 1)
    assert "need 2 approvals in production" in refused.errors[0]
    assert refused.fields()["rollout"] == "40"
    assert kim.get(FEATURE).messages == []


def test_an_author_with_a_draft_chooses_where_a_change_goes(kim, desk):
    first = desk.draft(switching("card", on=True))["id"]
    desk.kim.put(f"{LIST}/{first}/title", {"title": "Open the shop"})
    page = kim.get(FEATURE.replace("card", "tips"))
    question = kim.submit(page, form="/production/propose/on")
    assert question.h1 == "Where does this change go?"
    assert question.has("Switch on tips in production")
    assert question.has(f"Your draft {first}: Open the shop")
    assert question.fields()["into-production"] == "0"
    assert len(drafts(desk)) == 1
    page = kim.follow(kim.submit(question, button="Continue"))
    assert page.has("Switch on tips")
    assert not page.has("Open the shop")
    assert len(drafts(desk)) == 2


def test_what_cant_be_proposed_is_refused_without_a_question(kim, desk):
    desk.draft(switching("tips", on=True))
    desk.directly("card/environments/production/on")
    page = kim.get(f"{FEATURE}/tags")
    button = "Add to change request"
    refused = kim.submit(page, {"parent": "nope"}, form=button, button=button)
    assert refused.status == 400
    assert "nope" in refused.errors[0]


def test_a_draft_about_the_same_feature_is_suggested(kim, desk, strategy):
    desk.draft(switching("tips", on=True))
    added = {"feature": "card", "action": "addStrategy", "payload": rollout(20)}
    about_card = desk.kim.ok("POST", f"{PROPOSING}?draft=new", added)["id"]
    desk.kim.ok("POST", f"{PROPOSING}?draft=new", switching("tips", on=True))
    page = kim.get(kim.get(FEATURE).links["Propose edit to strategy 1 in production"])
    question = kim.submit(page, {"rollout": "30"}, button="Add to change request")
    assert question.fields()["into-production"] == str(about_card)


def test_a_draft_that_was_sent_since_is_not_added_to(kim, desk):
    first = desk.draft(switching("card", on=True))["id"]
    question = kim.submit(kim.get(FEATURE.replace("card", "tips")), form="/production/propose/on")
    desk.to("In review", first)
    page = kim.submit(question, {"into-production": str(first)}, button="Continue")
    assert "You have no draft 1 to which changes" in " ".join(kim.follow(page).messages)
    assert drafts(desk) == []


def test_the_address_of_the_direct_editor_leads_to_proposing(kim, desk, strategy):
    page = kim.follow(kim.get(f"{PLACE}/strategies/new?type=userWithId"))
    assert page.h1 == "Propose a strategy in production"
    assert page.select("#parameter-userIds")
    page = kim.follow(kim.get(f"{PLACE}/strategies/{strategy}"))
    assert page.h1 == "Propose an edit in production"


def test_an_edit_is_proposed_and_the_editor_begins_with_it_the_next_time(kim, desk, strategy):
    link = kim.get(FEATURE).links["Propose edit to strategy 1 in production"]
    page = kim.get(link)
    kim.submit(page, {"rollout": "30"}, button="Add to change request")
    [(action, _, payload)] = drafts(desk)
    assert (action, payload["id"]) == ("updateStrategy", strategy)
    page = kim.get(link)
    assert page.has("Your draft already changes this strategy.")
    assert page.fields()["rollout"] == "30"
    question = kim.submit(page, {"title": "Third"}, button="Add to change request")
    kim.submit(question, button="Continue")
    [(_, _, payload)] = drafts(desk)
    assert (payload["parameters"]["rollout"], payload["title"]) == ("30", "Third")
    [now] = desk.feature()["strategies"]
    assert now["parameters"]["rollout"] == "10"


def test_errors_of_a_proposed_strategy_are_at_their_fields(kim, desk, strategy):
    page = kim.get(f"{PLACE}/propose/strategies/{strategy}")
    again = kim.submit(page, {"rollout": "130"}, button="Add to change request")
    assert again.status == 400
    assert again.errors == ["Rollout in percent: Enter a whole number from 0 to 100."]
    same = kim.submit(page, {}, button="Add to change request")
    assert same.errors == ["Nothing would change for card. Leave it out."]


def test_an_edit_on_what_someone_else_changed_is_shown_first(kim, desk, strategy):
    page = kim.get(f"{PLACE}/propose/strategies/{strategy}")
    path = f"card/environments/production/strategies/{strategy}"
    desk.directly(path, rollout(10, title="Tenth"), "PUT")
    again = kim.submit(page, {"rollout": "30"}, button="Add to change request")
    assert again.status == 409
    assert drafts(desk) == []
    kim.submit(again, {}, button="Add to change request")
    assert len(drafts(desk)) == 1


def test_parts_are_added_to_a_proposed_strategy_by_buttons_of_the_form(kim, desk, strategy):
    page = kim.get(f"{PLACE}/propose/strategies/{strategy}")
    page = kim.submit(page, {"rollout": "30"}, button="Add constraint")
    assert page.fields()["rollout"] == "30"
    assert page.select("#constraint-0-values")
    assert drafts(desk) == []


def test_a_parameter_that_is_emptied_is_gone_when_it_is_applied(kim, desk):
    parameters = [{"name": "store", "type": "string"}, {"name": "zone", "type": "string"}]
    desk.admin.ok("POST", "/strategies", {"name": "near", "parameters": parameters})
    body = {"name": "near", "parameters": {"store": "1", "zone": "2"}}
    id = desk.directly("card/environments/production/strategies", body)["id"]
    desk.directly("card/environments/production/on")
    page = kim.get(f"{PLACE}/propose/strategies/{id}")
    kim.submit(page, {"parameter-zone": ""}, button="Add to change request")
    [(_, _, payload)] = drafts(desk)
    assert "replace_parameters" not in payload
    [number] = [each["id"] for each in desk.kim.ok("GET", LIST)["changeRequests"]]
    desk.to("In review", number)
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", number, by=person)
    desk.to("Applied", number)
    assert desk.feature()["strategies"][0]["parameters"] == {"store": "1"}


def test_deleting_a_strategy_is_proposed(kim, desk, strategy):
    page = kim.get(f"{PLACE}/propose/strategies/{strategy}")
    done = kim.submit(page, form="Propose to delete it…", button="Propose to delete it…")
    assert kim.follow(done).messages == [ADDED]
    assert drafts(desk) == [("deleteStrategy", "card", {"id": strategy})]
    assert len(desk.feature()["strategies"]) == 1


def test_an_admin_edits_and_deletes_without_approval_with_a_reason(browser, desk, strategy):
    path = f"{PLACE}/propose/strategies/{strategy}"
    page, button = browser.get(path), "Save strategy without approval"
    refused = browser.submit(page, {"rollout": "30"}, button=button)
    assert refused.status == 400
    assert any("need 2 approvals in production" in error for error in refused.errors)
    sent = {"rollout": "30", "reason": "The shop is down"}
    done = browser.submit(refused, sent, button=button)
    assert browser.follow(done).messages == ["Strategy in production saved."]
    assert desk.feature()["strategies"][0]["parameters"]["rollout"] == "30"
    button = "Delete strategy without approval"
    page = browser.get(path)
    refused = browser.follow(browser.submit(page, form=button, button=button))
    assert "need 2 approvals in production" in refused.messages[0]
    browser.submit(page, {"reason": "Still down"}, form=button, button=button)
    assert desk.feature()["strategies"] == []


def test_what_waits_takes_no_more_statements_the_more_it_is(app, kim, desk):
    def number():
        return len(settled(app, lambda: kim.get(FEATURE)))

    before = number()
    for person in (desk.finn, desk.sofia, desk.rosa):
        desk.open(switching("card", on=True), by=person)
    desk.draft(switching("card", on=True))
    assert kim.get(FEATURE).words.count("1 change waiting") == 3
    assert number() == before
