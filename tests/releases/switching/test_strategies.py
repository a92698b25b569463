"""The strategies of a feature: who gets it."""

import pytest

from tests.support.clients import error_of, problems_of

FEATURES = "/projects/default/features"
PLACE = f"{FEATURES}/cart/environments/production"
PATH = f"{PLACE}/strategies"
NUMBER = {"contextName": "userId", "operator": "NUM_EQ"}
VERSION = {"contextName": "userId", "operator": "SEMVER_EQ"}
DATE = {
    "contextName": "currentTime",
    "operator": "DATE_AFTER",
    "value": "0001-01-01T00:00:00+10:00",
}
NORDIC = {"contextName": "userId", "operator": "IN", "values": ["1", "2"]}


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", FEATURES, {"name": "cart"})


def rollout(percent="25", **more):
    return {"name": "flexibleRollout", "parameters": {"rollout": percent}, **more}


def ids(client):
    return [strategy["id"] for strategy in client.ok("GET", PATH)]


def is_on(client):
    return client.ok("GET", PLACE)["enabled"]


def recorded(client, type):
    return client.ok("GET", f"/events?type={type}")["events"]


def test_a_strategy_is_added_with_its_defaults_and_does_not_switch_on(admin):
    answer = admin.post(PATH, rollout(25, constraints=[NORDIC], title="Nordic"))
    assert answer.status_code == 200
    made = answer.json
    assert made == {
        "id": made["id"],
        "name": "flexibleRollout",
        "title": "Nordic",
        "disabled": False,
        "sortOrder": 0,
        "parameters": {"rollout": "25", "stickiness": "default", "groupId": "cart"},
        "constraints": [NORDIC | {"inverted": False, "caseInsensitive": False}],
        "segments": [],
        "variants": [],
        "summary": "On for 25% of users, by userId or sessionId, where userId is 1 or 2",
    }
    assert list(made)[:5] == ["id", "name", "title", "disabled", "sortOrder"]
    assert admin.ok("GET", f"{PATH}/{made['id']}") == made
    assert answer.headers["Location"].endswith(f"{PATH}/{made['id']}")
    assert is_on(admin) is False
    [event] = recorded(admin, "feature-strategy-added")
    assert event["data"]["parameters"] == made["parameters"]


def test_every_type_has_a_sentence(admin, subtests):
    for name, parameters, summary in (
        ("default", {}, "On for everyone"),
        ("flexibleRollout", {"rollout": 100}, "On for everyone"),
        ("flexibleRollout", {"rollout": "0"}, "On for 0% of users, by userId or sessionId"),
        (
            "flexibleRollout",
            {"rollout": "7", "stickiness": "random"},
            "On for 7% of requests, at random",
        ),
        ("userWithId", {"userIds": "1, 2,3"}, "On for userId 1, 2 or 3"),
        ("remoteAddress", {"IPs": "10.0.0.0/8"}, "On for the address 10.0.0.0/8"),
        ("applicationHostname", {"hostNames": "web-1,web-2"}, "On for the host web-1 or web-2"),
        ("gradualRolloutUserId", {"percentage": "5"}, "On for 5% of users, by userId"),
        ("gradualRolloutSessionId", {"percentage": "5"}, "On for 5% of users, by sessionId"),
        ("gradualRolloutRandom", {"percentage": "5"}, "On for 5% of requests, at random"),
    ):
        with subtests.test(name=name, parameters=parameters, summary=summary):
            made = admin.ok("POST", PATH, {"name": name, "parameters": parameters})
            assert made["summary"] == summary
            assert all(isinstance(value, str) for value in made["parameters"].values())


@pytest.mark.slow
def test_what_sdks_would_misread_is_refused(admin, subtests):
    for body, path in (
        ({"name": "custom"}, "/name"),
        (rollout("101"), "/parameters/rollout"),
        (rollout("50.5"), "/parameters/rollout"),
        (rollout("abc"), "/parameters/rollout"),
        (rollout("\u0665\u0660"), "/parameters/rollout"),
        (rollout(constraints=[NUMBER | {"value": "\u0665"}]), "/constraints/0/value"),
        (rollout(constraints=[VERSION | {"value": f"1.0.{10**9}"}]), "/constraints/0/value"),
        (rollout(constraints=[DATE]), "/constraints/0/value"),
        (rollout(True), "/parameters/rollout"),
        (
            {"name": "flexibleRollout", "parameters": {"groupId": 'a" or true'}},
            "/parameters/groupId",
        ),
        ({"name": "flexibleRollout", "parameters": {"groupId": "a\\"}}, "/parameters/groupId"),
        ({"name": "flexibleRollout", "parameters": {"groupId": "a\nb"}}, "/parameters/groupId"),
        ({"name": "flexibleRollout", "parameters": {"stickiness": "no"}}, "/parameters/stickiness"),
        ({"name": "flexibleRollout", "parameters": {"percent": "5"}}, "/parameters/percent"),
        ({"name": "default", "parameters": {"rollout": "5"}}, "/parameters/rollout"),
        ({"name": "userWithId"}, "/parameters/userIds"),
        ({"name": "userWithId", "parameters": {"userIds": '1"'}}, "/parameters/userIds"),
        ({"name": "remoteAddress", "parameters": {"IPs": "1.2.3.4,x"}}, "/parameters/IPs"),
        (rollout(constraints=[NORDIC | {"values": []}]), "/constraints/0/values"),
        (rollout(constraints=[NORDIC | {"contextName": "shoe"}]), "/constraints/0/contextName"),
        (rollout(constraints=[NORDIC] * 31), "/constraints"),
        (rollout(variants=[{"name": "a"}, {"name": "a"}]), "/variants/1/name"),
        (rollout(variants=[{"name": "a", "weightType": "fix", "weight": 900}]), "/variants"),
        (rollout(variants=[{"name": "a", "stickiness": "shoe"}]), "/variants/0/stickiness"),
        (
            rollout(variants=[{"name": "a", "payload": {"type": "json", "value": "{"}}]),
            "/variants/0/payload/value",
        ),
        (
            rollout(variants=[{"name": "a", "payload": {"type": "number", "value": "NaN"}}]),
            "/variants/0/payload/value",
        ),
        (rollout(variants=[{"name": "a", "weight": 33.3}]), "/variants/0/weight"),
        (rollout(segments=[1]), "/segments/0"),
        (rollout(segments=["1"]), "/segments/0"),
        (rollout(segments=list(range(1, 32))), "/segments"),
    ):
        with subtests.test(body=body, path=path):
            assert list(problems_of(admin.post(PATH, body))) == [path]
            assert admin.ok("GET", PATH) == []


def test_a_constraint_with_one_value_is_read_as_it_was_sent(admin):
    adult = {"contextName": "userId", "operator": "NUM_GTE", "value": "18"}
    made = admin.ok("POST", PATH, rollout(constraints=[adult]))
    assert made["constraints"] == [adult | {"inverted": False, "caseInsensitive": False}]
    assert admin.ok("GET", PATH) == [made]


def test_weights_are_completed_to_a_thousand(admin):
    variants = [
        {"name": "a"},
        {"name": "b"},
        {"name": "c", "weightType": "fix", "weight": 300},
        {"name": "d", "payload": {"type": "string", "value": "x"}},
    ]
    made = admin.ok("POST", PATH, rollout(variants=variants))
    assert [(each["name"], each["weight"]) for each in made["variants"]] == [
        ("a", 234),
        ("b", 233),
        ("c", 300),
        ("d", 233),
    ]
    assert made["variants"][3]["payload"] == {"type": "string", "value": "x"}


def test_stickiness_can_be_a_context_field_that_allows_it(admin):
    admin.ok("POST", "/context", {"name": "customerId", "stickiness": True})
    body = {"name": "flexibleRollout", "parameters": {"stickiness": "customerId"}}
    assert admin.ok("POST", PATH, body)["parameters"]["stickiness"] == "customerId"


def test_a_change_keeps_what_is_left_out(admin):
    body = rollout("25", title="A", constraints=[NORDIC])
    body["parameters"]["groupId"] = "checkout"
    made = admin.ok("POST", PATH, body)
    changed = admin.ok("PUT", f"{PATH}/{made['id']}", {"parameters": {"rollout": "50"}})
    assert changed["parameters"] == made["parameters"] | {"rollout": "50"}
    assert changed["constraints"] == made["constraints"]
    assert changed["summary"].startswith("On for 50% of users")
    [event] = recorded(admin, "feature-strategy-updated")
    assert event["preData"]["parameters"]["rollout"] == "25"
    admin.ok("PUT", f"{PATH}/{made['id']}", changed)
    assert len(recorded(admin, "feature-strategy-updated")) == 1
    wrong = admin.put(f"{PATH}/{made['id']}", {"parameters": {"rollout": "500"}})
    assert list(problems_of(wrong)) == ["/parameters/rollout"]


def test_a_change_of_another_state_is_refused(admin):
    made = admin.post(PATH, rollout())
    path, etag = f"{PATH}/{made.json['id']}", made.headers["ETag"]
    admin.ok("PUT", path, {"title": "B"})
    refused = admin.put(path, {"title": "C"}, headers={"If-Match": etag})
    assert error_of(refused) == (412, "PreconditionFailedError")


def test_the_last_strategy_that_counts_takes_the_feature_off_with_it(admin):
    first = admin.ok("POST", PATH, rollout())["id"]
    second = admin.ok("POST", PATH, rollout())["id"]
    admin.ok("POST", f"{PLACE}/on")
    admin.ok("PUT", f"{PATH}/{first}", {"disabled": True})
    assert is_on(admin)
    admin.ok("DELETE", f"{PATH}/{second}")
    assert not is_on(admin)
    [event] = recorded(admin, "feature-environment-disabled")
    assert event["data"]["environment"] == "production"
    admin.ok("POST", f"{PLACE}/on")
    assert [strategy["disabled"] for strategy in admin.ok("GET", PATH)] == [True, False]


def test_strategies_are_numbered_without_gaps(admin):
    a, b, c = (admin.ok("POST", PATH, rollout(title=name))["id"] for name in "abc")
    first = admin.ok("POST", PATH, rollout(sortOrder=0))["id"]
    assert ids(admin) == [first, a, b, c]
    admin.ok("DELETE", f"{PATH}/{a}")
    admin.ok("PUT", f"{PATH}/{c}", {"sortOrder": 0})
    assert [(each["id"], each["sortOrder"]) for each in admin.ok("GET", PATH)] == [
        (c, 0),
        (first, 1),
        (b, 2),
    ]


def test_strategies_are_sorted_at_once(admin):
    a, b, c = (admin.ok("POST", PATH, rollout(title=name))["id"] for name in "abc")
    order = [{"id": c, "sortOrder": 0}, {"id": a, "sortOrder": 1}, {"id": b, "sortOrder": 2}]
    answer = admin.post(f"{PATH}/set-sort-order", order)
    assert (answer.status_code, answer.data) == (200, b"")
    assert ids(admin) == [c, a, b]
    [event] = recorded(admin, "feature-strategies-sorted")
    assert event["data"]["strategies"] == [c, a, b]
    admin.ok("POST", f"{PATH}/set-sort-order", order)
    assert len(recorded(admin, "feature-strategies-sorted")) == 1
    unknown = admin.post(f"{PATH}/set-sort-order", [{"id": "nope", "sortOrder": 0}])
    assert list(problems_of(unknown)) == ["/0/id"]


@pytest.mark.slow
def test_there_are_at_most_30_strategies(admin):
    for _ in range(30):
        admin.ok("POST", PATH, {"name": "default"})
    assert error_of(admin.post(PATH, {"name": "default"})) == (409, "ConflictError")


def test_a_strategy_of_another_place_is_not_found(admin):
    made = admin.ok("POST", PATH, rollout())["id"]
    elsewhere = f"{FEATURES}/cart/environments/development/strategies/{made}"
    for answer in (
        admin.get(elsewhere),
        admin.put(elsewhere, {"title": "x"}),
        admin.delete(elsewhere),
        admin.get(f"{PATH}/nope"),
    ):
        assert error_of(answer) == (404, "NotFoundError")


# JSON Patch


def patch(client, id, *operations, **kwargs):
    return client.request("PATCH", f"{PATH}/{id}", json=[*operations], **kwargs)


def test_a_patch_changes_parts_and_keeps_the_rest(admin):
    made = admin.ok("POST", PATH, rollout(title="Half", constraints=[NORDIC]))
    changed = patch(
        admin,
        made["id"],
        {"op": "test", "path": "/parameters/rollout", "value": "25"},
        {"op": "replace", "path": "/parameters/rollout", "value": "50"},
        {"op": "add", "path": "/constraints/0/values/-", "value": "3"},
        {"op": "remove", "path": "/title"},
    )
    assert changed.status_code == 200
    assert changed.json["constraints"][0]["values"] == ["1", "2", "3"]
    assert changed.json["title"] is None
    assert changed.json["parameters"] == made["parameters"] | {"rollout": "50"}
    assert admin.ok("GET", f"{PATH}/{made['id']}") == changed.json


@pytest.mark.parametrize(
    ("operation", "path"),
    [
        ({"op": "test", "path": "/title", "value": "other"}, "/0"),
        ({"op": "replace", "path": "/nope/deep", "value": 1}, "/0"),
        ({"op": "remove", "path": "/constraints/7"}, "/0"),
        ({"op": "copy", "path": "/title"}, "/0"),
        ({"op": "spin", "path": "/title"}, "/0/op"),
        ({"op": "replace", "path": "/parameters/rollout", "value": "101"}, "/parameters/rollout"),
        ({"op": "add", "path": "/colour", "value": "red"}, "/colour"),
        ({"op": "replace", "path": "", "value": 5}, ""),
        ({"op": "remove", "path": "/name"}, "/name"),
        ({"op": "remove", "path": "/parameters"}, "/parameters"),
    ],
)
def test_a_patch_that_cannot_be_applied_changes_nothing(admin, operation, path):
    made = admin.ok("POST", PATH, rollout())
    assert list(problems_of(patch(admin, made["id"], operation))) == [path]
    assert admin.ok("GET", f"{PATH}/{made['id']}") == made


def test_a_patch_heeds_if_match(admin):
    made = admin.ok("POST", PATH, rollout())
    operation = {"op": "replace", "path": "/title", "value": "Mine"}
    refused = patch(admin, made["id"], operation, headers={"If-Match": '"other"'})
    assert error_of(refused) == (412, "PreconditionFailedError")


def test_a_patch_that_doubles_what_is_there_is_stopped(admin):
    made = admin.ok("POST", PATH, rollout(constraints=[NORDIC] * 10))
    doubling = {"op": "copy", "from": "/constraints", "path": "/constraints/-"}
    [path] = problems_of(patch(admin, made["id"], *[doubling] * 100))
    assert 0 < int(path.strip("/")) < 20


def test_a_patch_that_nests_what_is_there_in_itself_is_stopped(admin):
    made = admin.ok("POST", PATH, rollout())
    start = {"op": "replace", "path": "", "value": {"a": {}}}
    nesting = [{"op": "copy", "from": "", "path": "/a" * min(2**n, 249)} for n in range(60)]
    answer = patch(admin, made["id"], start, *nesting)
    assert (error_of(answer)[0], "nested too deeply" in answer.json["message"]) == (400, True)


def test_a_parameter_that_a_patch_removes_gets_its_default(admin):
    group = {"rollout": "5", "groupId": "other"}
    made = admin.ok("POST", PATH, {"name": "flexibleRollout", "parameters": group})
    changed = patch(admin, made["id"], {"op": "remove", "path": "/parameters/groupId"}).json
    assert changed["parameters"] == {"rollout": "5", "stickiness": "default", "groupId": "cart"}


def test_a_variant_without_stickiness_goes_by_that_of_its_strategy(admin):
    admin.ok("POST", "/projects/default/features", {"name": "shelf"})
    user = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    segment = admin.ok("POST", "/segments", {"name": "Staff", "constraints": [user]})["id"]
    body = {
        "segments": [segment],
        "name": "flexibleRollout",
        "parameters": {"stickiness": "userId"},
        "variants": [{"name": "a"}, {"name": "b", "stickiness": "random"}],
    }
    path = "/projects/default/features/shelf/environments/production/strategies"
    answered = admin.ok("POST", path, body)
    for found in (answered, admin.ok("GET", f"{path}/{answered['id']}")):
        assert [one["stickiness"] for one in found["variants"]] == ["userId", "random"]
    sent = body | {"variants": [{"name": "c"}], "segments": []}
    admin.ok("PUT", f"{path}/{answered['id']}", sent)
    [variant] = admin.ok("GET", f"{path}/{answered['id']}")["variants"]
    assert variant["stickiness"] == "userId"


def test_segments_are_answered_in_the_order_in_which_they_are_read(admin):
    user = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    first, second = (
        admin.ok("POST", "/segments", {"name": name, "constraints": [user]})["id"]
        for name in ("One", "Two")
    )
    body = {"name": "flexibleRollout", "segments": [second, first]}
    made = admin.ok("POST", PATH, body)
    assert made["segments"] == [first, second]
    assert admin.ok("GET", f"{PATH}/{made['id']}") == made
