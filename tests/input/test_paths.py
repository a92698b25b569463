"""Addresses that are written strangely: none breaks anything, leads elsewhere, or is an alias.

Only a slash at the end makes no difference, where programs ask.
"""

import pytest

from tests.input.paths import check_all

EVERY_NTH = 23
"""Of all strange addresses; the others are for the soak tests."""


@pytest.mark.one_in(2)
def test_a_strange_address_is_refused_and_leads_nowhere(app, admin, browser, addressed):
    assert check_all(app, admin, browser, EVERY_NTH) > 100
