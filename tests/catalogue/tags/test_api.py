import pytest

from tests.support.clients import error_of, problems_of


@pytest.fixture
def tagged(admin):
    """Two features: both have a, one also has b, and neither has c any more."""
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


def test_tags_are_listed_in_pages(viewer, tagged):
    found = viewer.ok("GET", "/tags?limit=1&offset=1")
    assert [row["value"] for row in found["tags"]] == ["b"]
    assert found["total"] == 3


def test_a_new_instance_has_one_tag_type(viewer):
    found = viewer.ok("GET", "/tag-types")
    assert (found["version"], found["total"]) == (1, 1)
    [row] = found["tagTypes"]
    assert row["name"] == "simple"
    assert 1 <= row["hue"] <= 8


@pytest.mark.parametrize("path", ["/tags", "/tag-types"])
def test_reading_needs_a_token_and_valid_parameters(viewer, stranger, path):
    assert error_of(stranger.get(path)) == (401, "AuthenticationRequired")
    assert list(problems_of(viewer.get(f"{path}?limit=0"))) == ["?limit"]


# Tags on features in private projects


@pytest.fixture
def hidden(admin, people):
    """A member of a private project, where one feature has a tag of its own and a shared one."""
    admin.ok("POST", "/projects", {"id": "secret", "name": "Secret", "mode": "private"})
    admin.ok("POST", "/tag-types", {"name": "team"})
    admin.ok("POST", "/projects/default/features", {"name": "open"})
    admin.ok("POST", "/projects/secret/features", {"name": "hidden"})
    for project, name, values in (("default", "open", "a"), ("secret", "hidden", "ab")):
        added = [{"type": "team", "value": value} for value in values]
        body = {"features": [name], "tags": {"addedTags": added, "removedTags": []}}
        admin.ok("PUT", f"/projects/{project}/tags", body)
    return people.member("mia", "secret")


def uses(client, query=""):
    return {row["value"]: row["used"] for row in client.ok("GET", f"/tags?{query}")["tags"]}


def test_only_features_that_the_caller_can_see_are_counted(admin, editor, hidden):
    assert uses(admin) == uses(hidden) == {"a": 2, "b": 1}
    assert uses(editor) == {"a": 1, "b": 0}
    assert uses(editor, "unused=true") == {"b": 0}
    assert list(uses(editor, "sort=-used")) == ["a", "b"]


def test_a_type_that_hidden_features_use_is_not_deleted_and_no_number_shows(admin, editor, hidden):
    refused = editor.delete("/tag-types/team")
    assert error_of(refused) == (409, "ConflictError")
    assert refused.json["message"] == (
        "The tag type 'team' cannot be deleted. Its tags are used 1 time. Remove them from all "
        "features first. Features that you cannot see use its tags too."
    )
    removed = {"addedTags": [], "removedTags": [{"type": "team", "value": "a"}]}
    admin.ok("PUT", "/projects/default/tags", {"features": ["open"], "tags": removed})
    refused = editor.delete("/tag-types/team")
    assert refused.json["message"] == (
        "The tag type 'team' cannot be deleted. Features that you cannot see use its tags. "
        "Ask an Admin."
    )
