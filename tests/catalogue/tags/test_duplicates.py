"""Tags that are nearly alike are pointed out, with the merge one step away."""

import pytest

from app.catalogue.tags.duplicates import NameDifference, Used, pairs_in
from app.catalogue.tags.models import TagName
from tests.support.browser import Browser

FEATURES = "/projects/default/features"


def found(*values: str, types: tuple[str, ...] = ("team",)) -> list[tuple[str, str, str]]:
    """The pairs among tags of which each is used less than the one before."""
    names = [(type, value) for type in types for value in values]
    tags = [Used(place, TagName(*name), 100 - place) for place, name in enumerate(names)]
    return [(p.less.tag.value, p.more.tag.value, p.difference.value) for p in pairs_in(tags)]


@pytest.mark.parametrize(
    ("value", "other", "difference"),
    [
        ("Payments", "payments", NameDifference.CASE),
        ("Zoe\u0301", "zo\u00e9", NameDifference.CASE),
        ("check-out", "checkout", NameDifference.PUNCTUATION),
        ("check_out", "check-out", NameDifference.PUNCTUATION),
        ("payment", "payments", NameDifference.PLURAL),
        ("Library", "libraries", NameDifference.PLURAL),
        ("payents", "payments", NameDifference.LETTER),
        ("paymennts", "payments", NameDifference.LETTER),
        ("paynents", "payments", NameDifference.LETTER),
        ("paymetns", "payments", NameDifference.LETTER),
    ],
)
def test_two_tags_are_nearly_alike(value, other, difference):
    assert found(other, value) == [(value, other, difference.value)]


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("v1", "v2"),
        ("release-2025", "release-2026"),
        ("team10", "team1"),
        ("web", "wen"),
        ("low", "slow"),
        ("ios", "io"),
        ("access", "acces-all"),
        ("+", "-"),
    ],
)
def test_two_tags_are_different(value, other):
    assert found(other, value) == []


def test_tags_of_different_types_are_not_compared():
    assert found("payments", types=("team", "area")) == []


def test_each_spelling_is_paired_with_the_one_that_is_used_most():
    assert found("payments", "Payments", "payment", "pay-ments") == [
        ("Payments", "payments", "case"),
        ("pay-ments", "payments", "punctuation"),
        ("payment", "payments", "plural"),
    ]


def test_many_that_differ_in_one_letter_are_meant_to():
    assert found(*(f"paym{letter}nts" for letter in "abcdefghijklmnopqrstuvwxyz")) == []


@pytest.fixture
def tagged(admin):
    for name in ("card", "tips", "till"):
        admin.ok("POST", FEATURES, {"name": name})
    tag(admin, ["card", "tips"], "payments")
    tag(admin, ["till"], "Payment")
    tag(admin, ["till"], "searching")


def tag(admin, features, value):
    changes = {"addedTags": [{"value": value}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", {"features": features, "tags": changes})


def test_the_api_lists_them(admin, tagged):
    [pair] = admin.ok("GET", "/duplicate-tags")["pairs"]
    assert pair == {
        "tag": {"type": "simple", "value": "Payment", "used": 1},
        "into": {"type": "simple", "value": "payments", "used": 2},
        "difference": "plural",
    }


def test_the_page_of_tags_leads_to_the_review_of_the_merge(app, admin, browser, tagged):
    page = browser.get("/tags")
    [row] = page.select('[aria-labelledby="alike"] li')
    review = browser.get(row.css("a.button")[0].attributes["href"])
    assert review.h1 == "Merge tag simple:Payment"
    browser.follow(browser.submit(review))
    assert not browser.get("/tags").select('[aria-labelledby="alike"]')


def test_those_who_can_not_merge_are_not_bothered(app, viewer, admin, tagged):
    page = Browser(app).sign_in("viewer").get("/tags")
    assert not page.select('[aria-labelledby="alike"]')


def test_home_names_those_that_mean_the_same(app, browser, admin, tagged):
    assert browser.get("/").has("1 pair of tags is nearly alike")
    tag(admin, ["card"], "serching")
    assert browser.get("/").has("1 pair of tags is nearly alike")
