"""The pages of change requests, as the people of one project use them."""

from datetime import timedelta

import pytest
import time_machine

from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.db import unit_of_work
from app.releases.change_requests import applying, editing, review
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import Action
from tests.support.browser import Browser, attribute, text_of
from tests.support.change_requests import LIST, PLACE, PROJECT, rollout, switching
from tests.support.clients import REASON

PAGES = "/projects/pay/change-requests"


@pytest.fixture
def reader(app):
    """Opens a browser in which one of the desk is signed in."""
    return lambda who: Browser(app).sign_in(who)


def decide(browser, number, to, **fields):
    """Press a button of the page, with what the page sends along."""
    page = browser.get(f"{PAGES}/{number}")
    version = page.select('input[name="version"]')[0].attributes["value"]
    return browser.post(f"{PAGES}/{number}", {"version": version, "to": to, **fields})


def buttons(page):
    return {attribute(each, "value") for each in page.select('button[name="to"]')}


def panels(page):
    return [text_of(each) for each in page.select("main .panel")]


def test_a_change_is_shown_as_sentences_in_which_what_differs_is_marked(desk, reader):
    fields = {
        "constraints": [
            {
                "contextName": "userId",
                "operator": "IN",
                "values": ["NO", "SE"],
                "inverted": False,
                "caseInsensitive": False,
            }
        ]
    }
    id = desk.directly("card/environments/production/strategies", rollout(25, **fields))["id"]
    fields["constraints"][0]["values"] = ["NO", "SE", "DK"]
    payload = {"id": id, **rollout(40, **fields)}
    del payload["name"]
    number = desk.open(
        {"feature": "card", "action": "updateStrategy", "payload": payload},
        switching("tips", on=True),
    )
    page = reader("finn").get(f"{PAGES}/{number}")
    assert page.h1 == "Edit strategy 1 of card and 1 more change"
    first, second = page.select('[aria-labelledby^="change-"] .turn')
    assert text_of(first) == (
        "Now On for 25% of users, by userId, where userId is NO or SE After On for 40% of users, "
        "by userId, where userId is NO, SE or DK"
    )
    assert [text_of(each) for each in first.css("del")] == ["25%"]
    assert [text_of(each) for each in first.css("mark")] == ["40%", "or DK"]
    assert text_of(second) == "Now Off After On for everyone"
    rows = [text_of(row) for row in page.select(".diff tbody tr")]
    assert 'parameters.rollout "25" "40"' in rows


def test_reviewers_approve_and_the_author_applies_it(desk, reader):
    number = desk.open(switching("card", on=True))
    kim, finn, sofia = reader("kim"), reader("finn"), reader("sofia")
    page = finn.get(f"{PAGES}/{number}")
    assert {"approve", "reject", "comment"} == buttons(page)
    assert "kim proposed it, so they can’t approve it." in page.words
    page = finn.follow(decide(finn, number, "approve", comment="Fine by me."))
    assert page.messages[0] == "Approved. It needs 1 more approval."
    assert page.has("1 of 2 approvals")
    assert page.has("Fine by me.")
    assert "withdraw-approval" in buttons(page)
    page = kim.get(f"{PAGES}/{number}")
    assert {"approve", "apply"}.isdisjoint(buttons(page))
    assert page.has("You proposed this, so someone else has to approve it.")
    decide(sofia, number, "approve")
    page = kim.follow(decide(kim, number, "apply"))
    assert page.messages[0].startswith("Applied. 1 change took effect.")
    assert desk.feature()["enabled"]
    assert page.has("Before Off After On for everyone")
    assert "reverse" in buttons(page)


def test_rejecting_needs_a_comment(desk, reader):
    number, finn = desk.open(switching("card", on=True)), reader("finn")
    page = decide(finn, number, "reject", comment=" ")
    assert page.status == 400
    assert page.select("#comment")[0].attributes["aria-invalid"] == "true"
    assert "Say why, so that the author knows what to change." in page.errors[0]
    page = finn.follow(decide(finn, number, "reject", comment="Not on a Friday."))
    assert page.has("Rejected")
    assert page.has("Not on a Friday.")
    assert buttons(page) == set()


def test_what_was_edited_since_it_was_shown_is_not_approved(desk, reader):
    number = desk.open({"feature": "card", "action": "addStrategy", "payload": rollout(10)})
    change = desk.read(number)["features"][0]["changes"][0]["id"]
    finn = reader("finn")
    shown = finn.get(f"{PAGES}/{number}").fields()["version"]
    body = {"feature": "card", "action": "addStrategy", "payload": rollout(90)}
    desk.kim.ok("PUT", f"{LIST}/{number}/changes/{change}", body)
    page = finn.post(f"{PAGES}/{number}", {"version": shown, "to": "approve"})
    assert page.status == 409
    assert any("has changed while you read it" in message for message in page.messages)
    assert page.has("90%")
    assert desk.read(number)["approvals"] == []


def test_a_draft_is_titled_sent_made_a_draft_again_and_discarded(desk, reader):
    number = desk.draft(switching("card", on=True), switching("tips", on=True))["id"]
    kim = reader("kim")
    assert reader("finn").get(f"{PAGES}/{number}").status == 404
    page = kim.get(f"{PAGES}/{number}")
    assert page.has("Only you can see it until you send it")
    typed = {"title": "Tips at last", "description": "They asked."}
    page = kim.follow(decide(kim, number, "save", **typed))
    assert page.h1 == "Tips at last"
    change = desk.read(number)["features"][0]["changes"][0]["id"]
    page = kim.follow(decide(kim, number, f"remove-{change}", **typed))
    assert "Change removed." in page.messages
    page = kim.follow(decide(kim, number, "send", **typed))
    assert page.messages[0] == "Sent for review. It needs 2 approvals."
    assert page.has("They asked.")
    page = kim.follow(decide(kim, number, "withdraw", **typed))
    page = decide(kim, number, "discard", **typed)
    assert page.h1 == f"Discard draft {number}"
    assert desk.read(number)["state"] == "Draft"
    page = kim.follow(decide(kim, number, "discard", sure="1", **typed))
    assert page.messages[0] == "Draft discarded."
    assert kim.get(f"{PAGES}/{number}").status == 404


def test_removing_the_last_change_discards_the_draft(desk, reader):
    draft, kim = desk.draft(switching("card", on=True)), reader("kim")
    change = draft["features"][0]["changes"][0]["id"]
    page = kim.follow(decide(kim, draft["id"], f"remove-{change}"))
    assert page.h1 == "Change requests"
    assert page.messages[0] == "That was the only change, so the draft is discarded."


def test_a_schedule_is_entered_changed_and_ended(desk, reader):
    number, kim = desk.approved(switching("card", on=True)), reader("kim")
    page = kim.get(f"{PAGES}/{number}")
    assert text_of(page.select("#scheduled_at-help")[0]) == "In UTC."
    for bad in ("", "2020-01-01T10:00", "soon"):
        assert decide(kim, number, "schedule", scheduled_at=bad).errors
    at = (utcnow() + timedelta(days=3)).replace(hour=7, minute=0)
    page = kim.follow(decide(kim, number, "schedule", scheduled_at=f"{at:%Y-%m-%dT%H:%M}"))
    assert page.messages[0] == "Scheduled. It’s applied by itself then."
    assert page.has(f"Applies on {at.day} {at:%b %Y, %H:%M} UTC")
    assert desk.read(number)["schedule"]["scheduledAt"].startswith(f"{at:%Y-%m-%dT%H:%M}:00")
    assert page.select("#scheduled_at")[0].attributes["value"] == f"{at:%Y-%m-%dT%H:%M}"
    page = kim.follow(decide(kim, number, "unschedule"))
    assert page.messages[0] == "No longer scheduled. The approvals stay."


def test_a_schedule_is_entered_in_the_time_of_the_reader(desk, reader):
    number, kim = desk.approved(switching("card", on=True)), reader("kim")
    kim.post("/account/time-zone", {"time_zone": "Europe/Stockholm"})
    with time_machine.travel("2027-03-26T12:00:00Z", tick=False):
        kim = reader("kim")
        page = decide(kim, number, "schedule", scheduled_at="2027-03-28T02:30")
        [error] = page.errors
        assert "02:30 doesn’t exist on that day in the time of Stockholm (UTC+1)." in error
        page = kim.follow(decide(kim, number, "schedule", scheduled_at="2027-03-28T03:30"))
        assert page.has("Applies on 28 Mar 2027, 03:30 (01:30 UTC)")
        assert page.select("#scheduled_at")[0].attributes["value"] == "2027-03-28T03:30"
        schedule = desk.read(number)["schedule"]
    assert schedule["scheduledAt"] == "2027-03-28T01:30:00.000Z"


def test_what_people_had_approved_is_next_to_what_it_leads_to_now(app, desk, reader):
    id = desk.directly("card/environments/production/strategies", rollout(25))["id"]
    desk.directly("card/environments/production/on")
    update = {"id": id, "parameters": {"rollout": "40"}}
    change = {"feature": "card", "action": "updateStrategy", "payload": update}
    number = desk.approved(change, switching("tips", on=True))
    shown = reader("kim").get(f"{PAGES}/{number}")
    assert text_of(shown.select("[aria-labelledby=outcome]")[0]).startswith(
        "What applications get 2 features card Now On for 25% of users, by userId After On for 40%"
    )
    rule = [{"contextName": "userId", "operator": "IN", "values": ["7"]}]
    strategy = f"card/environments/production/strategies/{id}"
    desk.directly(strategy, {"constraints": rule}, method="PUT")
    with app.app_context():
        applying.check_outcomes()
    page = reader("finn").get(f"{PAGES}/{number}")
    assert page.has("Changed since it was approved")
    assert page.has("admin changed something that this touches")
    assert "apply" not in buttons(page)
    facts = text_of(page.select("[aria-labelledby=outcome] .facts")[0])
    parts = ["Now On for 25%", "Approved On for 40% of users, by userId It leads to", "is 7"]
    assert all(part in facts for part in parts)
    for person in ("finn", "sofia"):
        someone = reader(person)
        someone.follow(decide(someone, number, "approve"))
    page = reader("kim").get(f"{PAGES}/{number}")
    assert not page.has("Changed since it was approved")
    assert "apply" in buttons(page)


def test_others_about_the_same_features_are_named_but_no_drafts_of_others(desk, reader):
    number = desk.open(switching("card", on=True))
    theirs = desk.open(switching("card", on=True), switching("tips", on=True), by=desk.finn)
    desk.draft(switching("card", on=True), by=desk.sofia)
    desk.open(switching("tips", on=True), by=desk.rosa)
    [panel] = reader("kim").get(f"{PAGES}/{number}").select("[aria-labelledby=overlapping]")
    assert text_of(panel) == (
        f"About the same features {theirs}. Switch on card and 1 more change finn"
    )
    desk.to("Cancelled", theirs, by=desk.finn)
    assert not reader("kim").get(f"{PAGES}/{number}").select("[aria-labelledby=overlapping]")


def test_what_no_longer_fits_is_named_and_its_change_removed(app, desk, reader):
    id = desk.directly("card/environments/production/strategies", rollout(25))["id"]
    gone = {"feature": "card", "action": "deleteStrategy", "payload": {"id": id}}
    number = desk.approved(gone, switching("tips", on=True))
    desk.directly(f"card/environments/production/strategies/{id}", method="DELETE")
    with app.app_context():
        applying.check_outcomes()
    page = reader("finn").get(f"{PAGES}/{number}")
    assert page.has("As things are now, this can’t be applied")
    assert "apply" not in buttons(page)
    kim = reader("kim")
    change = desk.read(number)["features"][0]["changes"][0]["id"]
    page = kim.follow(decide(kim, number, f"remove-{change}"))
    assert "Change removed." in page.messages
    assert len(desk.read(number)["features"]) == 1


def test_an_applied_request_is_reversed_in_a_draft(desk, reader):
    number, rosa = desk.approved(switching("card", on=True)), reader("rosa")
    desk.to("Applied", number)
    page = rosa.get(f"{PAGES}/{number}")
    assert page.has("Switch off card")
    page = rosa.follow(decide(rosa, number, "reverse"))
    assert page.h1 == f"Reverse change request {number}"
    assert page.has("Draft")


def test_an_author_or_an_admin_cancels_it_after_a_question(desk, reader):
    number, kim = desk.open(switching("card", on=True)), reader("kim")
    page = decide(kim, number, "cancel")
    assert page.h1 == f"Cancel change request {number}"
    kim.follow(decide(kim, number, "cancel", sure="1", comment="Later."))
    assert desk.read(number)["state"] == "Cancelled"


@pytest.mark.parametrize("to", ["", "nonsense", "remove-999", "approve", "apply", "send"])
def test_what_someone_may_not_do_is_refused_on_the_page(desk, people, reader, to):
    number = desk.open(switching("card", on=True))
    people.client("noa", role="Editor")
    page = decide(reader("noa"), number, to)
    assert page.status == 400
    assert page.errors
    assert desk.read(number)["state"] == "In review"


def test_the_page_says_when_too_few_people_can_approve(desk, reader):
    rules = {"changeRequestsEnabled": True, "requiredApprovals": 9}
    desk.admin.ok("PUT", f"{PLACE}/config", rules)
    number = desk.open(switching("card", on=True))
    page = reader("finn").get(f"{PAGES}/{number}")
    assert page.has("Too few people can approve this Production needs 9 approvals, and only")


def test_the_inbox_has_what_waits_what_is_ready_and_what_is_yours(desk, reader):
    waiting = desk.open(switching("card", on=True))
    ready = desk.approved(switching("tips", on=True))
    rosa, kim = reader("rosa"), reader("kim")
    page = rosa.get("/change-requests")
    tables = [text_of(each) for each in page.select("table")]
    assert tables[0].startswith("Waiting for you: 1 needs your approval")
    assert f"{waiting} · 1 change in card" in tables[0]
    assert tables[1].startswith("Ready to apply: 1 is approved")
    assert f"{ready} · 1 change in tips" in tables[1]
    own = kim.get("/change-requests?show=own")
    assert {f"{n} · " for n in (waiting, ready)} <= {
        f"{n} · " for n in (waiting, ready) if own.has(f"{n} · 1 change")
    }
    assert kim.get("/change-requests").has("Ready to apply")
    found = rosa.get("/change-requests?text=nothing-like-it")
    assert found.has("No change request matches")
    desk.to("Applied", ready)
    assert rosa.get("/change-requests?show=done").has("1 change in tips")
    assert rosa.get("/change-requests?show=scheduled").has("Nothing is scheduled")


def test_the_navigation_counts_what_waits_for_the_reader(desk, reader):
    def link(who):
        nav = reader(who).get("/help").select("header.side nav")[0]
        return next(text_of(a) for a in nav.css("a") if "Change requests" in text_of(a))

    assert link("finn") == "Change requests"
    number = desk.open(switching("card", on=True))
    desk.open(switching("tips", on=True), by=desk.sofia)
    assert link("finn") == "Change requests 2 waiting for you"
    assert link("kim") == "Change requests 1 waiting for you"
    desk.to("Approved", number, by=desk.finn)
    assert link("finn") == "Change requests 1 waiting for you"
    assert link("admin") == "Change requests 2 waiting for you"


def test_what_the_command_line_proposes_waits_too(app, desk, reader):
    proposal = Proposal("card", Action.UPDATE_ENABLED, {"enabled": True})
    with app.app_context(), unit_of_work(writes=True):
        review.send(COMMAND_LINE, editing.propose(COMMAND_LINE, "pay", "production", [proposal]))
    page = reader("finn").get("/change-requests")
    assert page.has("1 needs your approval")
    assert page.has("Change requests 1 waiting for you")


def test_what_no_one_can_decide_in_an_archived_project_does_not_wait(desk, reader):
    desk.open(switching("card", on=True))
    desk.admin.ok("POST", f"{PROJECT}/archive", {"features": ["card", "tips"]})
    desk.admin.ok("DELETE", PROJECT, headers=REASON)
    assert reader("finn").get("/change-requests").has("Nothing waits for you")


def test_a_project_lists_its_change_requests(desk, reader):
    finn = reader("finn")
    page = finn.get(PAGES)
    assert page.has("No change requests yet")
    number = desk.open(switching("card", on=True))
    desk.draft(switching("tips", on=True))
    page = finn.get(PAGES)
    assert page.has("1 change request")
    assert page.has(f"{number} · 1 change in card")
    tabs = page.select(".tabs")[0]
    assert "Change requests 1" in text_of(tabs)
    assert finn.get(f"{PAGES}?state=Applied").has("No change request matches")


def test_events_lead_to_the_change_request(desk, reader):
    number = desk.open(switching("card", on=True))
    links = reader("admin").get("/events").select(f'a[href="{PAGES}/{number}"]')
    assert text_of(links[0]) == f"change request {number}"


def test_the_settings_of_a_project_say_where_too_few_people_can_approve(desk, reader):
    warning = "No change request can be approved there."
    page = reader("sofia").get("/projects/pay/settings")
    assert page.has("5 people can approve now.")
    assert not page.has(warning)
    rules = {"changeRequestsEnabled": True, "requiredApprovals": 9}
    desk.admin.ok("PUT", f"{PLACE}/config", rules)
    assert reader("sofia").get("/projects/pay/settings").has(warning)
    assert reader("finn").get("/projects/pay/settings").has(warning)


@pytest.mark.parametrize(
    ("who", "action", "may"),
    [
        ("finn", "APPROVE_CHANGE_REQUEST", "Yes"),
        ("finn", "APPLY_CHANGE_REQUEST", "Yes"),
        ("finn", "SKIP_CHANGE_REQUEST", "No"),
        ("admin", "SKIP_CHANGE_REQUEST", "Yes"),
    ],
)
def test_people_can_ask_whether_they_may_approve(desk, reader, who, action, may):
    page = reader(who).get(f"/account/permissions?may={action}&project=pay")
    assert page.messages[0].startswith(may)


def test_a_project_shows_what_went_without_approval(desk, reader):
    assert not reader("kim").get(PAGES).has("without approval")
    desk.directly("card/environments/production/on")
    page = reader("kim").get(PAGES)
    assert page.has("1 change in the last 30 days went without approval.")
    log = page.links["Show them"]
    assert reader("kim").get(log).has("without approval")
