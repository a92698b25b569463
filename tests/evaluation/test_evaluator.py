"""Answers about all features at once are what the engine says about each."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.delivery.sdk.frontend import Toggles
from app.delivery.sdk.ofrep import GAP, Flags
from app.evaluation.engine import Engine
from app.evaluation.evaluator import Evaluator
from tests.support.evaluation import contexts, states


def plain(name, *, parent=None):
    parameters = {"groupId": name, "rollout": "100", "stickiness": "default"}
    strategy = {"name": "flexibleRollout", "parameters": parameters, "constraints": []}
    found = {"name": name, "enabled": True, "project": "default", "strategies": [strategy]}
    return found | ({"dependencies": [{"feature": parent}]} if parent else {})


def state_of(*features):
    return {"version": 2, "features": list(features), "segments": []}


def restricted(name, field, value):
    constraint = {"contextName": field, "operator": "IN", "values": [value], "inverted": False}
    found = plain(name)
    found["strategies"][0]["constraints"] = [constraint]
    return found


def made(state):
    return Evaluator(json.dumps(state).encode())


def on(evaluator, context):
    return {
        one["name"] for one in json.loads(evaluator.all(Toggles(), None, context).body)["toggles"]
    }


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    states,
    st.lists(contexts, min_size=2, max_size=5),
    st.sets(st.sampled_from(["plain", "child", "closed"])),
)
def test_answers_about_all_features_are_those_of_the_engine(state, asked, added):
    more = [plain("plain"), plain("child", parent="parent"), plain("closed") | {"enabled": False}]
    state["features"] += [one for one in more if one["name"] in added]
    evaluator, engine = made(state), Engine(json.dumps(state).encode())
    for context in asked:
        text = json.dumps(context).encode()
        verdicts = {one["name"]: engine.verdict(one["name"], text) for one in state["features"]}
        body = json.loads(evaluator.all(Toggles(), None, context).body)
        found = {
            one["name"]: (one["variant"]["name"], one["variant"].get("payload"))
            for one in body["toggles"]
        }
        assert found == {
            name: (verdict.variant, verdict.payload)
            for name, verdict in verdicts.items()
            if verdict.is_on
        }


def test_a_feature_for_everyone_that_depends_on_another_follows_it_for_each_context():
    evaluator = made(
        state_of(restricted("parent", "country", "NO"), plain("child", parent="parent"))
    )
    for _ in range(2):
        assert on(evaluator, {"country": "NO"}) == {"parent", "child"}
        assert on(evaluator, {"country": "SE"}) == set()


def test_features_for_everyone_and_those_for_some_keep_their_order():
    evaluator = made(state_of(plain("a"), restricted("b", "userId", "1"), plain("c")))
    for user, names in (("1", ["a", "b", "c"]), ("2", ["a", "c"]), ("1", ["a", "b", "c"])):
        body = json.loads(evaluator.all(Toggles(), None, {"userId": user}).body)
        assert [one["name"] for one in body["toggles"]] == names


def test_servers_get_features_that_are_off_and_browsers_do_not():
    off = plain("off") | {"enabled": False}
    evaluator = made(state_of(plain("on"), off))
    for has_off, expected in ((True, {"on": True, "off": False}), (False, {"on": True})):
        written = evaluator.all(Flags("production", has_off=has_off), None, {}).body
        body = json.loads(written.replace(GAP, b"1"))
        assert {one["key"]: one["value"] for one in body["flags"]} == expected


@pytest.mark.parametrize("room", [1, 2_000])
def test_a_cache_that_is_too_small_changes_no_answer(monkeypatch, room):
    monkeypatch.setattr("app.evaluation.evaluator.ROOM", room)
    evaluator = made(state_of(restricted("staff", "userId", "1")))
    for number in ("1", "2", "3", "4", "1"):
        assert on(evaluator, {"userId": number}) == ({"staff"} if number == "1" else set())


def test_a_child_is_off_if_its_parent_is_not_in_one_of_the_variants_that_it_needs():
    blue = {"name": "blue", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    parent, other = restricted("parent", "country", "NO"), plain("other")
    parent["strategies"][0]["variants"] = [blue]
    parent["strategies"] += plain("parent")["strategies"]
    children = [
        plain(f"{each}-{variant}")
        | {"dependencies": [{"feature": each, "enabled": True, "variants": [variant]}]}
        for each in ("parent", "other")
        for variant in ("blue", "nope")
    ]
    evaluator = made(state_of(parent, other, *children))
    assert on(evaluator, {"country": "NO"}) == {"parent", "other", "parent-blue"}
    assert on(evaluator, {"country": "SE"}) == {"parent", "other"}
    _, variant = evaluator.one("other", None, {})
    assert variant == {"name": "disabled", "enabled": False, "featureEnabled": True}
    [shown, _] = json.loads(evaluator.all(Toggles(), None, {}).body)["toggles"]
    assert shown["variant"] == variant | {"feature_enabled": True}
