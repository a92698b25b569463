import pytest

from app.evaluation.explain import Answers, Reasons
from app.evaluation.facts import Explanation, FeatureFacts, SegmentFacts
from app.evaluation.person import Person
from tests.support.explanations import agrees_with_itself, check

NORDIC = {
    "contextName": "country",
    "operator": "IN",
    "values": ["NO", "SE"],
    "inverted": False,
    "caseInsensitive": False,
}
BETA = SegmentFacts(4, "Beta testers", [NORDIC | {"contextName": "userId", "values": ["42"]}])


def strategy(name: str = "default", **facts: object) -> dict[str, object]:
    empty = {"parameters": {}, "constraints": [], "segments": [], "variants": []}
    return {"name": name} | empty | facts


def rollout(share: int, stickiness: str = "userId", **facts: object) -> dict[str, object]:
    parameters = {"rollout": str(share), "stickiness": stickiness, "groupId": "g"}
    return strategy("flexibleRollout", parameters=parameters, **facts)


def explained(*strategies: dict[str, object], **given: str) -> Explanation:
    feature = FeatureFacts("f", enabled=True, strategies=strategies)
    context = Person(given, frozenset(feature.sticky_by))
    segments = {BETA.id: BETA}
    answer = Answers([feature], segments).answer("f", context)
    [found] = Reasons({"f": feature}, segments).explain([("f", answer, context)])
    agrees_with_itself(found)
    return found


@pytest.mark.slow
def test_explanations_agree_with_themselves_and_with_what_sdks_answer():
    check(examples=100)


def test_each_part_of_a_strategy_has_its_own_reason():
    found = explained(rollout(100, constraints=[NORDIC], segments=[4]), userId="42", country="DK")
    [reason] = found.strategies
    assert (found.answer.is_on, reason.result, reason.chooses) == (False, False, True)
    [constraint] = reason.constraints
    assert (constraint.is_met, constraint.value) == (False, "DK")
    [segment] = reason.segments
    assert segment.is_met
    assert [each.value for each in segment.constraints] == ["42"]


def test_a_rollout_tells_where_a_context_falls():
    for user in ("1", "42", "311"):
        [reason] = explained(rollout(50), userId=user).strategies
        at = reason.falls_at
        assert at is not None
        assert explained(rollout(at), userId=user).answer.is_on
        assert not explained(rollout(at - 1), userId=user).answer.is_on


def test_a_rollout_that_nothing_goes_by_never_reaches_the_context():
    [reason] = explained(rollout(99, "country"), userId="1").strategies
    assert (reason.chooses, reason.falls_at, reason.is_random) == (False, None, False)


@pytest.mark.parametrize("stickiness", ["random", "default"])
def test_what_is_random_says_so_and_its_reasons_still_agree_with_the_answer(stickiness):
    seen = set()
    for _ in range(60):
        found = explained(rollout(50, stickiness), rollout(50, stickiness, segments=[4]))
        assert found.strategies[0].is_random
        seen.add(found.answer.is_on)
    assert seen == {True, False}


def test_a_type_that_only_applications_know_is_neither_on_nor_off():
    found = explained(strategy("our-own", constraints=[NORDIC]), country="NO")
    assert (found.answer.is_on, found.result, found.strategies[0].result) == (False, None, None)
    found = explained(strategy("our-own", constraints=[NORDIC]), country="DK")
    assert (found.result, found.strategies[0].result) == (False, False)


def test_a_paused_strategy_counts_for_nothing():
    found = explained(strategy(disabled=True), rollout(0), userId="1")
    assert [each.result for each in found.strategies] == [None, False]
    assert (found.answer.is_on, found.result) == (False, False)


def test_without_a_strategy_that_counts_a_feature_is_not_on_for_anyone():
    found = explained(strategy(disabled=True), userId="1")
    assert (found.answer.is_enabled, found.answer.is_on) == (False, False)


def test_the_parent_is_a_reason():
    variants = [{"name": "blue", "weight": 1000, "weightType": "variable", "stickiness": "userId"}]
    rule = {"feature": "parent", "enabled": True, "variants": ["red"]}
    parent = FeatureFacts("parent", enabled=True, strategies=[strategy(variants=variants)])
    child = FeatureFacts("child", enabled=True, strategies=[strategy()], parents=[rule])
    answers = Answers([parent, child], {})
    answer = answers.answer("child", Person({"userId": "1"}))
    assert answer.parent is not None
    assert not answer.is_on
    assert (answer.parent.is_on, answer.parent.variant, answer.parent.is_met) == (
        True,
        "blue",
        False,
    )


def test_a_feature_that_the_engine_cannot_read_says_so():
    broken = strategy("flexibleRollout", parameters={"groupId": 'a"', "rollout": "5"})
    found = explained(broken, userId="1")
    assert "Failed to compile" in (found.answer.problem or "")
    assert not found.answer.is_on
