import pytest

from app.catalogue.projects import service as projects
from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work
from tests.support.clients import error_of, problems_of
from tests.support.dependencies import parents, rule

PATH = "/projects/default/features"
OFF_IN_DEVELOPMENT = {
    "name": "development",
    "type": "development",
    "enabled": False,
    "sortOrder": 1,
    "lastSeenAt": None,
    "strategies": [],
    "variants": [],
    "variantCount": 0,
    "hasStrategies": False,
    "hasEnabledStrategies": False,
    "yes": 0,
    "no": 0,
}
OFF_IN_PRODUCTION = OFF_IN_DEVELOPMENT | {
    "name": "production",
    "type": "production",
    "sortOrder": 2,
}


@pytest.fixture
def make(admin):
    """Makes active features of the default project."""

    def made(*names, **fields):
        return [admin.ok("POST", PATH, {"name": name} | fields) for name in names]

    return made


def depend(client, child, parent):
    return client.post(f"{PATH}/{child}/dependencies", {"feature": parent})


def archive(client, *names):
    client.ok("POST", "/projects/default/archive", {"features": list(names)})


def names_in(client, query=""):
    return [row["name"] for row in client.ok("GET", f"{PATH}?{query}")["features"]]


def told(client, type):
    return [
        (event["featureName"], event["preData"], event["data"])
        for event in client.ok("GET", f"/events?type={type}")["events"]
    ]


# Features


def test_a_new_feature_is_at_the_location(admin):
    answer = admin.post(PATH, {"name": "checkout"})
    assert answer.status_code == 201
    row = {
        "name": "checkout",
        "type": "release",
        "description": None,
        "project": "default",
        "stale": False,
        "impressionData": False,
        "createdAt": answer.json["createdAt"],
        "archived": False,
        "archivedAt": None,
        "tags": [],
        "links": [],
        "dependencies": [],
        "children": [],
        "environments": [OFF_IN_DEVELOPMENT, OFF_IN_PRODUCTION],
        "lifecycle": {"stage": "initial", "enteredStageAt": answer.json["createdAt"]},
        "staleProposal": None,
        "lastSeenAt": None,
    }
    assert list(answer.json.items()) == list(row.items())  # in this order
    read = admin.ok("GET", answer.headers["Location"])
    assert (read.pop("createdBy")["name"], read.pop("favorite")) == ("admin", False)
    assert read == answer.json


def test_what_was_sent_is_what_is_there(make):
    sent = {"type": "kill-switch", "description": "x", "stale": True, "impressionData": True}
    [made] = make("checkout", **sent)
    assert {key: made[key] for key in sent} == sent


@pytest.mark.parametrize(
    "type", ["release", "experiment", "operational", "kill-switch", "permission"]
)
def test_each_type_is_taken(make, type):
    assert make("checkout", type=type)[0]["type"] == type


def test_what_does_not_fit_is_refused(admin, subtests):
    for bad in (
        {"name": "a b"},
        {"name": ""},
        {"name": "."},
        {"name": "x" * 101},
        {"name": "a\n"},
        {"name": None},
        {"type": "other"},
        {"stale": 1},
        {"impressionData": "true"},
        {"description": "d" * 5_001},
        {"color": "red"},
    ):
        with subtests.test(bad=bad):
            answer = admin.post(PATH, {"name": "ok"} | bad)
            assert list(problems_of(answer)) == [f"/{field}" for field in bad]


@pytest.mark.parametrize("name", ["x" * 100, "~._-", "A"])
def test_a_name_is_made_of_these_characters(make, name):
    assert make(name)[0]["name"] == name


def test_a_name_is_taken_once_over_all_projects(admin, make):
    make("checkout")
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    for project in ("default", "shop"):
        answer = admin.post(f"/projects/{project}/features", {"name": "checkout"})
        assert error_of(answer) == (409, "NameExistsError")
    assert len(told(admin, "feature-created")) == 1


def test_an_archived_feature_keeps_its_name(admin, make):
    make("checkout")
    archive(admin, "checkout")
    assert error_of(admin.post(PATH, {"name": "checkout"})) == (409, "NameExistsError")


def test_no_feature_is_made_in_an_archived_project(app, admin):
    admin.ok("POST", "/projects", {"id": "old", "name": "Old"})
    with app.app_context(), unit_of_work(writes=True):
        projects.archive(COMMAND_LINE, projects.get_for_change(COMMAND_LINE, "old"))
    answer = admin.post("/projects/old/features", {"name": "checkout"})
    assert error_of(answer) == (409, "ConflictError")


def test_a_feature_is_read_in_its_own_project_alone(admin, make):
    make("checkout")
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    answer = admin.get("/projects/shop/features/checkout")
    assert error_of(answer) == (404, "NotFoundError")


def test_features_of_a_private_project_are_for_members_and_admins(admin, people, viewer):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop", "mode": "private"})
    admin.ok("POST", "/projects/shop/features", {"name": "secret"})
    for path in ("/projects/shop/features", "/projects/shop/features/secret"):
        people.member(f"mia{len(path)}", "shop").ok("GET", path)
        admin.ok("GET", path)
        hidden, unknown = viewer.get(path), viewer.get(path.replace("shop", "nowhere"))
        assert error_of(hidden) == error_of(unknown) == (404, "NotFoundError")
        assert hidden.json["message"].replace("shop", "nowhere") == unknown.json["message"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["checkout", "search", "theme"]),
        ("text=EARCH", ["search"]),
        ("text=dark", ["theme"]),
        ("text=%25", []),
        ("tag=red", ["checkout"]),
        ("tag=simple:red", ["checkout"]),
        ("tag=blue", []),
        ("withoutTag=red", ["search", "theme"]),
        ("type=experiment", ["search"]),
        ("stale=true", ["theme"]),
        ("stale=false", ["checkout", "search"]),
        ("archived=true", ["gone"]),
        ("stale=false&withoutTag=red", ["search"]),
        ("limit=1&offset=1", ["search"]),
    ],
)
def test_a_list_is_narrowed(admin, make, query, found):
    make("checkout", "gone")
    make("search", type="experiment")
    make("theme", stale=True, description="Dark colours")
    archive(admin, "gone")
    tags = {"addedTags": [{"value": "red"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", {"features": ["checkout", "gone"], "tags": tags})
    assert names_in(admin, query) == found


def test_a_list_has_a_total(admin, make):
    make("b", "a", "c")
    found = admin.ok("GET", f"{PATH}?limit=2")
    assert list(found) == ["version", "features", "total"]
    assert (found["version"], found["total"]) == (1, 3)
    assert [row["name"] for row in found["features"]] == ["a", "b"]


@pytest.mark.parametrize("bad", ["type=x", "stale=1", "archived=yes", "color=red"])
def test_a_filter_must_make_sense(admin, bad):
    assert list(problems_of(admin.get(f"{PATH}?{bad}"))) == [f"?{bad.split('=')[0]}"]


def test_who_may_create_features(editor, viewer, people, make):
    editor.ok("POST", PATH, {"name": "e"})
    people.member("mia", "default").ok("POST", PATH, {"name": "m"})
    assert error_of(viewer.post(PATH, {"name": "v"})) == (403, "NoAccessError")


# Dependencies


def test_a_child_and_its_parent_name_each_other(admin, make):
    make("parent", "b", "a")
    for child in ("a", "b"):
        answer = depend(admin, child, "parent")
        assert (answer.status_code, answer.data) == (200, b"")
    assert parents(admin, f"{PATH}/a") == ["parent"]
    assert admin.ok("GET", f"{PATH}/parent")["children"] == ["a", "b"]
    assert told(admin, "feature-dependency-added")[-1] == ("a", None, rule("parent"))


def test_nothing_depends_on_itself(admin, make):
    make("a")
    assert error_of(depend(admin, "a", "a")) == (409, "ConflictError")


def test_a_parent_has_no_parent(admin, make):
    make("a", "b", "c")
    admin.ok("POST", f"{PATH}/b/dependencies", {"feature": "a"})
    assert error_of(depend(admin, "c", "b")) == (409, "ConflictError")
    assert error_of(depend(admin, "a", "c")) == (409, "ConflictError")
    assert error_of(depend(admin, "a", "b")) == (409, "ConflictError")
    assert parents(admin, f"{PATH}/b") == ["a"]
    assert len(told(admin, "feature-dependency-added")) == 1


def test_a_new_parent_replaces_the_old(admin, make):
    make("child", "old", "new")
    depend(admin, "child", "old")
    depend(admin, "child", "new")
    assert parents(admin, f"{PATH}/child") == ["new"]
    assert admin.ok("GET", f"{PATH}/old")["children"] == []
    assert told(admin, "feature-dependency-removed") == [("child", rule("old"), None)]


def test_the_same_parent_again_tells_nothing(admin, make):
    make("child", "parent")
    assert [depend(admin, "child", "parent").status_code for _ in range(2)] == [200, 200]
    assert len(told(admin, "feature-dependency-added")) == 1


def test_both_must_be_of_the_project(admin, make):
    make("a")
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "theirs"})
    for child, parent in (("a", "theirs"), ("theirs", "a"), ("a", "nope"), ("nope", "a")):
        assert error_of(depend(admin, child, parent)) == (404, "NotFoundError")


def test_both_must_be_active(admin, make):
    make("a", "gone")
    archive(admin, "gone")
    for child, parent in (("a", "gone"), ("gone", "a")):
        assert error_of(depend(admin, child, parent)) == (409, "ConflictError")


@pytest.mark.parametrize("bad", [{}, {"feature": "a b"}, {"feature": None}])
def test_a_parent_is_named_by_a_feature_name(admin, make, bad):
    make("a")
    assert list(problems_of(admin.post(f"{PATH}/a/dependencies", bad))) == ["/feature"]


@pytest.mark.parametrize("path", ["/child/dependencies", "/child/dependencies/parent"])
def test_a_dependency_is_removed(admin, make, path):
    make("child", "parent")
    depend(admin, "child", "parent")
    answer = admin.delete(f"{PATH}{path}")
    assert (answer.status_code, answer.data) == (200, b"")
    assert parents(admin, f"{PATH}/child") == []
    assert told(admin, "feature-dependency-removed") == [("child", rule("parent"), None)]


def test_a_dependency_that_is_not_there_is_not_found_when_named(admin, make):
    make("child", "parent", "other")
    depend(admin, "child", "parent")
    answer = admin.delete(f"{PATH}/child/dependencies/other")
    assert error_of(answer) == (404, "NotFoundError")
    assert parents(admin, f"{PATH}/child") == ["parent"]
    assert admin.delete(f"{PATH}/other/dependencies").status_code == 200
    assert told(admin, "feature-dependency-removed") == []


def test_viewers_may_not_touch_dependencies(admin, viewer, make):
    make("child", "parent")
    depend(admin, "child", "parent")
    assert error_of(depend(viewer, "child", "parent")) == (403, "NoAccessError")
    assert error_of(viewer.delete(f"{PATH}/child/dependencies")) == (403, "NoAccessError")
    assert parents(admin, f"{PATH}/child") == ["parent"]


# What a parent must be


def link(client):
    [found] = client.ok("GET", f"{PATH}/child")["dependencies"]
    return found["feature"], found["enabled"], found["variants"]


def give(client, name, *variants, environment="production"):
    body = [{"name": each, "weightType": "variable"} for each in variants]
    client.ok("PUT", f"{PATH}/{name}/environments/{environment}/variants", body)


def test_a_child_can_need_a_variant_of_its_parent_or_that_it_is_off(admin, make):
    make("child", "parent", "other")
    give(admin, "parent", "blue", "red")
    path = f"{PATH}/child/dependencies"
    admin.ok("POST", path, {"feature": "parent", "variants": ["blue", "red"]})
    assert link(admin) == ("parent", True, ["blue", "red"])
    admin.ok("POST", path, {"feature": "parent", "enabled": False})
    assert link(admin) == ("parent", False, [])
    admin.ok("POST", path, {"feature": "other"})
    assert link(admin) == ("other", True, [])
    [_, changed, _] = reversed(told(admin, "feature-dependency-added"))
    assert changed == (
        "child",
        rule("parent") | {"variants": ["blue", "red"]},
        rule("parent") | {"enabled": False},
    )


def test_a_parent_that_must_be_off_has_no_variant(admin, make):
    make("child", "parent")
    body = {"feature": "parent", "enabled": False, "variants": ["blue"]}
    assert list(problems_of(admin.post(f"{PATH}/child/dependencies", body))) == ["/variants"]


def test_a_child_can_only_need_variants_that_its_parent_has_in_an_environment(admin, make):
    make("child", "parent")
    path = f"{PATH}/child/dependencies"
    body = {"feature": "parent", "variants": ["blue", "nope"]}
    none = "It has none. Leave variants empty."
    assert problems_of(admin.post(path, body)) == {
        "/variants/0": f"parent has no variant named 'blue'. {none}",
        "/variants/1": f"parent has no variant named 'nope'. {none}",
    }
    give(admin, "parent", "red")
    strategy = {"name": "flexibleRollout", "variants": [{"name": "blue"}]}
    admin.ok("POST", f"{PATH}/parent/environments/development/strategies", strategy)
    assert problems_of(admin.post(path, body)) == {
        "/variants/1": "parent has no variant named 'nope'. It has blue and red."
    }
    admin.ok("POST", path, {"feature": "parent", "variants": ["red", "blue"]})


def test_a_child_keeps_needing_a_variant_that_its_parent_lost(admin, make):
    make("child", "parent")
    give(admin, "parent", "blue", "red")
    body = {"feature": "parent", "variants": ["blue"]}
    admin.ok("POST", f"{PATH}/child/dependencies", body)
    give(admin, "parent", "red", "green")
    admin.ok("POST", f"{PATH}/child/dependencies", body)
    assert link(admin) == ("parent", True, ["blue"])
    more = {"feature": "parent", "variants": ["blue", "red"]}
    assert list(problems_of(admin.post(f"{PATH}/child/dependencies", more))) == ["/variants/0"]


def test_archiving_and_reviving_keep_what_a_parent_must_be(admin, make):
    make("child", "parent")
    give(admin, "parent", "blue")
    body = {"feature": "parent", "variants": ["blue"]}
    admin.ok("POST", f"{PATH}/child/dependencies", body)
    admin.ok("POST", "/projects/default/archive", {"features": ["child", "parent"]})
    admin.ok("POST", "/projects/default/revive-features", {"features": ["child", "parent"]})
    assert link(admin) == ("parent", True, ["blue"])
