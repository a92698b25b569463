"""What archiving would do, and doing it."""

import pytest

from app.core.permissions import GRANTS, Permission, Role
from tests.support.clients import error_of, problems_of
from tests.support.dependencies import parents, rule

PROJECT = "/projects/default"
FEATURES = f"{PROJECT}/features"
VALIDATE = f"{PROJECT}/archive/validate"
ARCHIVE = f"{PROJECT}/archive"
REVIVE = f"{PROJECT}/revive-features"
FINE = {"parentsWithChildFeatures": [], "hasDeletedDependencies": False}


@pytest.fixture(autouse=True)
def _family(admin):
    """Two parents, p1 with two children and p2 with one, and a feature without a tie."""
    for name in ("p2", "p1", "c1", "c2", "c3", "single"):
        admin.ok("POST", FEATURES, {"name": name})
    for child, parent in (("c1", "p1"), ("c2", "p1"), ("c3", "p2")):
        admin.ok("POST", f"{FEATURES}/{child}/dependencies", {"feature": parent})


def impact(client, *names):
    return client.ok("POST", VALIDATE, {"features": list(names)})


def archive(client, *names):
    return client.post(ARCHIVE, {"features": list(names)})


def whole(client):
    """All features as they are, and the number of events."""
    active, archived = (
        client.ok("GET", f"{FEATURES}?archived={flag}")["features"] for flag in ("false", "true")
    )
    return active, archived, client.ok("GET", "/events")["total"]


def active_names(client):
    return {row["name"] for row in whole(client)[0]}


# Looking ahead


def test_the_impact(admin, subtests):
    for names, held, deleted in (
        ([], [], False),
        (["single"], [], False),
        (["p1"], ["p1"], True),
        (["p2", "p1"], ["p1", "p2"], True),
        (["p1", "c1"], ["p1"], True),
        (["p1", "c1", "c2"], [], True),
        (["c1"], [], True),
        (["p1", "p1", "c3", "c2", "c1"], [], True),
        (["single", "nowhere"], [], False),
        (["p2", "single", "nowhere"], ["p2"], True),
    ):
        with subtests.test(names=names):
            found = impact(admin, *names)
            assert list(found) == ["parentsWithChildFeatures", "hasDeletedDependencies"]
            assert found == {"parentsWithChildFeatures": held, "hasDeletedDependencies": deleted}


def test_nothing_is_changed_and_no_event_is_written(admin):
    before = whole(admin)
    impact(admin, "p1", "c1", "single", "nowhere")
    assert whole(admin) == before


def test_archived_features_are_ignored(admin):
    archive(admin, "p2", "c3")
    assert impact(admin, "p2", "c3") == FINE


def test_an_archived_child_does_not_hold_its_parent(admin):
    archive(admin, "c3")
    assert impact(admin, "p2") == FINE


def test_features_of_another_project_are_ignored(admin):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    body = {"features": ["p1", "c1"]}
    assert admin.ok("POST", "/projects/shop/archive/validate", body) == FINE


def test_thousands_of_names_may_be_asked_about(admin):
    names = [f"n{number}" for number in range(3_000)]
    assert impact(admin, *names, "p2") == {
        "parentsWithChildFeatures": ["p2"],
        "hasDeletedDependencies": True,
    }


def test_what_does_not_fit_is_refused(admin, subtests):
    for path in (VALIDATE, ARCHIVE):
        for body, problem in (
            ({}, "/features"),
            ({"features": None}, "/features"),
            ({"features": "p1"}, "/features"),
            ({"features": ["p1", 1]}, "/features/1"),
            ({"features": ["a b"]}, "/features/0"),
            ({"features": [], "force": True}, "/force"),
        ):
            with subtests.test(path=path, body=body, problem=problem):
                assert list(problems_of(admin.post(path, body))) == [problem]


@pytest.mark.parametrize("path", [VALIDATE, ARCHIVE])
def test_editors_may_while_the_default_project_is_open_and_members_always(
    admin, editor, people, path
):
    body = {"features": ["single"]}
    editor.ok("POST", path, body)
    admin.ok("PUT", PROJECT, {"name": "Default", "mode": "protected"})
    assert error_of(editor.post(path, body)) == (403, "NoAccessError")
    people.member("mia", "default").ok("POST", path, body)


@pytest.mark.parametrize("path", [VALIDATE, ARCHIVE])
def test_viewers_and_strangers_may_not(viewer, stranger, path):
    body = {"features": ["single"]}
    assert error_of(viewer.post(path, body)) == (403, "NoAccessError")
    assert error_of(stranger.post(path, body)) == (401, "AuthenticationRequired")


@pytest.mark.parametrize("path", [VALIDATE, ARCHIVE])
def test_an_unknown_project_is_not_found_by_an_admin_and_kept_from_others(admin, viewer, path):
    path = path.replace("default", "nowhere")
    assert error_of(admin.post(path, {"features": []})) == (404, "NotFoundError")
    assert error_of(viewer.post(path, {"features": []})) == (403, "NoAccessError")


# Archiving


def test_archiving_answers_202_without_a_body(admin):
    answer = archive(admin, "single")
    assert (answer.status_code, answer.data) == (202, b"")
    assert admin.ok("GET", f"{FEATURES}/single")["archivedAt"] is not None
    assert "single" not in active_names(admin)


@pytest.mark.parametrize("names", [["p1"], ["p1", "c1"], ["single", "p2"]])
def test_a_parent_with_a_child_outside_the_request_refuses_it_all(admin, names):
    before = whole(admin)
    answer = archive(admin, *names)
    assert error_of(answer) == (409, "ConflictError")
    assert whole(admin) == before


def test_the_refusal_names_parents_and_children(admin):
    message = archive(admin, "p1", "c1", "single").json["message"]
    assert "p1" in message
    assert "c2" in message
    assert "single" not in message


def test_a_parent_goes_with_all_its_children(admin):
    assert archive(admin, "p1", "c2", "c1").status_code == 202
    assert active_names(admin) == {"p2", "c3", "single"}


def test_the_dependencies_of_archived_children_are_dropped(admin):
    archive(admin, "c1")
    assert admin.ok("GET", f"{FEATURES}/p1")["children"] == ["c2"]
    assert parents(admin, f"{FEATURES}/c1") == []


def test_it_is_recorded_with_what_was_dropped_in_one_batch(admin):
    archive(admin, "p2", "c3")
    events = admin.ok("GET", "/events?type=feature-archived")["events"]
    assert {event["featureName"]: event["preData"]["dependencies"] for event in events} == {
        "p2": [],
        "c3": ["p2"],
    }
    assert len({event["batchId"] for event in events}) == 1
    assert {event["project"] for event in events} == {"default"}


def test_archived_features_stay_as_they_are(admin):
    archive(admin, "single")
    before = admin.ok("GET", f"{FEATURES}/single")
    assert archive(admin, "single").status_code == 202
    assert admin.ok("GET", f"{FEATURES}/single") == before
    assert admin.ok("GET", "/events?type=feature-archived")["total"] == 1


def test_unknown_features_refuse_it_all(admin):
    before = whole(admin)
    answer = archive(admin, "single", "nowhere")
    assert error_of(answer) == (404, "NotFoundError")
    assert "nowhere" in answer.json["message"]
    assert whole(admin) == before


def test_what_validation_finds_harmless_archiving_does(admin):
    names = ["p1", "c1", "c2", "c3"]
    assert impact(admin, *names)["parentsWithChildFeatures"] == []
    assert archive(admin, *names).status_code == 202
    assert active_names(admin) == {"p2", "single"}


# Reviving


def revive(client, *names):
    return client.ok("POST", REVIVE, {"features": list(names)})


def all_parents(client, *names):
    return [parents(client, f"{FEATURES}/{name}") for name in names]


def test_all_is_as_it_was(admin):
    names = ["p1", "c1", "c2", "single"]
    before = whole(admin)[0]
    archive(admin, *names)
    assert revive(admin, *names) == {"revived": sorted(names)}
    assert whole(admin)[:2] == (before, [])


def test_a_child_regains_its_parent_though_that_was_never_archived(admin):
    archive(admin, "c1")
    revive(admin, "c1")
    assert all_parents(admin, "c1") == [["p1"]]


def test_a_child_comes_back_without_a_parent_that_is_still_archived(admin):
    archive(admin, "p2", "c3")
    revive(admin, "c3")
    assert all_parents(admin, "c3") == [[]]
    assert active_names(admin) == {"p1", "c1", "c2", "c3", "single"}


def test_a_child_comes_back_without_a_parent_that_has_a_parent_now(admin):
    archive(admin, "c3")
    admin.ok("POST", f"{FEATURES}/p2/dependencies", {"feature": "p1"})
    revive(admin, "c3")
    assert all_parents(admin, "c3", "p2") == [[], ["p1"]]


def test_a_parent_of_long_ago_does_not_come_back(admin):
    archive(admin, "c3")
    revive(admin, "c3")
    admin.ok("DELETE", f"{FEATURES}/c3/dependencies")
    archive(admin, "c3")
    revive(admin, "c3")
    assert all_parents(admin, "c3") == [[]]


def test_unknown_features_refuse_reviving_it_all(admin):
    archive(admin, "single")
    before = whole(admin)
    answer = admin.post(REVIVE, {"features": ["single", "nowhere"]})
    assert error_of(answer) == (404, "NotFoundError")
    assert whole(admin) == before


def test_reviving_what_is_active_tells_nothing(admin):
    before = whole(admin)
    assert revive(admin, "single", "c1") == {"revived": []}
    assert whole(admin) == before


# Removing dependencies as part of archiving


def archive_without(client, *names, parents):
    return client.post(ARCHIVE, {"features": list(names), "removeDependenciesOn": list(parents)})


def test_a_plan_removes_dependencies_of_features_outside_the_request_and_changes_nothing(admin):
    before = whole(admin)
    body = {"features": ["p1", "p2", "c1"], "removeDependenciesOn": ["p1", "nowhere"]}
    plan = admin.ok("POST", f"{ARCHIVE}/plan", body)
    assert plan["archivable"] == ["c1", "p1"]
    assert plan["blocked"] == {"p2": ["c3"]}
    assert whole(admin) == before


def test_archiving_removes_the_dependencies_in_the_same_transaction(admin):
    assert archive_without(admin, "p1", "c1", parents=["p1"]).status_code == 202
    assert active_names(admin) == {"p2", "c2", "c3", "single"}
    assert all_parents(admin, "c2") == [[]]


def test_nothing_is_removed_while_another_parent_blocks_archiving(admin):
    before = whole(admin)
    answer = archive_without(admin, "p1", "p2", parents=["p1"])
    assert error_of(answer) == (409, "ConflictError")
    assert whole(admin) == before


def test_removed_dependencies_are_recorded_as_a_batch(admin):
    archive_without(admin, "p1", parents=["p1"])
    path = "/events?type=feature-dependency-removed"
    events = admin.ok("GET", path)["events"]
    assert [(event["featureName"], event["preData"]) for event in events] == [
        ("c2", rule("p1")),
        ("c1", rule("p1")),
    ]
    assert len({event["batchId"] for event in events}) == 1


def test_reviving_a_parent_restores_the_dependencies_that_archiving_it_removed(admin):
    before = whole(admin)[0]
    archive_without(admin, "p1", parents=["p1"])
    assert revive(admin, "p1") == {"revived": ["p1"]}
    assert whole(admin)[0] == before
    events = admin.ok("GET", "/events?type=feature-dependency-added")["events"][:2]
    assert [event["featureName"] for event in events] == ["c2", "c1"]


def test_a_removed_dependency_is_not_restored_over_a_newer_one(admin):
    archive_without(admin, "p2", parents=["p2"])
    admin.ok("POST", f"{FEATURES}/c3/dependencies", {"feature": "p1"})
    revive(admin, "p2")
    assert all_parents(admin, "c3") == [["p1"]]


def test_a_removed_dependency_is_not_restored_when_the_child_is_a_parent_now(admin):
    archive_without(admin, "p2", parents=["p2"])
    admin.ok("POST", f"{FEATURES}/single/dependencies", {"feature": "c3"})
    revive(admin, "p2")
    assert all_parents(admin, "c3", "single") == [[], ["c3"]]


def test_a_removed_dependency_is_restored_when_the_child_is_revived_after_its_parent(admin):
    archive_without(admin, "p2", parents=["p2"])
    archive(admin, "c3")
    revive(admin, "p2")
    revive(admin, "c3")
    assert all_parents(admin, "c3") == [["p2"]]


def test_removing_dependencies_needs_the_permission_for_it(people, monkeypatch):
    member = people.member("mia", "default")
    granted = GRANTS[Role.MEMBER] - {Permission.UPDATE_FEATURE_DEPENDENCY}
    monkeypatch.setitem(GRANTS, Role.MEMBER, granted)
    assert error_of(archive_without(member, "p1", parents=["p1"])) == (403, "NoAccessError")
    assert archive(member, "single").status_code == 202
