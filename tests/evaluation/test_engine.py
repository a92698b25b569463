import json

import pytest

from app.evaluation.engine import Engine, StateRefused, Verdict


def feature(name: str, **strategy: object) -> dict[str, object]:
    parameters = {"groupId": name, "rollout": "100", "stickiness": "default"}
    rollout = {"name": "flexibleRollout", "parameters": parameters, "constraints": []} | strategy
    return {"name": name, "enabled": True, "strategies": [rollout]}


def engine(*features: dict[str, object]) -> Engine:
    return Engine(json.dumps({"version": 2, "features": features}).encode())


def test_a_feature_that_the_engine_cannot_compile_is_off_and_named_with_the_reason():
    broken = feature("broken", parameters={"groupId": 'a"b', "rollout": "100"})
    made = engine(feature("fine"), broken)
    assert list(made.problems) == ["broken"]
    assert "Failed to compile" in made.problems["broken"]
    assert made.verdict("broken", b"{}") == Verdict(is_on=False, variant="disabled", payload=None)
    assert made.verdict("fine", b"{}") == Verdict(is_on=True, variant="disabled", payload=None)


def test_a_state_that_the_engine_cannot_read_is_refused():
    with pytest.raises(StateRefused, match="Failed to parse JSON"):
        engine(feature("odd", parameters={"rollout": 50}))


def test_a_name_that_is_no_feature_has_no_verdict():
    assert engine(feature("fine")).verdict("other", b"{}") is None


def test_the_raw_answer_is_the_variant_of_each_feature_that_is_on():
    payload = {"type": "json", "value": '{"line": "é\\n"}'}
    blue = {"name": "blue", "weight": 1000, "weightType": "variable", "payload": payload}
    made = engine(feature("fine", variants=[blue]), feature("off") | {"enabled": False})
    answer, nothing = made.variants_if_on([b"fine", b"off"], b'{"userId": "1"}')
    assert answer is not None
    found = {"name": "blue", "payload": payload, "enabled": True, "featureEnabled": True}
    assert json.loads(answer) == found
    assert nothing is None
