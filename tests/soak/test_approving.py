"""Long random sequences of decisions never get a change past the approvals that it needs."""

from tests.support.approving import check_approvals


def test_nothing_reaches_applications_without_enough_approvals(app):
    check_approvals(app, steps=60, examples=100)
