"""However a text is spelled, it is stored in one way, and long texts are no other matter."""

import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.words import SHORT, nfc
from tests.support.clients import problems_of

MARKS = st.characters(categories=["Mn", "Mc"])
LETTERS = st.sampled_from("ae\u00e9\u1f82\uac00\u1100\u1161\u11a8\u0f73\u0344\u212b\U0001f986")


@pytest.mark.one_in(2)
@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(MARKS | LETTERS, min_size=SHORT, max_size=3 * SHORT).map("".join))
def test_a_long_text_is_composed_as_the_standard_says(text):
    assert nfc(text) == unicodedata.normalize("NFC", text)


def test_a_length_is_that_of_the_composed_text(admin):
    for letter, spelled in (("\u00e9", "e\u0301"), ("\u1f82", "\u03b1\u0313\u0300\u0345")):
        admin.ok("PUT", "/projects/default", {"name": spelled * 255})
        assert admin.ok("GET", "/projects/default")["name"] == letter * 255
        for longer in (spelled * 256, spelled * 1_024, letter * 256):
            assert admin.put("/projects/default", {"name": longer}).status_code == 400


@pytest.mark.parametrize("name", ["\u200b", "\u3164", "\u200f \u200e", "\u2800", "\U000e0020"])
def test_a_name_has_something_to_see(admin, name):
    refused = admin.put("/projects/default", {"name": name})
    assert problems_of(refused) == {"/name": "Enter at least one character that can be seen."}


def test_too_many_fields_are_refused_without_naming_each(admin):
    refused = admin.put("/projects/default", {f"f{number}": 1 for number in range(100_000)})
    assert problems_of(refused) == {"": "Has more than 1,000 fields."}
