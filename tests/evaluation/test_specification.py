"""The engine, past its own Python layer, answers every case of the client specification."""

import json

import pytest

from app.evaluation.engine import Engine
from tests.delivery.sdk.specification import Specification, names

CASES = 279


def context_of(context):
    """The properties that have a value; the engine takes no others."""
    given = {name: value for name, value in context.items() if value is not None}
    inner = given.get("properties", {})
    return given | {"properties": {name: str(inner[name]) for name in inner if inner[name]}}


@pytest.mark.parametrize("name", names())
def test_the_engine_answers_as_specified(sdks, name):
    specification = Specification(name)
    engine = Engine(json.dumps({"version": 2} | specification.last_state).encode())
    for case in specification.cases:
        verdict = engine.verdict(case.feature, json.dumps(context_of(case.context)).encode())
        is_on = verdict is not None and verdict.is_on
        if not case.is_about_variant:
            assert is_on is case.expected, case.description
            continue
        expected = case.expected
        found = ("disabled", None) if verdict is None else (verdict.variant, verdict.payload)
        assert found == (expected["name"], expected.get("payload")), case.description
        assert is_on is expected["feature_enabled"], case.description


def test_all_cases_are_asked(sdks):
    assert sum(len(list(Specification(name).cases)) for name in names()) == CASES
