"""Proposing to archive features, to choose a parent, and to change a segment."""

import pytest

from tests.support.browser import Browser
from tests.support.change_requests import LIST, PROJECT, rollout
from tests.support.clients import REASON

pytestmark = pytest.mark.slow

FEATURE = "/projects/pay/features/card"
ADDED = "Added to your draft. Send it for review when it’s complete."
RULE = {"contextName": "userId", "operator": "IN", "values": ["1"]}


@pytest.fixture
def kim(app, desk):
    return Browser(app).sign_in("kim")


@pytest.fixture
def sofia(app, desk):
    return Browser(app).sign_in("sofia")


@pytest.fixture
def eu(desk):
    """A second environment that needs approvals."""
    desk.admin.ok("POST", "/environments", {"name": "eu", "type": "production"})
    rules = [{"name": name, "requiredApprovals": 1} for name in ("eu", "production")]
    body = {"environments": ["development", "eu", "production"], "changeRequestEnvironments": rules}
    desk.admin.ok("PUT", f"{PROJECT}/environments", body, headers=REASON)


def changes(desk, by=None):
    found = (by or desk.kim).ok("GET", f"{LIST}?state=Draft")["changeRequests"]
    return [
        (change["action"], each["name"])
        for draft in found
        for each in draft["features"]
        for change in each["changes"]
    ]


def plan(browser, *names):
    sent = {"names": "\n".join(names), "to": "archive"}
    return browser.follow(browser.submit(browser.get("/projects/pay/paste"), sent))


def on(desk, *places):
    for feature, environment in places:
        path = f"{PROJECT}/features/{feature}/environments/{environment}/on"
        assert desk.admin.post(path, headers={"X-Reason": "Now"}).status_code == 200


def apply(desk):
    [draft] = desk.kim.ok("GET", f"{LIST}?state=Draft")["changeRequests"]
    desk.to("In review", draft["id"])
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", draft["id"], by=person)
    desk.to("Applied", draft["id"])


def depend(desk, child, parent):
    path = f"{PROJECT}/features/{child}/dependencies"
    answer = desk.admin.post(path, json={"feature": parent}, headers={"X-Reason": "Now"})
    assert answer.status_code == 200, answer.text


def test_archiving_what_is_on_is_proposed_with_children_first(kim, desk):
    on(desk, ("card", "production"))
    depend(desk, "card", "tips")
    page = plan(kim, "card", "tips")
    assert page.has("Needs approval in production: 1 These features are on there. card")
    assert not page.has("without approval")
    button = "Propose archiving 2 features"
    assert kim.follow(kim.submit(page, form=button, button=button)).messages == [ADDED]
    assert changes(desk) == [("archiveFeature", "card"), ("archiveFeature", "tips")]
    assert desk.admin.ok("GET", f"{PROJECT}/features")["total"] == 2
    apply(desk)
    assert desk.admin.ok("GET", f"{PROJECT}/features")["total"] == 0


def test_what_needs_no_approval_is_archived_at_once_and_the_rest_is_proposed(kim, desk):
    on(desk, ("card", "production"))
    for name in ("free", "parent"):
        desk.admin.ok("POST", f"{PROJECT}/features", {"name": name})
    depend(desk, "card", "parent")
    depend(desk, "free", "tips")
    page = plan(kim, "card", "tips", "free", "parent")
    assert page.has("Archived now: 2 Needs no approval.")
    assert page.has("Proposed: 2")
    button = "Archive 2 features and propose 2"
    done = kim.follow(kim.submit(page, form=button, button=button))
    assert done.messages == ["2 features archived.", ADDED]
    assert changes(desk) == [("archiveFeature", "card"), ("archiveFeature", "parent")]
    left = desk.admin.ok("GET", f"{PROJECT}/features")["features"]
    assert [feature["name"] for feature in left] == ["card", "parent"]
    apply(desk)
    assert desk.admin.ok("GET", f"{PROJECT}/features")["total"] == 0


def test_what_depends_on_an_archived_feature_stops_doing_so_in_the_same_request(kim, desk):
    on(desk, ("tips", "production"), ("card", "production"))
    depend(desk, "card", "tips")
    page = plan(kim, "tips")
    page = kim.get(page.links["Remove the dependency"])
    kim.submit(page, form="Propose archiving 1 feature")
    assert sorted(changes(desk)) == [("archiveFeature", "tips"), ("deleteDependency", "card")]
    apply(desk)
    [left] = desk.admin.ok("GET", f"{PROJECT}/features")["features"]
    assert (left["name"], left["dependencies"]) == ("card", [])


def test_a_plan_that_changed_since_is_shown_again_and_proposes_nothing(kim, desk):
    on(desk, ("card", "production"))
    page = plan(kim, "card", "tips")
    desk.admin.ok("POST", f"{PROJECT}/archive", {"features": ["tips"]})
    again = kim.submit(page, form="Archive 1 feature and propose 1")
    assert again.status == 409
    assert changes(desk) == []
    kim.submit(again, form="Propose archiving 1 feature")
    assert changes(desk) == [("archiveFeature", "card")]


def test_what_is_on_in_two_guarded_environments_is_switched_off_in_one_first(kim, desk, eu):
    on(desk, ("card", "production"), ("card", "eu"))
    page = plan(kim, "card", "tips")
    assert page.has("Propose switching them off in all but one of them first, or leave them out.")
    assert not page.has("Propose archiving")
    without = kim.follow(kim.submit(page, form="Leave it out"))
    assert without.has("Archive 1 feature")
    answer = desk.kim.post(f"{PROJECT}/archive", json={"features": ["card"]})
    assert answer.status_code == 403
    assert "switch the feature off in the others" in answer.json["message"]


def test_an_admin_archives_without_approval_with_a_reason(browser, desk):
    on(desk, ("card", "production"))
    page, button = plan(browser, "card"), "Archive 1 feature without approval"
    refused = browser.submit(page, form=button, button=button)
    assert refused.status == 400
    sent = {"reason": "The shop is down"}
    browser.follow(browser.submit(refused, sent, form=button, button=button))
    assert desk.admin.ok("GET", f"{PROJECT}/features")["total"] == 1


def test_what_is_off_there_is_archived_at_once(kim, desk):
    page = plan(kim, "card")
    kim.follow(kim.submit(page, form="Archive 1 feature"))
    assert desk.admin.ok("GET", f"{PROJECT}/features")["total"] == 1


def test_another_parent_of_what_is_on_is_proposed(kim, desk):
    on(desk, ("card", "production"))
    page = kim.get(f"{FEATURE}/tags")
    assert page.has("It’s on in production, where changes need 2 approvals")
    button = "Add to change request"
    wrong = kim.submit(page, {"parent": "nope"}, form=button, button=button)
    assert wrong.status == 400
    assert "Depends on: There is no feature named nope" in wrong.errors[0]
    done = kim.submit(page, {"parent": "tips"}, form=button, button=button)
    assert kim.follow(done).messages == [ADDED]
    assert changes(desk) == [("addDependency", "card")]
    apply(desk)
    page = kim.get(f"{FEATURE}/tags")
    assert page.fields(button)["parent"] == "tips"
    kim.submit(page, {"parent": ""}, form=button, button=button)
    assert changes(desk) == [("deleteDependency", "card")]


def test_a_parent_where_two_environments_need_approvals_can_not_be_proposed(kim, desk, eu):
    on(desk, ("card", "production"), ("card", "eu"))
    page = kim.get(f"{FEATURE}/tags")
    assert page.has("Propose switching it off in all but one of them first.")
    assert not page.has("Add to change request")


def test_an_admin_chooses_a_parent_without_approval_with_a_reason(browser, desk):
    on(desk, ("card", "production"))
    page, button = browser.get(f"{FEATURE}/tags"), "Save without approval"
    sent = {"parent": "tips", "reason": "The shop is down"}
    assert browser.submit(page, sent | {"reason": ""}, form=button, button=button).status == 400
    browser.submit(page, sent, form=button, button=button)
    feature = desk.admin.ok("GET", f"{PROJECT}/features/card")
    assert [each["feature"] for each in feature["dependencies"]] == ["tips"]


@pytest.fixture
def segment(desk):
    body = {"name": "Staff", "project": "pay", "constraints": [RULE]}
    id = desk.admin.ok("POST", "/segments", body)["id"]
    desk.directly("card/environments/production/strategies", rollout(100, segments=[id]))
    desk.directly("card/environments/production/on")
    return id


def segments_in(draft):
    return [(each["action"], each["segment"]) for each in draft["segments"]]


def test_a_segment_in_use_in_one_guarded_place_is_changed_by_a_change_request(sofia, desk, segment):
    review = sofia.submit(sofia.get(f"/segments/{segment}"), {"constraint-0-values": "1\n2"})
    assert review.has("Changes in production of pay need approvals.")
    assert review.has("You can propose the change.")
    assert not review.has("without approval")
    back = sofia.submit(review, form="Add to change request", button="Back")
    assert back.fields()["constraint-0-values"] == "1\n2"
    done = sofia.submit(review, form="Add to change request")
    assert sofia.follow(done).messages == [ADDED]
    [draft] = desk.sofia.ok("GET", f"{LIST}?state=Draft")["changeRequests"]
    assert segments_in(draft) == [("updateSegment", segment)]
    found = desk.admin.ok("GET", f"/segments/{segment}")
    assert found["constraints"][0]["values"] == ["1"]


def test_a_segment_in_use_in_several_guarded_places_can_not_be_proposed(sofia, desk, eu, segment):
    desk.directly("tips/environments/eu/strategies", rollout(100, segments=[segment]))
    desk.directly("tips/environments/eu/on")
    review = sofia.submit(sofia.get(f"/segments/{segment}"), {"constraint-0-values": "2"})
    assert review.has("A change request covers one environment, so this can’t be proposed.")
    assert not review.has("Add to change request")


def test_an_edit_of_a_segment_by_someone_else_is_shown_first(sofia, desk, segment):
    review = sofia.submit(sofia.get(f"/segments/{segment}"), {"constraint-0-values": "2"})
    desk.admin.ok("PUT", f"/segments/{segment}", {"description": "Theirs"})
    refused = sofia.submit(review, form="Add to change request")
    assert refused.status == 409
    assert desk.sofia.ok("GET", f"{LIST}?state=Draft")["changeRequests"] == []


def test_removing_a_guarded_environment_in_which_features_are_on_is_refused(desk):
    on(desk, ("card", "production"))
    answer = desk.sofia.put(f"{PROJECT}/environments", {"environments": ["development"]})
    assert answer.status_code == 403
    assert "need 2 approvals in production of project pay" in answer.json["message"]
    assert "This would change production (no longer used) and card (off)." in answer.json["message"]


def test_impression_data_of_what_is_on_is_proposed_and_all_else_is_saved(kim, desk):
    on(desk, ("card", "production"))
    page = kim.get(f"{FEATURE}/settings")
    assert page.has("SDKs notice impression data, so that goes into a draft change request.")
    typed = {"description": "Pays", "impression_data": "y"}
    done = kim.follow(kim.submit(page, typed, button="Save"))
    assert done.messages == ["Feature card saved.", ADDED]
    assert done.has("Report impression data of card")
    found = desk.admin.ok("GET", f"{PROJECT}/features/card")
    assert (found["description"], found["impressionData"]) == ("Pays", False)
    apply(desk)
    assert desk.admin.ok("GET", f"{PROJECT}/features/card")["impressionData"]
    [applied] = desk.kim.ok("GET", f"{LIST}?state=Applied")["changeRequests"]
    draft = desk.kim.ok("POST", f"{LIST}/{applied['id']}/reverse")
    [change] = draft["features"][0]["changes"]
    assert change["payload"] == {"impressionData": False}


def test_settings_that_sdks_do_not_notice_need_no_approval_on_the_page(kim, desk):
    on(desk, ("card", "production"))
    page = kim.submit(kim.get(f"{FEATURE}/settings"), {"description": "Pays"}, button="Save")
    assert kim.follow(page).messages == ["Feature card saved."]


def test_an_admin_changes_impression_data_at_once_with_a_reason(browser, desk):
    on(desk, ("card", "production"))
    typed = {"impression_data": "y", "reason": "The shop is down"}
    page = browser.submit(browser.get(f"{FEATURE}/settings"), typed, button="Save")
    assert browser.follow(page).messages == ["Feature card saved."]
    assert desk.admin.ok("GET", f"{PROJECT}/features/card")["impressionData"]
