"""Many random features and contexts: no explanation says anything else than the answer."""

from tests.support.explanations import check


def test_explanations_agree_with_themselves_and_with_what_sdks_answer():
    check(examples=3_000)
