"""Drafts: what can be proposed, by whom, and what is refused before anyone reviews it."""

import pytest

from tests.support.change_requests import LIST, PLACE, PROJECT, rollout, switching
from tests.support.clients import error_of, problems_of


def test_a_change_is_added_to_the_authors_draft_and_changes_nothing_yet(desk):
    first = desk.kim.ok("POST", PLACE, switching("card", on=True))
    second = desk.kim.ok("POST", PLACE, [switching("tips", on=True)])
    assert first["id"] == second["id"]
    assert [feature["name"] for feature in second["features"]] == ["card", "tips"]
    assert (second["state"], second["minApprovals"]) == ("Draft", 2)
    assert second["title"] == "Switch on card and 1 more change"
    assert not desk.feature("card")["enabled"]


def test_changes_go_into_the_draft_that_the_author_names(desk):
    first = desk.draft(switching("card", on=True))["id"]
    second = desk.kim.ok("POST", f"{PLACE}?draft=new", switching("card", on=True))["id"]
    assert second == first + 1
    tips = switching("tips", on=True)
    assert desk.kim.ok("POST", f"{PLACE}?draft={first}", tips)["id"] == first
    assert desk.kim.ok("POST", PLACE, tips)["id"] == second
    for number, by in ((first, desk.finn), (99, desk.kim)):
        refused = by.post(f"{PLACE}?draft={number}", tips)
        assert error_of(refused) == (409, "ConflictError")
        assert f"You have no draft {number}" in refused.json["message"]
    assert list(problems_of(desk.kim.post(f"{PLACE}?draft=mine", tips))) == ["?draft"]


def test_each_author_has_a_draft_of_their_own_that_no_one_else_sees(desk):
    mine = desk.draft(switching("card", on=True))
    theirs = desk.draft(switching("card", on=True), by=desk.finn)
    assert mine["id"] != theirs["id"]
    assert error_of(desk.admin.get(f"{LIST}/{mine['id']}")) == (404, "NotFoundError")
    listed = desk.finn.ok("GET", LIST)["changeRequests"]
    assert [each["id"] for each in listed] == [theirs["id"]]


def test_a_change_says_what_it_would_do(desk):
    desk.directly("card/environments/production/strategies", rollout(25))
    [feature] = desk.draft(switching("card", on=True))["features"]
    [change] = feature["changes"]
    assert (change["before"]["enabled"], change["after"]["enabled"]) == (False, True)
    assert change["after"]["strategies"] == change["before"]["strategies"]


def test_a_change_takes_the_place_of_one_that_did_the_same(desk):
    id = desk.directly("card/environments/production/strategies", rollout(25))["id"]
    update = {"feature": "card", "action": "updateStrategy"}
    desk.draft({**update, "payload": {"id": id, "title": "Everyone"}})
    found = desk.draft({**update, "payload": {"id": id, "parameters": {"rollout": "40"}}})
    [change] = found["features"][0]["changes"]
    assert change["payload"] == {"id": id, "title": "Everyone", "parameters": {"rollout": "40"}}
    [after] = change["after"]["strategies"]
    assert (after["title"], after["parameters"]["rollout"]) == ("Everyone", "40")


def test_two_strategies_can_be_added_in_one_go(desk):
    add = {"feature": "card", "action": "addStrategy"}
    found = desk.draft({**add, "payload": rollout(10)}, {**add, "payload": rollout(20)})
    assert [change["action"] for change in found["features"][0]["changes"]] == ["addStrategy"] * 2


def test_a_later_change_can_build_on_an_earlier_one(desk):
    found = desk.draft({"feature": "card", "action": "addStrategy", "payload": rollout(10)})
    [change] = found["features"][0]["changes"]
    id = change["payload"]["id"]
    found = desk.draft(
        {"feature": "card", "action": "updateStrategy", "payload": {"id": id, "title": "New"}},
        switching("card", on=True),
    )
    after = found["features"][0]["changes"][-1]["after"]
    assert (after["enabled"], after["strategies"][0]["title"]) == (True, "New")
    number = found["id"]
    desk.to("In review", number)
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", number, by=person)
    desk.to("Applied", number)
    [strategy] = desk.feature()["strategies"]
    assert (strategy["id"], strategy["title"]) == (id, "New")


ACTIONS = [
    ("updateEnabled", {"enabled": True}),
    ("addStrategy", rollout(10)),
    ("updateStrategy", {"id": "{strategy}", "disabled": True}),
    ("deleteStrategy", {"id": "{strategy}"}),
    ("reorderStrategy", [{"id": "{other}", "sortOrder": 0}, {"id": "{strategy}", "sortOrder": 1}]),
    ("patchVariant", {"variants": [{"name": "blue"}]}),
]


@pytest.mark.parametrize(("action", "payload"), ACTIONS)
def test_what_can_be_done_directly_elsewhere_can_be_proposed_and_applied(desk, action, payload):
    path = "card/environments/production/strategies"
    ids = {name: desk.directly(path, rollout(5))["id"] for name in ("strategy", "other")}

    def named(value):
        if isinstance(value, list):
            return [named(each) for each in value]
        if isinstance(value, dict):
            return {key: named(each) for key, each in value.items()}
        return value.format(**ids) if isinstance(value, str) else value

    before = desk.feature()
    change = {"feature": "card", "action": action, "payload": named(payload)}
    number = desk.approved(change)
    assert desk.feature() == before
    desk.to("Applied", number)
    assert desk.feature() != before


@pytest.mark.slow
def test_archiving_and_dependencies_of_what_is_on_can_be_proposed(desk):
    for name in ("card", "tips"):
        desk.directly(f"{name}/environments/production/on")
    depend = {"feature": "card", "action": "addDependency", "payload": {"feature": "tips"}}
    desk.to("Applied", desk.approved(depend))
    feature = desk.admin.ok("GET", f"{PROJECT}/features/card")
    assert [each["feature"] for each in feature["dependencies"]] == ["tips"]
    release = {"feature": "card", "action": "deleteDependency", "payload": {}}
    desk.to("Applied", desk.approved(release))
    archive = {"feature": "card", "action": "archiveFeature"}
    desk.to("Applied", desk.approved(archive))
    assert desk.admin.ok("GET", f"{PROJECT}/features?archived=true")["features"]


def test_a_segment_that_is_used_there_can_be_changed(desk):
    rule = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    body = {"name": "Staff", "project": "pay", "constraints": [rule]}
    segment = desk.admin.ok("POST", "/segments", body)["id"]
    path = "card/environments/production/strategies"
    desk.directly(path, rollout(100, segments=[segment]))
    desk.directly("card/environments/production/on")
    wider = {"id": segment, "constraints": [{**rule, "values": ["1", "2"]}]}
    assert desk.sofia.put(f"/segments/{segment}", wider).status_code == 403
    number = desk.approved({"feature": None, "action": "updateSegment", "payload": wider})
    [change] = desk.read(number)["segments"]
    assert (change["name"], change["segment"]) == ("Staff", segment)
    desk.to("Applied", number, by=desk.finn)
    found = desk.admin.ok("GET", f"/segments/{segment}")
    assert found["constraints"][0]["values"] == ["1", "2"]


def test_an_environment_without_approvals_has_no_change_requests(desk):
    place = PLACE.replace("production", "development")
    answer = desk.kim.post(place, switching("card", on=True))
    assert error_of(answer) == (409, "ConflictError")
    assert "need no approval" in answer.json["message"]


def test_what_is_half_wrong_is_refused_as_a_whole_with_each_place(desk):
    bad = [
        switching("card", on=True),
        {
            "feature": "card",
            "action": "addStrategy",
            "payload": {"name": "flexibleRollout", "x": 1},
        },
        {"feature": "card", "action": "jump", "payload": {}},
        {"action": "updateEnabled", "payload": {"enabled": True}},
        {"feature": "card", "action": "updateEnabled", "payload": []},
    ]
    for change, path in zip(
        bad[1:], ["/payload/x", "/action", "/feature", "/payload"], strict=True
    ):
        assert list(problems_of(desk.kim.post(PLACE, [bad[0], change]))) == [f"/1{path}"]
        assert list(problems_of(desk.kim.post(PLACE, change))) == [path]
    assert desk.kim.ok("GET", LIST)["total"] == 0


def test_unknown_features_and_segments_are_named(desk):
    answer = desk.kim.post(PLACE, [switching("card", on=True), switching("cart", on=True)])
    assert problems_of(answer) == {"/1/feature": "There is no feature named cart in project pay."}
    rollout_in = rollout(10, segments=[9])
    change = {"feature": "card", "action": "addStrategy", "payload": rollout_in}
    assert list(problems_of(desk.kim.post(PLACE, change))) == ["/payload/segments/0"]
    assert list(problems_of(desk.kim.post(PLACE, [change]))) == ["/0/payload/segments/0"]


def test_what_would_change_nothing_is_refused(desk):
    answer = desk.kim.post(PLACE, switching("card", on=False))
    assert error_of(answer) == (409, "ConflictError")
    assert answer.json["message"] == "Nothing would change for card. Leave it out."


def test_what_the_rules_forbid_is_refused_now_and_not_when_it_is_applied(desk):
    change = {"feature": "card", "action": "addDependency", "payload": {"feature": "card"}}
    answer = desk.kim.post(PLACE, [switching("tips", on=True), change])
    assert error_of(answer) == (409, "ConflictError")
    assert answer.json["message"] == "Change 2 (card): card cannot depend on itself."


def test_variants_that_the_parent_lacks_are_refused_when_they_are_proposed(desk):
    desk.directly("card/environments/production/on")
    payload = {"feature": "tips", "variants": ["nope"]}
    change = {"feature": "card", "action": "addDependency", "payload": payload}
    answer = desk.kim.post(PLACE, [change])
    assert list(problems_of(answer)) == ["/0/payload/variants/0"]


def test_a_change_is_edited_and_discarded(desk):
    found = desk.draft({"feature": "card", "action": "addStrategy", "payload": rollout(10)})
    number, change = found["id"], found["features"][0]["changes"][0]
    body = {"feature": "card", "action": "addStrategy", "payload": rollout(20)}
    edited = desk.kim.ok("PUT", f"{LIST}/{number}/changes/{change['id']}", body)
    [after] = edited["features"][0]["changes"]
    assert after["payload"]["parameters"]["rollout"] == "20"
    assert after["payload"]["id"] == change["payload"]["id"]
    other = {**body, "feature": "tips"}
    answer = desk.kim.put(f"{LIST}/{number}/changes/{change['id']}", other)
    assert list(problems_of(answer)) == ["/feature"]
    desk.draft(switching("tips", on=True))
    desk.kim.ok("DELETE", f"{LIST}/{number}/changes/{change['id']}")
    assert [each["name"] for each in desk.read(number)["features"]] == ["tips"]


def test_the_last_change_takes_the_draft_with_it(desk):
    found = desk.draft(switching("card", on=True))
    change = found["features"][0]["changes"][0]["id"]
    desk.kim.ok("DELETE", f"{LIST}/{found['id']}/changes/{change}")
    assert desk.kim.get(f"{LIST}/{found['id']}").status_code == 404


def test_a_draft_is_discarded_without_a_trace(desk):
    number = desk.draft(switching("card", on=True))["id"]
    desk.kim.ok("DELETE", f"{LIST}/{number}")
    assert desk.kim.ok("GET", LIST)["total"] == 0
    assert not [e for e in desk.admin.ok("GET", "/events")["events"] if "change-r" in e["type"]]


def test_a_change_request_has_a_title_and_a_reason(desk):
    number = desk.draft(switching("card", on=True))["id"]
    body = {"title": "Open the till", "description": "The texts are there."}
    desk.kim.ok("PUT", f"{LIST}/{number}/title", body)
    found = desk.read(number)
    assert (found["title"], found["description"]) == (body["title"], body["description"])


def test_a_draft_with_no_right_to_be_there_is_found_by_no_one_else(desk):
    number = desk.draft(switching("card", on=True))["id"]
    for method, path in (("DELETE", ""), ("POST", "/plan"), ("PUT", "/title")):
        body = {"title": "x"} if path == "/title" else None
        answer = desk.finn.request(method, f"{LIST}/{number}{path}", json=body)
        assert answer.status_code == 404
