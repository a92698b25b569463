"""The tags of one feature, at addresses without its project."""

import pytest

from tests.support.clients import error_of, problems_of

TAGS = "/features/cart/tags"
RED = {"type": "simple", "value": "red"}


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "cart"})


def values(client):
    return [tag["value"] for tag in client.ok("GET", TAGS)["tags"]]


def test_tags_are_added_changed_and_removed_one_by_one(admin):
    assert admin.ok("POST", TAGS, RED) == RED
    blue = {"type": "simple", "value": "a/b"}
    found = admin.ok("PUT", TAGS, {"addedTags": [blue], "removedTags": [RED]})
    assert [tag["value"] for tag in found["tags"]] == values(admin) == ["a/b"]
    admin.ok("DELETE", f"{TAGS}/simple/a/b")
    assert values(admin) == []
    events = admin.ok("GET", "/events?type=feature-tags-changed&feature=cart")["events"]
    assert [event["project"] for event in events] == ["shop"] * 3


def test_a_tag_needs_a_type_that_exists(admin):
    assert problems_of(admin.post(TAGS, {"type": "team", "value": "x"}))


def test_changing_them_takes_the_permission_in_the_project(admin, people):
    owner = people.member("kim", "shop", "Owner")
    owner.ok("POST", TAGS, RED)
    assert values(owner) == ["red"]
    other = people.member("ada", "default", "Owner")
    for answer in (
        other.post(TAGS, RED),
        other.put(TAGS, {"addedTags": [], "removedTags": [RED]}),
        other.delete(f"{TAGS}/simple/red"),
    ):
        assert error_of(answer) == (403, "NoAccessError")
    assert values(admin) == ["red"]


def test_a_feature_of_a_hidden_project_is_as_unknown_as_one_that_does_not_exist(admin, viewer):
    admin.ok("PUT", "/projects/shop", {"name": "Shop", "mode": "private"})
    hidden, unknown = viewer.get(TAGS), viewer.get("/features/nothing/tags")
    assert error_of(hidden) == error_of(unknown) == (404, "NotFoundError")
    assert hidden.json["message"].replace("cart", "nothing") == unknown.json["message"]
    assert error_of(viewer.post(TAGS, RED)) == (404, "NotFoundError")
