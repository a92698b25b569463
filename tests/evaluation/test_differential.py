import pytest

from tests.support.evaluation import compare


@pytest.mark.slow
def test_the_engine_and_the_sdk_for_node_agree_on_random_states(sdks):
    assert compare(examples=60, each=8) >= 400
