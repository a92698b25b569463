"""Random sequences of changes never lead to a state that lies to SDKs."""

import pytest

from tests.support.switching import check_promises

pytestmark = pytest.mark.one_in(2)


@pytest.mark.slow
def test_a_feature_that_is_on_has_a_strategy_whatever_happens(app, admin):
    check_promises(admin, steps=40, examples=4)
