"""Constraints as sentences."""

import pytest

from app.catalogue.constraints.operators import Operator
from app.catalogue.constraints.words import VERBS, describe, plain


def said(operator, *values, inverted=False, ignoring_case=False):
    given = {"values": list(values)} if Operator(operator).takes_list else {"value": values[0]}
    return plain(
        describe(
            {
                "contextName": "x",
                "operator": operator,
                "inverted": inverted,
                "caseInsensitive": ignoring_case,
                **given,
            }
        )
    )


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (said("IN", "NO"), "x is NO"),
        (said("IN", "NO", "SE", "DK"), "x is NO, SE or DK"),
        (said("IN", *"abcdef"), "x is one of 6 values"),
        (said("IN", "NO", inverted=True), "x isn’t NO"),
        (said("NOT_IN", *"abcdef"), "x is none of 6 values"),
        (said("STR_ENDS_WITH", "@a", ignoring_case=True), "x ends with @a, ignoring case"),
        (said("NUM_GTE", "18"), "x is at least 18"),
        (said("DATE_AFTER", "2026-11-24T07:00:00.000Z"), "x from 24 Nov 2026, 07:00 UTC"),
        (said("SEMVER_GTE", "5.2.0"), "x is version 5.2.0 or later"),
        (said("REGEX", "^a"), "x matches the pattern ^a"),
        (said("IN_CIDR", "10.0.0.0/8"), "x is in the network 10.0.0.0/8"),
    ],
)
def test_a_constraint_has_a_sentence(sentence, words):
    assert sentence == words


def test_every_operator_has_words():
    assert set(VERBS) == set(Operator)
