"""Stages and proposals on the pages: in the list of features, on a feature, and completing one."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from werkzeug.datastructures import MultiDict

from tests.support.browser import Browser, sent_by, text_of

PROJECT = "/projects/default"
PROPOSED = f"{PROJECT}?staleProposal=any"
FEATURES = f"{PROJECT}/features"
CART = f"{FEATURES}/cart"
CREATED = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
LATER = CREATED + timedelta(days=30)


@pytest.fixture
def clock(app):
    with time_machine.travel(CREATED, tick=False) as clock:
        yield clock


@pytest.fixture(autouse=True)
def cart(clock, admin):
    admin.ok("POST", FEATURES, {"name": "cart"})


@pytest.fixture
def proposals(admin, clock, sdk):
    """After 30 days one feature is unused, one is on for everyone, and one is all right."""
    for name in ("rolled.out", "search"):
        admin.ok("POST", FEATURES, {"name": name})
    for environment in ("development", "production"):
        admin.ok("POST", f"{FEATURES}/rolled.out/environments/{environment}/on")
    sdk.reports(search=(1, 1))
    clock.move_to(LATER)
    sdk.reports(**{"search": (1, 1), "rolled.out": (1, 0)})


@pytest.fixture
def browser_later(app, people, proposals):
    return signed_in(app, people)


def signed_in(app, people, username="boss", role="Admin"):
    people.person(username, role=role)
    return Browser(app).sign_in(username)


def rows(page):
    """The rows of the list as they are read, by the name of the feature."""
    return {text_of(row.css_first("th a")): row for row in page.select("tbody")[0].css("tr")}


def take_step(browser, page, name):
    """Press the button in the row of a feature, which belongs to a form after the table."""
    button = rows(page)[name].css_first(f'button[form][value="{name}"]').attributes
    [form] = page.select(f"#{button['form']}")
    sent = sent_by(form) | MultiDict({button["name"]: button["value"]})
    return browser.follow(browser.post(form.attributes["action"], sent))


# The list


def test_the_list_says_when_each_feature_was_last_seen(app, people, clock, proposals):
    clock.move_to(LATER + timedelta(hours=2))
    page = signed_in(app, people).get(PROJECT)
    assert "2 hours ago" in text_of(rows(page)["search"])
    assert "Never" in text_of(rows(page)["cart"])
    assert page.has("Checked")


def test_the_list_says_in_one_line_why_a_feature_is_proposed(app, people, proposals):
    found = rows(signed_in(app, people).get(PROJECT))
    assert "Unused for 30 days" in text_of(found["cart"])
    assert "Archive…" not in text_of(found["cart"])


def test_the_list_of_what_is_proposed_has_the_next_steps(app, people, proposals):
    found = rows(signed_in(app, people).get(PROPOSED))
    assert "Unused for 30 days" in text_of(found["cart"])
    assert "Archive…" in text_of(found["cart"])
    assert "On for everyone for 30 days" in text_of(found["rolled.out"])
    assert "Mark as stale…" in text_of(found["rolled.out"])
    assert "search" not in found


def test_a_viewer_sees_proposals_without_the_step(app, people, proposals):
    page = signed_in(app, people, "looker", "Viewer").get(PROPOSED)
    assert page.has("Unused for 30 days")
    assert not page.has("Archive…")


def test_the_next_step_leads_to_the_review_for_this_feature_alone(app, people, admin, proposals):
    browser = signed_in(app, people)
    page = browser.get(PROPOSED)
    review = take_step(browser, page, "rolled.out")
    assert review.has("1 of 1 feature will change.")
    browser.follow(browser.submit(review))
    assert admin.ok("GET", f"{FEATURES}/rolled.out")["stale"]
    preview = take_step(browser, page, "cart")
    assert preview.h1 == "Archive 1 feature"
    assert preview.has("cart")


def test_both_lists_are_filtered_and_sorted(browser_later, subtests):
    for query, names, chip in (
        ("usage=used", ["rolled.out", "search"], "Checked: In the last 30 days"),
        ("usage=never", ["cart"], "Checked: Never"),
        ("stage=live", ["rolled.out", "search"], "Stage: Live"),
        ("stage=initial", ["cart"], "Stage: Initial"),
        ("staleProposal=any", ["cart", "rolled.out"], "Proposed as stale: Any reason"),
        ("staleProposal=unused", ["cart"], "Proposed as stale: Unused"),
        ("sort=-lastSeenAt", ["rolled.out", "search", "cart"], "Checked"),
    ):
        with subtests.test(query=query, names=names, chip=chip):
            for path in (PROJECT, "/features"):
                page = browser_later.get(f"{path}?{query}")
                assert list(rows(page)) == names
                assert page.has(chip)


def test_all_that_match_are_selected_by_the_same_filters(app, people, proposals):
    browser = signed_in(app, people)
    page = browser.get(f"{PROJECT}?staleProposal=any&all=1")
    chosen = browser.follow(browser.submit(page, form="Edit tags", button="Edit tags"))
    assert chosen.has("2 features")


def test_the_download_has_the_stage_the_proposal_and_the_last_use(app, people, proposals):
    page = signed_in(app, people).get(f"{PROJECT}?format=json&text=search")
    [row] = page.answer.json
    assert row["lifecycle"]["stage"] == "live"
    assert (row["staleProposal"], row["lastSeenAt"]) == (None, "2026-12-21T14:05:00.000Z")
    table = signed_in(app, people, "other").get(f"{PROJECT}?format=csv").text
    assert table.splitlines()[0].endswith("lifecycle,staleProposal,lastSeenAt")


# The page of a feature


def test_the_head_says_the_stage(app, people, sdk, clock):
    browser = signed_in(app, people)
    assert not browser.get(CART).has("since")
    sdk.reports(cart=(1, 0))
    assert browser.get(CART).has("Live since 21 Nov 2026, 14:05 UTC")


def test_an_unused_feature_says_so_and_is_marked_as_stale_from_there(app, people, admin, proposals):
    browser = signed_in(app, people)
    page = browser.get(CART)
    assert page.has("This feature looks stale No application has ever checked it.")
    review = browser.follow(browser.submit(page, form="Mark as stale…", button="Mark as stale…"))
    browser.follow(browser.submit(review))
    assert admin.ok("GET", CART)["stale"]
    assert not browser.get(CART).has("looks stale")


def test_a_feature_that_is_on_for_everyone_says_so(app, people, proposals):
    page = signed_in(app, people, "looker", "Viewer").get(f"{FEATURES}/rolled.out")
    assert page.has("It has been on for everyone in all environments for at least 30 days.")
    assert not page.has("Mark as stale…")


@pytest.mark.usefixtures("proposals")
def test_a_feature_that_was_once_used_says_when(app, people, clock, sdk):
    clock.move_to(LATER + timedelta(days=31))
    sdk.reports(search=(1, 0))
    page = signed_in(app, people).get(f"{FEATURES}/rolled.out")
    assert page.has("The last one did so on 21 Dec 2026, 14:05 UTC.")


# Completing


def test_a_feature_is_completed_and_that_is_undone(app, people, admin):
    browser = signed_in(app, people)
    page = browser.get(browser.get(f"{CART}/settings").links["Complete…"])
    assert page.h1 == "Complete cart"
    sent = {"status": "kept", "status_value": "blue", "reason": "The test is over"}
    done = browser.follow(browser.submit(page, sent))
    assert done.messages == ["Feature cart marked as completed."]
    assert done.has("Completed Marked as completed 21 Nov 2026, 14:05 UTC: kept, blue")
    assert done.has("Completed: kept since 21 Nov 2026, 14:05 UTC")
    [event] = admin.ok("GET", "/events?type=feature-completed")["events"]
    assert (event["reason"], event["data"]) == (
        "The test is over",
        {"status": "kept", "statusValue": "blue"},
    )
    undone = browser.follow(browser.submit(done, form="Undo completion"))
    assert undone.messages == ["Feature cart is no longer marked as completed."]
    assert "Complete…" in undone.links
    history = browser.get(f"{PROJECT}/history?feature=cart")
    assert history.has("marked feature cart as completed: kept (blue)")
    assert history.has("marked feature cart as not completed")


def test_completing_without_an_answer_is_refused_at_its_place(app, people):
    browser = signed_in(app, people)
    page = browser.submit(browser.get(f"{CART}/complete"))
    assert page.status == 400
    assert page.errors == ["Outcome: This field is required."]


def test_the_variants_of_the_feature_are_offered(app, people, admin):
    variants = [{"name": "blue"}, {"name": "red"}]
    body = {"name": "flexibleRollout", "variants": variants}
    admin.ok("POST", f"{CART}/environments/production/strategies", body)
    page = signed_in(app, people).get(f"{CART}/complete")
    offered = page.select("datalist#variants option")
    assert [option.attributes["value"] for option in offered] == ["blue", "red"]


def test_an_archived_feature_shows_its_stages_without_the_way_to_complete_it(app, people, admin):
    admin.ok("POST", f"{PROJECT}/archive", {"features": ["cart"]})
    browser = signed_in(app, people)
    page = browser.get(f"{CART}/settings")
    assert page.has("Archived Archived 21 Nov 2026, 14:05 UTC")
    assert "Complete…" not in page.links
    refused = browser.submit(browser.get(f"{CART}/complete"), {"status": "kept"})
    assert refused.errors == ["cart is archived. Revive it before you change it."]


def test_the_help_explains_stages_and_proposals(visitor):
    page = visitor.get("/help/lifecycle")
    assert page.has("no application has checked it for 30 days")
