"""Random features and contexts; an explanation must agree with itself and with SDKs' engine."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.evaluation.engine import Engine
from app.evaluation.explain import Answers, Reasons
from app.evaluation.facts import Explanation, Facts, FeatureFacts, SegmentFacts, StrategyReason
from app.evaluation.person import PREDEFINED, Person

CONTEXTS = 4
"""For each random state."""

texts = st.sampled_from(["1", "2", "NO", "no", "5.2.0", "10.0.0.1", "2026-01-01T00:00:00.000Z", ""])
people = st.sampled_from([str(number) for number in range(200)])
field = st.sampled_from(["userId", "sessionId", "country", "appVersion", "remoteAddress"])
VALUES = {
    "NUM_": ["1", "2", "-0.5"],
    "SEMVER_": ["5.2.0", "1.0.0-beta.1"],
    "DATE_": ["2026-01-01T00:00:00.000Z", "2020-06-01T12:00:00.000Z"],
    "REGEX": ["^N", "1|2"],
}
OPERATORS = {
    "values": ["IN", "NOT_IN", "STR_STARTS_WITH", "STR_ENDS_WITH", "STR_CONTAINS", "IN_CIDR"],
    "value": [
        *("NUM_EQ", "NUM_GT", "NUM_GTE", "NUM_LT", "NUM_LTE"),
        *("SEMVER_EQ", "SEMVER_GT", "SEMVER_GTE", "SEMVER_LT", "SEMVER_LTE"),
        *("DATE_AFTER", "DATE_BEFORE", "REGEX"),
    ],
}


@st.composite
def constraints(draw: st.DrawFn) -> Facts:
    takes = draw(st.sampled_from(["values", "value"]))
    operator = draw(st.sampled_from(OPERATORS[takes]))
    some = next((some for start, some in VALUES.items() if operator.startswith(start)), None)
    values = st.sampled_from(some or ["1", "2", "NO", "5.2.0"])
    if operator == "IN_CIDR":
        values = st.sampled_from(["10.0.0.0/8", "192.168.0.1"])
    return {
        "contextName": draw(field),
        "operator": operator,
        takes: draw(st.lists(values, min_size=1, max_size=3) if takes == "values" else values),
        "inverted": operator != "REGEX" and draw(st.booleans()),
        "caseInsensitive": operator.startswith("STR_") and draw(st.booleans()),
    }


@st.composite
def strategies(draw: st.DrawFn) -> Facts:
    share = {"percentage": str(draw(st.integers(0, 100)))}
    group = {"groupId": draw(st.sampled_from(["g", "h"]))}
    rollout = {
        "rollout": share["percentage"],
        "stickiness": draw(st.sampled_from(["default", "userId", "sessionId", "country"])),
    }
    name, parameters = draw(
        st.sampled_from(
            [
                ("flexibleRollout", rollout | group),
                ("flexibleRollout", rollout | group),
                ("default", {}),
                ("userWithId", {"userIds": "1,2, 3"}),
                ("remoteAddress", {"IPs": "10.0.0.0/8"}),
                ("gradualRolloutUserId", share | group),
                ("gradualRolloutSessionId", share | group),
                ("our-own", {"anything": "1"}),
            ]
        )
    )
    return {
        "name": name,
        "parameters": parameters,
        "constraints": draw(st.lists(constraints(), max_size=2)),
        "segments": sorted(draw(st.sets(st.integers(1, 3), max_size=2))),
        "variants": draw(st.lists(variants, max_size=3, unique_by=lambda one: one["name"])),
        "disabled": draw(st.sampled_from([False, False, True])),
    }


variants = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["blue", "red", "green"]),
        "weight": st.integers(1, 1_000),
        "weightType": st.just("variable"),
        "stickiness": st.sampled_from(["default", "userId"]),
    }
)
contexts = st.fixed_dictionaries(
    {"userId": people},
    optional={
        "sessionId": people,
        "country": texts,
        "appVersion": texts,
        "remoteAddress": texts,
        "currentTime": st.sampled_from(VALUES["DATE_"]),
    },
)


@st.composite
def features(draw: st.DrawFn) -> list[FeatureFacts]:
    """A parent and its child."""
    rule = {"feature": "parent", "enabled": draw(st.booleans())}
    if rule["enabled"]:
        rule["variants"] = draw(st.sampled_from([[], ["blue"], ["blue", "red"]]))
    return [
        FeatureFacts(
            name,
            draw(st.sampled_from([True, True, True, False])),
            draw(st.lists(strategies(), max_size=3)),
            draw(st.lists(variants, max_size=2, unique_by=lambda one: one["name"])),
            [rule] if name == "child" and draw(st.booleans()) else (),
        )
        for name in ("parent", "child")
    ]


states = st.tuples(
    features(), st.lists(st.lists(constraints(), max_size=2), min_size=3, max_size=3)
)


def check(*, examples: int) -> None:
    """Check ``examples`` states with CONTEXTS contexts each, and two features."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(states, st.lists(contexts, min_size=CONTEXTS, max_size=CONTEXTS))
    def run(state: Any, people: list[dict[str, str]]) -> None:
        found, conditions = state
        segments = {
            id: SegmentFacts(id, f"segment {id}", each) for id, each in enumerate(conditions, 1)
        }
        answers = Answers(found, segments)
        reasons = Reasons({each.name: each for each in found}, segments)
        sdk = Engine(as_sdks_get(found, segments))
        assert sdk.problems == {}
        for given_ in people:
            person = {name: value for name, value in given_.items() if value}
            context = Person(person, frozenset().union(*(each.sticky_by for each in found)))
            asked = [(one.name, answers.answer(one.name, context), context) for one in found]
            for one, explanation in zip(found, reasons.explain(asked), strict=True):
                verdict = sdk.verdict(one.name, as_json(person))
                assert verdict is not None
                answer = explanation.answer
                assert (answer.is_on, answer.variant) == (verdict.is_on, verdict.variant)
                assert answers.is_on(one.name, context) is answer.is_on
                agrees_with_itself(explanation)

    run()


def agrees_with_itself(explanation: Explanation) -> None:
    """The answer follows from the strategies, and those from their parts."""
    answer = explanation.answer
    hindered = not answer.is_enabled or (answer.parent is not None and not answer.parent.is_met)
    assert answer.is_on is (not hindered and explanation.result is True)
    for each in explanation.strategies:
        _strategy_agrees(each)
        for segment in each.segments:
            assert segment.is_met is all(one.is_met for one in segment.constraints)
    matching = [each for each in explanation.strategies if each.result]
    if answer.is_on and matching[0].strategy["variants"]:
        assert answer.variant == matching[0].variant


def _strategy_agrees(reason: StrategyReason) -> None:
    if reason.is_paused:
        assert reason.result is None
    elif not reason.is_known:
        assert reason.result is (None if reason.are_conditions_met else False)
    else:
        assert reason.result is (reason.are_conditions_met and reason.chooses)
    parameters = reason.strategy["parameters"]
    share = int(parameters.get("rollout", parameters.get("percentage", "0")))
    if 0 < share < 100:
        reached = reason.falls_at is not None and reason.falls_at <= share
        assert reason.chooses is reached


def as_sdks_get(found: list[FeatureFacts], segments: Mapping[int, SegmentFacts]) -> bytes:
    state = {
        "version": 2,
        "features": [
            {
                "name": each.name,
                "enabled": each.enabled and any(not one["disabled"] for one in each.strategies),
                "strategies": [
                    {key: value for key, value in one.items() if key != "disabled"}
                    for one in each.strategies
                    if not one["disabled"]
                ],
                "variants": each.variants,
                "dependencies": each.parents,
            }
            for each in found
        ],
        "segments": [
            {"id": each.id, "name": each.name, "constraints": each.constraints}
            for each in segments.values()
        ],
    }
    return json.dumps(state).encode()


def as_json(person: Mapping[str, str]) -> bytes:
    own = {name: value for name, value in person.items() if name not in PREDEFINED}
    return json.dumps(
        {name: value for name, value in person.items() if name in PREDEFINED} | {"properties": own}
    ).encode()
