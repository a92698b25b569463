import pytest

from tests.rules.words import RULES, found


@pytest.mark.slow
def test_no_word_is_used_that_a_reader_would_stumble_over():
    assert [str(one) for one in found()] == []


def test_a_rule_matches_its_words_across_a_line_break_and_nothing_longer():
    [rule] = [rule for rule in RULES if rule.pattern == "put(?:s|ting)? away"]
    assert [match[0] for match in rule.matches("puts\n  away, putaway")] == ["puts\n  away"]
