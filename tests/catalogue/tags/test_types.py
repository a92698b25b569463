"""Tag types: created, changed, and deleted when no feature uses them."""

import pytest

from tests.support.clients import error_of, problems_of

PATH = "/tag-types"
FEATURES = "/projects/default/features"
TEAM = {"name": "team", "description": "The team that owns the feature", "hue": 3}


@pytest.fixture
def team(editor):
    return editor.ok("POST", PATH, TEAM)


def change_tags(client, added=(), removed=()):
    tags = {
        "addedTags": [{"type": "team", "value": value} for value in added],
        "removedTags": [{"type": "team", "value": value} for value in removed],
    }
    client.ok("PUT", "/projects/default/tags", {"features": ["cart"], "tags": tags})


def types(client):
    return {row["name"]: row for row in client.ok("GET", PATH)["tagTypes"]}


def recorded(client, type):
    events = client.ok("GET", f"/events?type={type}")["events"]
    return [(event["preData"], event["data"]) for event in events]


def test_a_new_type_is_returned_listed_and_recorded(editor):
    answer = editor.post(PATH, TEAM)
    assert (answer.status_code, answer.json) == (201, TEAM)
    assert types(editor)["team"] == TEAM
    assert recorded(editor, "tag-type-created") == [(None, TEAM)]


def test_a_name_is_enough(editor):
    made = editor.ok("POST", PATH, {"name": "team"})
    assert made == {"name": "team", "description": "", "hue": 1}


def test_a_name_is_used_once(editor, team):
    assert error_of(editor.post(PATH, {"name": "team"})) == (409, "NameExistsError")
    assert types(editor)["team"] == TEAM


@pytest.mark.parametrize("name", ["a", "0", "a-b_c", "a" * 50])
def test_a_name_can_have_these_characters(editor, name):
    assert editor.ok("POST", PATH, {"name": name})["name"] == name


def test_a_type_that_is_not_valid_is_refused(editor, subtests):
    for bad in (
        {"name": ""},
        {"name": "Team"},
        {"name": "-a"},
        {"name": "a b"},
        {"name": "a\n"},
        {"name": "a" * 51},
        {"name": None},
        {"hue": 0},
        {"hue": 9},
        {"hue": "1"},
        {"description": "d" * 256},
        {"colour": "red"},
    ):
        with subtests.test(bad=bad):
            answer = editor.post(PATH, TEAM | bad)
            assert list(problems_of(answer)) == [f"/{field}" for field in bad]
            assert list(types(editor)) == ["simple"]


@pytest.mark.parametrize("change", [{"hue": 8}, {"description": "x"}])
def test_only_fields_that_are_sent_change(editor, team, change):
    answer = editor.put(f"{PATH}/team", change)
    assert (answer.status_code, answer.data) == (200, b"")
    assert types(editor)["team"] == TEAM | change
    assert recorded(editor, "tag-type-updated") == [(TEAM, TEAM | change)]


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_description_can_be_removed(editor, team, nothing):
    editor.ok("PUT", f"{PATH}/team", {"description": nothing})
    assert types(editor)["team"] == TEAM | {"description": ""}


def test_what_was_read_can_be_sent_back_and_is_not_recorded(editor, team):
    editor.ok("PUT", f"{PATH}/team", team)
    assert recorded(editor, "tag-type-updated") == []


def test_a_type_that_is_used_is_not_deleted(admin, editor, team):
    admin.ok("POST", FEATURES, {"name": "cart"})
    change_tags(admin, added=["red"])
    assert error_of(editor.delete(f"{PATH}/team")) == (409, "ConflictError")
    admin.ok("POST", "/projects/default/archive", {"features": ["cart"]})
    assert error_of(editor.delete(f"{PATH}/team")) == (409, "ConflictError")
    assert "team" in types(editor)


def test_an_unused_type_is_deleted_with_its_tags(admin, editor, team):
    admin.ok("POST", FEATURES, {"name": "cart"})
    change_tags(admin, added=["red"])
    change_tags(admin, removed=["red"])
    assert admin.ok("GET", "/tags")["total"] == 1
    answer = editor.delete(f"{PATH}/team")
    assert (answer.status_code, answer.data) == (200, b"")
    assert list(types(editor)) == ["simple"]
    assert admin.ok("GET", "/tags")["total"] == 0
    assert recorded(editor, "tag-type-deleted") == [(TEAM, None)]


def test_the_default_type_is_not_deleted(editor):
    assert error_of(editor.delete(f"{PATH}/simple")) == (409, "ConflictError")
    assert list(types(editor)) == ["simple"]


def test_an_unknown_type_is_not_found(editor):
    for answer in (editor.put(f"{PATH}/nope", {"hue": 2}), editor.delete(f"{PATH}/nope")):
        assert error_of(answer) == (404, "NotFoundError")


def test_viewers_read_only(viewer, team):
    assert "team" in types(viewer)
    for answer in (
        viewer.post(PATH, {"name": "new"}),
        viewer.put(f"{PATH}/team", {"hue": 2}),
        viewer.delete(f"{PATH}/team"),
    ):
        assert error_of(answer) == (403, "NoAccessError")
