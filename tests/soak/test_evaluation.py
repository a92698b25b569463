"""Two evaluators, written apart in Rust and TypeScript, agree on whatever can be delivered."""

from tests.support.evaluation import compare


def test_the_engine_and_the_sdk_for_node_agree_on_twenty_thousand_pairs(sdks):
    pairs = compare(examples=1_300, each=20)
    print(f"\n{pairs:,} pairs of a state and a context")
    assert pairs >= 20_000
