"""Whatever people do in whatever order: what is delivered was approved, or marked in the log."""

import pytest

from tests.support.approving import check_approvals


@pytest.mark.slow
def test_nothing_reaches_applications_without_enough_approvals(app):
    check_approvals(app, steps=25, examples=3)
