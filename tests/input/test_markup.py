"""What people type is text on every page: no text makes an element, or an attribute of one."""

import pytest

from tests.input.markup import PAYLOADS, check

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]

EVERY_NTH = 5
"""Of them; the others, and more, are for the soak tests."""


@pytest.mark.parametrize("app", ["sqlite"], indirect=True)
def test_no_text_becomes_markup_on_any_page(app):
    assert check(app, PAYLOADS[::EVERY_NTH]) > 30
