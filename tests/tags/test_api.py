import pytest

from tests.clients import error_of, problems_of


@pytest.fixture
def tagged(admin):
    """Two features: both carry a, one carries b as well, and none carries c any more."""
    for name in ("one", "two"):
        admin.ok("POST", "/projects/default/features", {"name": name})
    for features, added, removed in (("one two", "a c", ""), ("one", "b", "c"), ("two", "", "c")):
        change = {
            "addedTags": [{"value": value} for value in added.split()],
            "removedTags": [{"value": value} for value in removed.split()],
        }
        body = {"features": features.split(), "tags": change}
        admin.ok("PUT", "/projects/default/tags", body)


def test_tags_are_listed_with_how_often_they_are_used(viewer, tagged):
    assert viewer.ok("GET", "/tags") == {
        "version": 1,
        "tags": [
            {"value": "a", "type": "simple", "used": 2},
            {"value": "b", "type": "simple", "used": 1},
            {"value": "c", "type": "simple", "used": 0},
        ],
        "total": 3,
    }


def test_an_archived_feature_still_uses_its_tags(admin, tagged):
    admin.ok("POST", "/projects/default/archive", {"features": ["one"]})
    used = {row["value"]: row["used"] for row in admin.ok("GET", "/tags")["tags"]}
    assert used == {"a": 2, "b": 1, "c": 0}


def test_tags_come_in_stretches(viewer, tagged):
    found = viewer.ok("GET", "/tags?limit=1&offset=1")
    assert [row["value"] for row in found["tags"]] == ["b"]
    assert found["total"] == 3


def test_there_is_one_tag_type_to_begin_with(viewer):
    found = viewer.ok("GET", "/tag-types")
    assert (found["version"], found["total"]) == (1, 1)
    [row] = found["tagTypes"]
    assert row["name"] == "simple"
    assert 1 <= row["hue"] <= 8


@pytest.mark.parametrize("path", ["/tags", "/tag-types"])
def test_reading_needs_a_token_and_an_address_that_makes_sense(viewer, stranger, path):
    assert error_of(stranger.get(path)) == (401, "AuthenticationRequired")
    assert list(problems_of(viewer.get(f"{path}?limit=0"))) == ["?limit"]
