"""What a strategy can hold, up to its bounds."""

import pytest

from app.catalogue.constraints.operators import Operator
from tests.support.clients import problems_of

FEATURES = "/projects/default/features"
PLACE = f"{FEATURES}/cart/environments/production"
PATH = f"{PLACE}/strategies"

VALUES = {
    "NUM": "18",
    "DATE": "2026-11-24T07:00:00.000Z",
    "SEMVER": "5.2.0",
    "REGEX": "^a[0-9]+$",
    "IN_CIDR": "10.0.0.0/8",
}
PAYLOADS = {"string": "x", "number": "-0.5", "json": '{"a": [1]}', "csv": "a,b"}


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", FEATURES, {"name": "cart"})


def rollout(**parameters):
    return {"name": "flexibleRollout", "parameters": parameters}


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("flexibleRollout", "rollout", "0"),
        ("flexibleRollout", "rollout", "100"),
        ("flexibleRollout", "stickiness", "default"),
        ("flexibleRollout", "stickiness", "random"),
        ("flexibleRollout", "stickiness", "userId"),
        ("flexibleRollout", "stickiness", "sessionId"),
        ("flexibleRollout", "groupId", "g"),
        ("flexibleRollout", "groupId", "é" * 100),
        ("gradualRolloutUserId", "percentage", "100"),
        ("gradualRolloutUserId", "groupId", "g"),
    ],
)
def test_a_parameter_is_kept_as_it_was_sent(admin, name, parameter, value):
    made = admin.ok("POST", PATH, {"name": name, "parameters": {parameter: value}})
    assert made["parameters"][parameter] == value


def test_a_parameter_out_of_bounds_is_refused(admin, subtests):
    for name, parameter, value in (
        ("flexibleRollout", "rollout", "-1"),
        ("flexibleRollout", "rollout", 50.5),
        ("flexibleRollout", "stickiness", "appName"),
        ("flexibleRollout", "groupId", ""),
        ("flexibleRollout", "groupId", "g" * 101),
        ("flexibleRollout", "groupId", "it's"),
        ("flexibleRollout", "groupId", "a\x7f"),
        ("gradualRolloutUserId", "percentage", "101"),
        ("gradualRolloutSessionId", "groupId", 'a"b'),
        ("gradualRolloutRandom", "percentage", "few"),
        ("userWithId", "userIds", " , "),
        ("applicationHostname", "hostNames", 'web"'),
        ("applicationHostname", "hostNames", ""),
        ("remoteAddress", "IPs", "10.0.0.0/33"),
    ):
        with subtests.test(name=name, parameter=parameter, value=value):
            refused = admin.post(PATH, {"name": name, "parameters": {parameter: value}})
            assert list(problems_of(refused)) == [f"/parameters/{parameter}"]


@pytest.mark.parametrize("operator", Operator)
def test_a_constraint_can_have_every_operator(admin, operator):
    kind = operator if operator in VALUES else operator.split("_")[0]
    value = VALUES.get(kind, "a")
    compared = {"values": [value]} if operator.takes_list else {"value": value}
    constraint = {"contextName": "userId", "operator": operator.value} | compared
    body = rollout() | {"constraints": [constraint]}
    [stored] = admin.ok("POST", PATH, body)["constraints"]
    assert stored == constraint | {"inverted": False, "caseInsensitive": False}


def test_a_constraint_has_up_to_250_values_of_up_to_100_characters(admin):
    values = [f"{number:0100}" for number in range(250)]
    constraint = {"contextName": "userId", "operator": "IN", "values": values}
    made = admin.ok("POST", PATH, rollout() | {"constraints": [constraint]})
    assert made["constraints"][0]["values"] == values
    constraint["values"] = [*values, "one more"]
    refused = admin.post(PATH, rollout() | {"constraints": [constraint]})
    assert list(problems_of(refused)) == ["/constraints/0/values"]


@pytest.mark.parametrize("path", [PATH, f"{PLACE}/variants"])
@pytest.mark.parametrize("type", PAYLOADS)
def test_a_variant_carries_a_payload_of_each_type(admin, path, type):
    variant = {"name": "a", "payload": {"type": type, "value": PAYLOADS[type]}}
    if path == PATH:
        made = admin.ok("POST", path, rollout() | {"variants": [variant]})
    else:
        made = admin.ok("PUT", path, [variant])
    [stored] = made["variants"]
    assert stored["payload"] == variant["payload"]
    assert stored["weight"] == 1_000


@pytest.mark.parametrize(
    ("type", "value"),
    [("xml", "<a/>"), ("number", "many"), ("number", "true"), ("json", "{"), ("string", 5)],
)
def test_a_payload_that_is_not_of_its_type_is_refused(admin, type, value):
    payload = {"type": type, "value": value}
    faulty = "type" if type == "xml" else "value"
    refused = admin.put(f"{PLACE}/variants", [{"name": "a", "payload": payload}])
    assert list(problems_of(refused)) == [f"/0/payload/{faulty}"]


def test_fixed_weights_fill_a_thousand_at_most(admin):
    fixed = [{"name": name, "weightType": "fix", "weight": 500} for name in "ab"]
    path = f"{PLACE}/variants"
    found = admin.ok("PUT", path, [*fixed, {"name": "rest"}])["variants"]
    assert [variant["weight"] for variant in found] == [500, 500, 0]
    fixed[0]["weight"] = 501
    assert list(problems_of(admin.put(path, [*fixed, {"name": "rest"}]))) == [""]
