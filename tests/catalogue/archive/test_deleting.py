"""Archived features are deleted for good, with all that belongs to them, and nothing else is."""

import pytest
import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.core.db import Model, db
from tests.support.browser import text_of
from tests.support.clients import error_of
from tests.support.sdks import write_reports
from tests.support.statements import statements

PROJECT = "/projects/default"
FEATURES = f"{PROJECT}/features"
DELETE = f"{PROJECT}/delete"
ROLLOUT = {
    "name": "flexibleRollout",
    "parameters": {"rollout": "10", "stickiness": "default", "groupId": "g"},
    "segments": [],
}


@pytest.fixture
def archived(admin):
    """Makes archived features."""

    def archived(*names):
        for name in names:
            admin.ok("POST", FEATURES, {"name": name})
        admin.ok("POST", f"{PROJECT}/archive", {"features": names})

    return archived


def names(client, *, archived=True):
    path = f"{FEATURES}?archived={str(archived).lower()}"
    return [row["name"] for row in client.ok("GET", path)["features"]]


def deletions(client):
    return client.ok("GET", "/events?type=feature-deleted")["events"]


def test_their_names_are_free_and_their_events_stay(admin, archived):
    archived("a", "b", "c")
    tags = {"addedTags": [{"value": "old"}], "removedTags": []}
    admin.ok("PUT", f"{PROJECT}/tags", {"features": ["a"], "tags": tags})
    answer = admin.post(DELETE, {"features": ["b", "a"]}, headers={"X-Reason": "Clean up"})
    assert (answer.status_code, answer.data) == (200, b"")
    assert names(admin) == ["c"]
    later, first = deletions(admin)
    assert (first["featureName"], first["reason"]) == ("a", "Clean up")
    assert first["preData"] == {
        "name": "a",
        "type": "release",
        "description": None,
        "stale": False,
        "impressionData": False,
        "tags": ["simple:old"],
    }
    assert (first["data"], first["batchId"]) == (None, later["batchId"])
    admin.ok("POST", FEATURES, {"name": "a"})
    assert "feature-archived" in {
        event["type"] for event in admin.ok("GET", "/events?feature=a")["events"]
    }


def test_nothing_is_deleted_unless_all_can_be(admin, archived, subtests):
    archived("gone")
    admin.ok("POST", FEATURES, {"name": "active"})
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "elsewhere"})
    admin.ok("POST", "/projects/shop/archive", {"features": ["elsewhere"]})
    for other, status, says in (
        ("active", 409, "These features are not archived: active. Archive them first."),
        ("unknown", 404, "These features are not in project default: unknown."),
        ("elsewhere", 404, "These features are not in project default: elsewhere."),
    ):
        with subtests.test(other=other):
            refusal = admin.post(DELETE, {"features": ["gone", other]})
            assert (refusal.status_code, refusal.json["message"]) == (status, says)
    assert names(admin) == ["gone"]
    assert deletions(admin) == []


def test_one_is_deleted_by_its_name_alone(admin, archived):
    archived("a")
    answer = admin.delete("/archive/a")
    assert (answer.status_code, answer.data) == (200, b"")
    assert names(admin) == []
    assert error_of(admin.delete("/archive/a")) == (404, "NotFoundError")
    admin.ok("POST", FEATURES, {"name": "a"})
    assert error_of(admin.delete("/archive/a")) == (409, "ConflictError")


def test_a_private_project_looks_as_if_its_features_did_not_exist(admin, archived, viewer):
    archived("a")
    admin.ok("POST", "/projects", {"id": "secret", "name": "Secret", "mode": "private"})
    admin.ok("POST", "/projects/secret/features", {"name": "hidden"})
    admin.ok("POST", "/projects/secret/archive", {"features": ["hidden"]})
    refusal = viewer.delete("/archive/a")
    assert error_of(refusal) == (403, "NoAccessError")
    assert "DELETE_FEATURE in project default" in refusal.json["message"]
    hidden, unknown = (viewer.delete(f"/archive/{name}") for name in ("hidden", "unknown"))
    assert error_of(hidden) == error_of(unknown) == (404, "NotFoundError")
    assert hidden.json["message"].replace("hidden", "unknown") == unknown.json["message"]


def test_nothing_of_them_is_left_in_any_table(app, admin, sdk):
    for name in ("parent", "child"):
        admin.ok("POST", FEATURES, {"name": name})
    segment = admin.ok(
        "POST",
        "/segments",
        {
            "name": "Staff",
            "constraints": [{"contextName": "userId", "operator": "IN", "values": ["1"]}],
        },
    )["id"]
    path = f"{FEATURES}/child/environments/development"
    admin.ok("POST", f"{path}/strategies", ROLLOUT | {"segments": [segment]})
    admin.ok("POST", f"{path}/on")
    admin.ok("POST", f"{FEATURES}/child/dependencies", {"feature": "parent"})
    admin.ok("POST", f"{FEATURES}/child/favorites")
    tags = {"addedTags": [{"value": "old"}], "removedTags": []}
    admin.ok("PUT", f"{PROJECT}/tags", {"features": ["child"], "tags": tags})
    counts = {"yes": 1, "no": 0, "variants": {"blue": 1}}
    sdk.post("metrics", {"appName": "shop", "bucket": {"toggles": {"child": counts}}})
    write_reports(app)
    admin.ok("POST", f"{PROJECT}/archive", {"features": ["parent", "child"]})
    with app.app_context():
        before = ids_of_features(), left()
    assert len(before[0]) == 2
    assert {"strategies", "favourites", "feature_usage", "variant_usage"} <= before[1]
    admin.ok("POST", DELETE, {"features": ["parent", "child"]})
    with app.app_context():
        assert (ids_of_features(), left()) == ([], set())
    admin.ok("DELETE", f"/segments/{segment}")


def ids_of_features():
    return list(db.session.scalars(sa.select(Feature.id)))


def left():
    """The tables with a row of a feature."""
    return {
        table.name
        for table in Model.metadata.sorted_tables
        for column in table.columns
        if column.name in {"feature_id", "child_id"}
        if db.session.scalar(sa.select(sa.func.count()).select_from(table).where(column > 0))
    }


def test_any_number_takes_the_same_statements(app, admin, archived):
    archived(*(f"f{number}" for number in range(40)))
    taken = []
    for few in ([20], [*range(20)]):
        with statements(app) as run:
            admin.ok("POST", DELETE, {"features": [f"f{number}" for number in few]})
        taken.append(len(run))
    assert taken[0] >= taken[1]


def delete_page(browser, *rows):
    page = browser.get(f"{PROJECT}?archived=true")
    return browser.follow(
        browser.submit(page, {"feature": list(rows)}, form="Delete…", button="Delete…")
    )


def test_the_page_says_what_is_lost_before_anything_happens(app, admin, browser, sdk):
    for name in ("used", "quiet"):
        admin.ok("POST", FEATURES, {"name": name})
    admin.ok("POST", f"{FEATURES}/used/environments/production/strategies", ROLLOUT)
    sdk.post("metrics", {"appName": "shop", "bucket": {"toggles": {"used": {"yes": 1, "no": 0}}}})
    write_reports(app)
    admin.ok("POST", f"{PROJECT}/archive", {"features": ["used", "quiet"]})
    page = delete_page(browser, "used", "quiet")
    assert page.h1 == "Delete 2 features"
    assert text_of(page.select("p.verdict")[0]).startswith("You can’t undo this.")
    assert page.has("All usage, tags and variants will be lost, with 1 strategy.")
    assert page.has("Still checked: 1")
    assert names(admin) == ["quiet", "used"]
    page = browser.follow(browser.submit(page, button="Leave it out", form="Leave it out"))
    assert page.h1 == "Delete 1 feature"
    done = browser.submit(page, {"reason": "Gone"}, form="Delete 1 feature")
    assert browser.follow(done).has("1 feature deleted for good.")
    assert names(admin) == ["used"]
    assert deletions(admin)[0]["reason"] == "Gone"


def test_the_page_of_an_archived_feature_leads_there(admin, archived, browser):
    archived("a")
    page = browser.get(f"{FEATURES}/a/settings")
    page = browser.follow(browser.submit(page, form="Delete…", button="Delete…"))
    assert page.h1 == "Delete 1 feature"


def test_what_was_revived_since_the_review_is_not_deleted(admin, archived, browser):
    archived("a", "b")
    page = delete_page(browser, "a", "b")
    admin.ok("POST", f"{PROJECT}/revive-features", {"features": ["a"]})
    page = browser.submit(page, form="Delete 2 features")
    assert page.status == 409
    assert page.has("Something changed since your review, so nothing was done.")
    assert page.h1 == "Delete 1 feature"
    assert names(admin) == ["b"]


def test_a_new_feature_with_the_name_has_a_history_of_its_own(admin, archived, browser):
    archived("a")
    admin.ok("DELETE", "/archive/a")
    admin.ok("POST", FEATURES, {"name": "a"})
    page = browser.get(f"{FEATURES}/a")
    assert page.has("Created just now by admin")
