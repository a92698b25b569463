"""Receipts: which instances have a change, as far as their polls prove it."""

from datetime import timedelta

from app.core import clock
from app.core.clock import utcnow
from tests.catalogue.receipts.conftest import PLACE
from tests.support.browser import Browser, attribute, text_of
from tests.support.sdks import Process, write_reports


def test_an_instance_confirms_a_change_by_naming_what_it_was_sent(switch, process, states):
    assert process.poll() == 200
    assert process.poll() == 304
    switch()
    assert states() == {"waiting": 1}
    assert process.poll() == 200
    assert states() == {"sent": 1}
    assert process.poll() == 304
    assert states() == {"confirmed": 1}


def test_what_was_sent_and_not_taken_is_not_confirmed(switch, process, states):
    process.poll(), process.poll()
    switch()
    for _ in range(3):
        assert process.poll(takes=False) == 200
        assert states() == {"sent": 1}


def test_a_change_is_confirmed_though_another_follows_before_the_next_poll(
    switch, process, states, receipts
):
    process.poll(), process.poll()
    switch()
    first = receipts()["event"]
    process.poll()
    switch(on=False)
    assert process.poll() == 200
    assert (states(event=first), states()) == ({"confirmed": 1}, {"sent": 1})


def test_an_instance_that_never_names_what_it_has_cannot_tell(switch, process, states):
    for _ in range(2):
        process.etag = None
        process.poll()
    switch()
    for _ in range(2):
        process.etag = None
        assert process.poll() == 200
        assert states() == {"cantTell": 1}


def test_any_etag_is_no_proof(switch, process, states):
    process.poll()
    switch()
    process.etag = "*"
    assert process.poll() == 304
    assert states() == {"cantTell": 1}


def test_an_instance_is_silent_after_two_of_its_intervals(switch, process, states):
    process.poll(), process.poll()
    switch()
    assert states(later=30) == {"waiting": 1}
    assert states(later=40) == {"silent": 1}
    process.poll()
    assert states(later=30) == {"sent": 1}
    assert states(later=40) == {"silent": 1}


def test_a_long_interval_is_heard_of(switch, sdk, states):
    slow = Process(sdk, "slow", UNLEASH_INTERVAL="3600000")
    slow.poll(), slow.poll()
    switch()
    assert states(later=7_000) == {"waiting": 1}
    assert states(later=7_300) == {"silent": 1}


def test_instances_that_were_silent_long_before_are_counted_apart(switch, sdk, receipts):
    old, new = Process(sdk, "old"), Process(sdk, "new")
    with clock.at(utcnow() - timedelta(hours=2)):
        old.poll()
    new.poll()
    receipts()
    switch()
    found = receipts()
    assert (found["total"], found["waiting"], found["gone"]) == (1, 1, 1)


def test_instances_that_start_later_are_not_counted(switch, sdk, process, receipts):
    process.poll()
    receipts()
    switch()
    Process(sdk, "new").poll()
    assert receipts()["total"] == 1


def test_what_a_token_does_not_read_does_not_affect_its_instances(
    switch, admin, new_sdk, process, states
):
    admin.ok("POST", "/projects", {"id": "other", "name": "Other"})
    other = Process(new_sdk(projects=["other"]), "two")
    process.poll(), other.poll()
    switch()
    assert states() == {"waiting": 1, "notAffected": 1}


def test_an_unchanged_payload_confirms_a_change_at_the_next_poll(switch, new_sdk, states):
    few = Process(new_sdk(), "few", application="other")
    few.sdk.get = lambda get=few.sdk.get, **sent: get("features?namePrefix=other", **sent)
    few.poll(), few.poll()
    switch()
    assert states() == {"waiting": 1}
    assert few.poll() == 304
    assert states() == {"confirmed": 1}


def test_a_change_that_is_undone_is_confirmed_with_what_follows(switch, process, receipts):
    switch()
    process.poll(), process.poll()
    switch(on=False)
    first = receipts()["event"]
    switch()
    assert process.poll() == 304
    assert receipts()["confirmed"] == receipts(event=first)["confirmed"] == 1
    assert receipts(event=first)["slowestSeconds"] is None


def test_an_id_that_goes_back_to_an_older_state_cannot_tell(switch, process, states):
    """Several processes have it."""
    process.poll(), process.poll()
    older = process.etag
    switch()
    process.poll(), process.poll()
    assert states() == {"confirmed": 1}
    process.etag = older
    assert process.poll() == 200
    assert states() == {"cantTell": 1}
    assert process.poll() == 304
    assert states() == {"cantTell": 1}


def test_instances_that_only_others_report_cannot_tell(switch, sdk, states):
    body = {"applications": [{"appName": "behind", "instanceId": "edge", "strategies": []}]}
    assert sdk.post("metrics/bulk", body | {"metrics": []}).status_code == 202
    switch()
    assert states() == {"cantTell": 1}


def test_the_slowest_says_how_long_it_took(switch, sdk, receipts):
    quick, slow = Process(sdk, "quick"), Process(sdk, "slow")
    for one in (quick, slow):
        one.poll(), one.poll()
    switch()
    for seconds, one in ((5, quick), (12, slow)):
        with clock.at(utcnow() + timedelta(seconds=seconds)):
            one.poll(), one.poll()
    found = receipts(later=20)
    assert 11.9 < found["slowestSeconds"] < 13
    assert found["hasArrived"]
    assert found["missing"] == []


def test_silent_instances_are_marked_as_ended_and_come_back_if_they_still_run(
    switch, admin, sdk, process, states
):
    other = Process(sdk, "two")
    process.poll(), other.poll()
    switch()
    other.poll(), other.poll()
    with clock.at(utcnow() + timedelta(minutes=1)):
        assert states() == {"confirmed": 1, "silent": 1}
        assert admin.ok("POST", f"{PLACE}/instances/mark-as-ended", {}) == {"ended": 1}
        assert states() == {"confirmed": 1}
        process.poll(), process.poll()
        assert states() == {"confirmed": 1}  # as one that started after the change
        [event] = admin.ok("GET", "/events?type=instances-marked-as-ended")["events"]
        assert event["data"]["instances"] == [{"appName": "shop", "instanceId": "one"}]


def test_the_page_of_a_change_names_silent_instances_and_what_to_do(switch, app, browser, process):
    process.poll()
    switch()
    write_reports(app)
    with clock.at(utcnow() + timedelta(minutes=1)):
        page = browser.get(f"{PLACE}/receipts")
        assert "1 instance may still have the old state" in page.words
        page = browser.follow(browser.post(f"{PLACE}/receipts/notify"))
        assert "You get a notice when one asks again." in page.words
        [end] = [one for one in page.select("button") if "as ended" in text_of(one)]
        page = browser.follow(browser.post(attribute(end, "formaction")))
        assert "No instance that reads this is running." in page.words


def test_who_may_not_read_events_is_not_named_who_made_the_change(switch, admin, app, people, sdk):
    Process(sdk, "one").poll()
    switch()
    write_reports(app)
    for role, is_named in (("Viewer", False), ("Editor", True)):
        people.person(role.lower(), role=role)
        page = Browser(app).sign_in(role.lower()).get(f"{PLACE}/receipts")
        assert ("By admin" in page.words) is is_named


def test_each_change_in_the_history_leads_to_its_receipts(app, browser, switch, process):
    process.poll()
    write_reports(app)
    switch()
    switch(on=False)
    page = browser.get("/projects/default/features/base/history")
    links = [
        attribute(one, "href") for one in page.select("a") if text_of(one) == "Has it arrived?"
    ]
    pages = [browser.get(link).words for link in links]
    assert ["Switched feature base off" in words for words in pages[:2]] == [True, False]
    assert all("0 of 1 instance confirmed" in words for words in pages[:2])


def test_only_those_are_ended_that_were_silent_when_the_page_was_made(
    switch, admin, sdk, process, receipts
):
    slow = Process(sdk, "slow", UNLEASH_INTERVAL="60000")
    process.poll(), slow.poll()
    receipts()
    switch()
    seen = receipts(later=60)["asOf"]
    path = f"{PLACE}/instances/mark-as-ended"
    with clock.at(utcnow() + timedelta(minutes=5)):
        assert admin.ok("POST", path, {"asOf": seen}) == {"ended": 1}
        assert admin.ok("POST", path, {}) == {"ended": 1}


def test_one_that_comes_back_with_an_older_state_is_counted_until_it_has_the_change(
    switch, admin, process, receipts, states
):
    process.poll(), process.poll()
    receipts()
    switch()
    with clock.at(utcnow() + timedelta(minutes=5)):
        admin.ok("POST", f"{PLACE}/instances/mark-as-ended", {})
        assert states() == {}
        process.poll()
        assert states() == {"sent": 1}


def test_a_feature_does_not_show_events_of_an_earlier_one_elsewhere(switch, admin, receipts):
    switch()
    event = receipts()["event"]
    admin.ok("POST", "/projects/default/archive", {"features": ["base"]})
    admin.ok("POST", "/projects/default/delete", {"features": ["base"]})
    admin.ok("POST", "/projects", {"id": "other", "name": "Other"})
    admin.ok("POST", "/projects/other/features", {"name": "base"})
    place = PLACE.replace("default", "other")
    assert admin.get(f"{place}/receipts?event={event}").status_code == 404
