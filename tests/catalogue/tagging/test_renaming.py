"""Renaming, merging and deleting tags over the API: recorded on each feature, undone exactly."""

from functools import partial

import pytest

from tests.support.clients import error_of, problems_of
from tests.support.races import at_once, statuses

pytestmark = pytest.mark.slow

TAGS = "/tags"


def ref(name):
    type, _, value = name.partition(":")
    return {"type": type, "value": value}


def replace(client, act, tag, to, **kwargs):
    return client.post(f"{TAGS}/{act}", {"tag": ref(tag), "to": ref(to)}, **kwargs)


def put_on(client, project, features, *added):
    tags = {"addedTags": [ref(name) for name in added], "removedTags": []}
    return client.put(f"/projects/{project}/tags", {"features": features, "tags": tags})


def carried(client):
    """The tags of every feature, active or archived, by its name."""
    rows = [
        row
        for archived in ("false", "true")
        for row in client.ok("GET", f"/features?archived={archived}")["features"]
    ]
    return {
        row["name"]: sorted(f"{tag['type']}:{tag['value']}" for tag in row["tags"]) for row in rows
    }


def uses(client):
    rows = client.ok("GET", TAGS)["tags"]
    return {f"{row['type']}:{row['value']}": row["used"] for row in rows}


@pytest.fixture(autouse=True)
def tagged(admin):
    """Features a to d, d archived, c of another project; b has both spellings of one tag."""
    admin.ok("POST", "/tag-types", {"name": "team"})
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    for project, name in (("default", "a"), ("default", "b"), ("shop", "c"), ("default", "d")):
        admin.ok("POST", f"/projects/{project}/features", {"name": name})
    put_on(admin, "default", ["a", "b", "d"], "team:payment")
    put_on(admin, "default", ["b"], "team:payments", "simple:x")
    put_on(admin, "shop", ["c"], "team:payment")
    admin.ok("POST", "/projects/default/archive", {"features": ["d"]})


def test_a_rename_changes_all_features_in_all_projects(admin):
    answer = replace(admin, "rename", "team:payment", "simple:pay / now")
    assert answer.status_code == 200
    assert list(answer.json) == ["batch", "tag", "to", "features"]
    assert answer.json["features"] == 4
    assert carried(admin) == {
        "a": ["simple:pay / now"],
        "b": ["simple:pay / now", "simple:x", "team:payments"],
        "c": ["simple:pay / now"],
        "d": ["simple:pay / now"],
    }
    assert "team:payment" not in uses(admin)


def test_a_merge_leaves_each_feature_with_one_of_the_two(admin):
    assert replace(admin, "merge", "team:payment", "team:payments").status_code == 200
    assert carried(admin) == {
        "a": ["team:payments"],
        "b": ["simple:x", "team:payments"],
        "c": ["team:payments"],
        "d": ["team:payments"],
    }
    assert uses(admin) == {"simple:x": 1, "team:payments": 4}


@pytest.mark.parametrize(
    ("act", "to"), [("rename", "team:money"), ("merge", "team:payments"), ("merge", "simple:x")]
)
def test_undoing_restores_exactly_what_was(admin, act, to):
    before = carried(admin), uses(admin)
    batch = replace(admin, act, "team:payment", to).json["batch"]
    assert (carried(admin), uses(admin)) != before
    admin.ok("POST", f"{TAGS}/undo", {"batch": batch})
    assert (carried(admin), uses(admin)) == before


def test_undoing_a_merge_leaves_what_was_changed_since(admin):
    batch = replace(admin, "merge", "team:payment", "team:payments").json["batch"]
    removed = {"addedTags": [], "removedTags": [ref("team:payments")]}
    admin.ok("PUT", "/projects/default/tags", {"features": ["a"], "tags": removed})
    admin.ok("POST", f"{TAGS}/undo", {"batch": batch})
    found = carried(admin)
    assert found["a"] == ["team:payment"]
    assert found["b"] == ["simple:x", "team:payment", "team:payments"]


def test_a_merge_is_not_undone_twice_and_not_over_a_new_tag(admin):
    batch = replace(admin, "merge", "team:payment", "team:payments").json["batch"]
    put_on(admin, "shop", ["c"], "team:payment")
    refused = admin.post(f"{TAGS}/undo", {"batch": batch})
    assert error_of(refused) == (409, "ConflictError")
    assert error_of(admin.post(f"{TAGS}/undo", {"batch": "x"})) == (404, "NotFoundError")


def test_the_change_is_recorded_as_one_batch_with_before_and_after(admin):
    batch = replace(
        admin, "merge", "team:payment", "team:payments", headers={"X-Reason": "tidy up"}
    ).json["batch"]
    [event] = admin.ok("GET", "/events?type=tag-merged")["events"]
    assert event["preData"] == ref("team:payment")
    assert event["data"] == {**ref("team:payments"), "features": 4}
    assert (event["batchId"], event["reason"]) == (batch, "tidy up")
    changes = admin.ok("GET", "/events?type=feature-tags-changed&limit=4")["events"]
    assert {event["batchId"] for event in changes} == {batch}
    assert {(event["project"], event["featureName"]) for event in changes} == {
        ("default", "a"),
        ("default", "b"),
        ("shop", "c"),
        ("default", "d"),
    }
    [b] = [event for event in changes if event["featureName"] == "b"]
    assert b["data"] == {"added": [], "removed": [ref("team:payment")]}


def test_a_dry_run_changes_nothing(admin):
    before = carried(admin), uses(admin), admin.ok("GET", "/events")["total"]
    body = {"tag": ref("team:payment"), "to": ref("team:payments")}
    assert admin.post(f"{TAGS}/merge?dryRun=true", body).json["features"] == 4
    assert (carried(admin), uses(admin), admin.ok("GET", "/events")["total"]) == before


def test_what_cannot_be_done_is_refused_and_changes_nothing(admin, subtests):
    for act, tag, to, error in (
        ("rename", "team:none", "team:other", (404, "NotFoundError")),
        ("rename", "team:payment", "team:payments", (409, "NameExistsError")),
        ("merge", "team:payment", "team:other", (404, "NotFoundError")),
        ("merge", "team:none", "team:payments", (404, "NotFoundError")),
        ("rename", "team:payment", "team:payment", (400, "ValidationError")),
        ("rename", "team:payment", "nope:x", (400, "ValidationError")),
    ):
        with subtests.test(act=act, tag=tag, to=to, error=error):
            before = carried(admin), uses(admin)
            assert error_of(replace(admin, act, tag, to)) == error
            assert (carried(admin), uses(admin)) == before


def test_problems_are_named_at_their_place(admin):
    answer = replace(admin, "rename", "team:payment", "nope:x")
    assert list(problems_of(answer)) == ["/to/type"]


def test_an_editor_needs_the_permission_in_every_project_with_the_tag(admin, editor):
    assert error_of(replace(editor, "rename", "team:payment", "team:p")) == (403, "NoAccessError")
    assert replace(editor, "rename", "simple:x", "simple:y").status_code == 200
    admin.ok("PUT", "/projects/shop", {"name": "Shop", "mode": "private"})
    refused = replace(editor, "rename", "team:payment", "team:p")
    assert error_of(refused) == (403, "NoAccessError")
    assert "shop" not in refused.text


def test_only_an_unused_tag_is_deleted(admin):
    for used in ("team:payment", "simple:x"):
        refused = admin.post(f"{TAGS}/delete", ref(used))
        assert error_of(refused) == (409, "ConflictError")
    removed = {"addedTags": [], "removedTags": [ref("simple:x")]}
    admin.ok("PUT", "/projects/default/tags", {"features": ["b"], "tags": removed})
    answer = admin.post(f"{TAGS}/delete", ref("simple:x"))
    assert (answer.status_code, answer.data) == (200, b"")
    assert "simple:x" not in uses(admin)
    [event] = admin.ok("GET", "/events?type=tag-deleted")["events"]
    assert (event["preData"], event["data"]) == (ref("simple:x"), None)
    assert error_of(admin.post(f"{TAGS}/delete", ref("simple:x"))) == (404, "NotFoundError")


def test_no_tag_is_lost_when_it_is_put_on_a_feature_while_it_is_merged(admin):
    for number in range(10):
        old, new, feature = f"simple:o{number}", f"simple:n{number}", f"f{number}"
        admin.ok("POST", "/projects/default/features", {"name": feature})
        put_on(admin, "default", ["a"], old, new)
        merged, added = at_once(
            [
                partial(replace, admin, "merge", old, new),
                partial(put_on, admin, "default", [feature], old),
            ]
        )
        assert statuses([merged, added]) == {200: 2}
        assert len(carried(admin)[feature]) == 1
