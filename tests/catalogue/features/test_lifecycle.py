"""Features after their creation: changes, filters, the plan, the archive and the way back."""

import pytest

from tests.support.clients import ApiClient, error_of, problems_of
from tests.support.dependencies import parents_in

PROJECT = "/projects/default"
PATH = f"{PROJECT}/features"
PLAN = f"{PROJECT}/archive/plan"
EMPTY = {
    "archivable": [],
    "stillAskedFor": [],
    "blocked": {},
    "droppedDependencies": [],
    "alreadyArchived": [],
    "elsewhere": [],
    "unknown": [],
}


@pytest.fixture
def make(admin):
    """Makes active features of the default project."""

    def made(*names, **fields):
        for name in names:
            admin.ok("POST", PATH, {"name": name} | fields)

    return made


def depend(client, child, parent):
    client.ok("POST", f"{PATH}/{child}/dependencies", {"feature": parent})


def archive(client, *names):
    client.ok("POST", f"{PROJECT}/archive", {"features": list(names)})


def revive(client, *names):
    return client.ok("POST", f"{PROJECT}/revive-features", {"features": list(names)})["revived"]


def plan(client, *names):
    return client.ok("POST", PLAN, {"features": list(names)})


def read(client, name):
    return client.ok("GET", f"{PATH}/{name}")


def found(client, **query):
    answer = client.get(PATH, query_string=query)
    assert answer.json["total"] == len(answer.json["features"])
    return [row["name"] for row in answer.json["features"]]


def tag(client, name, type, value):
    change = {"addedTags": [{"type": type, "value": value}], "removedTags": []}
    client.ok("PUT", f"{PROJECT}/tags", {"features": [name], "tags": change})


def told(client, type):
    return [
        (event["featureName"], event["preData"], event["data"])
        for event in client.ok("GET", f"/events?type={type}")["events"]
    ]


# Changing


def test_a_field_that_is_named_changes_and_no_other(admin, make):
    make("cart")
    feature = read(admin, "cart")
    changes = {"type": "permission", "description": "x", "stale": True, "impressionData": True}
    for field, value in changes.items():
        answer = admin.put(f"{PATH}/cart", {field: value})
        assert (answer.status_code, answer.json) == (200, read(admin, "cart"))
        feature |= {field: value}
        assert read(admin, "cart") == feature


def test_a_description_is_cleared_by_null(admin, make):
    make("cart", description="x")
    admin.ok("PUT", f"{PATH}/cart", {"description": None})
    assert read(admin, "cart")["description"] is None


def test_what_was_read_can_be_sent_back_and_tells_nothing(admin, make):
    make("cart", "base")
    depend(admin, "cart", "base")
    tag(admin, "cart", "simple", "red")
    before = read(admin, "cart")
    admin.ok("PUT", f"{PATH}/cart", before)
    assert read(admin, "cart") == before
    assert told(admin, "feature-updated") == []


def test_a_change_is_recorded_with_before_and_after(admin, make):
    make("cart")
    admin.ok("PUT", f"{PATH}/cart", {"stale": True})
    [(name, before, after)] = told(admin, "feature-updated")
    assert (name, before["stale"], after["stale"]) == ("cart", False, True)


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "other"},
        {"type": "x"},
        {"type": None},
        {"stale": "true"},
        {"stale": None},
        {"description": "d" * 5_001},
        {"color": "red"},
    ],
)
def test_what_does_not_fit_is_refused(admin, make, bad):
    make("cart")
    before = read(admin, "cart")
    assert list(problems_of(admin.put(f"{PATH}/cart", bad))) == [f"/{field}" for field in bad]
    assert read(admin, "cart") == before


def test_an_archived_feature_is_read_but_not_changed(admin, make):
    make("cart")
    archive(admin, "cart")
    assert error_of(admin.put(f"{PATH}/cart", {"stale": True})) == (409, "ConflictError")
    assert read(admin, "cart")["stale"] is False


def test_a_feature_is_changed_in_its_own_project_alone(admin, make):
    make("cart")
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    for path in ("/projects/shop/features/cart", f"{PATH}/nowhere"):
        assert error_of(admin.put(path, {"stale": True})) == (404, "NotFoundError")


def test_members_change_features_and_viewers_do_not(people, viewer, make):
    make("cart")
    people.member("mia", "default").ok("PUT", f"{PATH}/cart", {"stale": True})
    assert error_of(viewer.put(f"{PATH}/cart", {"stale": False})) == (403, "NoAccessError")


# Filters


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("art", ["cart"]),
        ("CART", ["cart"]),
        ("half", ["sale"]),
        ("%", ["sale"]),
        ("50%", ["sale"]),
        ("_", ["new_ui"]),
        ("w_u", ["new_ui"]),
        ("\\", ["slash"]),
        ("c%t", []),
        ("ca_t", []),
        ("'", []),
    ],
)
def test_text_is_found_literally_in_the_name_or_description(admin, make, text, names):
    make("cart", "new_ui")
    make("sale", description="At half price: -50%")
    make("slash", description="a \\ b")
    assert found(admin, text=text) == names


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("team:red", ["one"]),
        ("red", ["two"]),
        ("simple:red", ["two"]),
        ("team:green", []),
        ("simple:a:b", ["two"]),
        ("team:%", []),
    ],
)
def test_a_tag_is_carried_or_not(admin, make, value, names):
    make("one", "two", "three")
    admin.ok("POST", "/tag-types", {"name": "team"})
    tag(admin, "one", "team", "red")
    tag(admin, "two", "simple", "red")
    tag(admin, "two", "simple", "a:b")
    everything = ["one", "three", "two"]
    assert found(admin, tag=value) == names
    assert found(admin, withoutTag=value) == [name for name in everything if name not in names]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"type": "experiment"}, ["trial"]),
        ({"type": "permission"}, []),
        ({"stale": "true"}, ["old"]),
        ({"stale": "false"}, ["fresh", "trial"]),
        ({"archived": "true"}, ["gone"]),
        ({"archived": "false"}, ["fresh", "old", "trial"]),
        ({"archived": "true", "stale": "true"}, []),
        ({"stale": "false", "type": "release"}, ["fresh"]),
    ],
)
def test_a_list_is_narrowed_by_state(admin, make, query, names):
    make("fresh", "gone")
    make("old", stale=True)
    make("trial", type="experiment")
    archive(admin, "gone")
    assert found(admin, **query) == names


# Plan


@pytest.fixture
def family(admin, make):
    """A parent p with the children c1 and c2; s is single, gone archived, theirs elsewhere."""
    make("p", "c1", "c2", "s", "gone")
    for child in ("c1", "c2"):
        depend(admin, child, "p")
    archive(admin, "gone")
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "theirs"})


def edge(child):
    return {"child": child, "parent": "p"}


@pytest.mark.parametrize(
    ("names", "differences"),
    [
        ([], {}),
        (["s"], {"archivable": ["s"]}),
        (["s", "s"], {"archivable": ["s"]}),
        (
            ["c2", "c1"],
            {"archivable": ["c1", "c2"], "droppedDependencies": [edge("c1"), edge("c2")]},
        ),
        (
            ["p", "c2"],
            {
                "archivable": ["c2"],
                "blocked": {"p": ["c1"]},
                "droppedDependencies": [edge("c1"), edge("c2")],
            },
        ),
        (
            ["p", "c2", "c1"],
            {
                "archivable": ["c1", "c2", "p"],
                "droppedDependencies": [edge("c1"), edge("c2")],
            },
        ),
        (["gone"], {"alreadyArchived": ["gone"]}),
        (["theirs"], {"elsewhere": ["theirs"]}),
        (["nowhere", "naught"], {"unknown": ["naught", "nowhere"]}),
    ],
)
def test_the_plan_names_what_would_become_of_each(admin, family, names, differences):
    assert plan(admin, *names) == EMPTY | differences


def test_planning_changes_nothing(admin, family):
    before = read(admin, "p"), read(admin, "c1"), admin.ok("GET", "/events")["total"]
    plan(admin, "p", "c1", "nowhere")
    assert (read(admin, "p"), read(admin, "c1"), admin.ok("GET", "/events")["total"]) == before


def test_features_of_hidden_projects_are_unknown(admin, people, family):
    admin.ok("PUT", "/projects/shop", {"name": "Shop", "mode": "private"})
    member = people.member("mia", "default")
    assert plan(member, "theirs", "nowhere") == EMPTY | {"unknown": ["nowhere", "theirs"]}
    id = people.person("both")
    for project in ("default", "shop"):
        people.join(id, project)
    both = ApiClient(people.app, people.token(id))
    assert plan(both, "theirs") == plan(admin, "theirs") == EMPTY | {"elsewhere": ["theirs"]}


def test_archiving_does_not_tell_a_hidden_feature_from_an_unknown_one(admin, people, family):
    admin.ok("PUT", "/projects/shop", {"name": "Shop", "mode": "private"})
    member = people.member("mia", "default")
    hidden, unknown = (
        member.post(f"{PROJECT}/archive", {"features": [name]}) for name in ("theirs", "nowhere")
    )
    assert error_of(hidden) == error_of(unknown) == (404, "NotFoundError")
    assert hidden.json["message"].replace("theirs", "nowhere") == unknown.json["message"]


def test_a_plan_that_blocks_nothing_is_carried_out_as_it_says(admin, family):
    planned = plan(admin, "p", "c1", "c2", "s")
    answer = admin.post(f"{PROJECT}/archive", {"features": ["p", "c1", "c2", "s"]})
    assert (answer.status_code, answer.data) == (202, b"")
    archived = found(admin, archived="true")
    assert [name for name in archived if name != "gone"] == planned["archivable"]
    dropped = [
        {"child": name, "parent": parent}
        for name, before, _ in reversed(told(admin, "feature-archived"))
        for parent in before["dependencies"]
    ]
    assert dropped == planned["droppedDependencies"]


# Reviving


def test_parent_and_children_come_back_together(admin, family):
    before = [read(admin, name) for name in ("p", "c1", "c2")]
    archive(admin, "p", "c1", "c2")
    assert revive(admin, "c2", "p", "c1") == ["c1", "c2", "p"]
    assert [read(admin, name) for name in ("p", "c1", "c2")] == before
    assert told(admin, "feature-revived")[-1] == ("c1", None, {"dependencies": ["p"]})


def test_a_child_comes_back_alone_while_its_parent_is_archived(admin, family):
    archive(admin, "p", "c1", "c2")
    assert revive(admin, "c1") == ["c1"]
    assert parents_in(read(admin, "c1")) == []
    revive(admin, "p")
    assert read(admin, "p")["children"] == []


def test_a_child_comes_back_alone_when_its_parent_became_a_child(admin, family):
    archive(admin, "c1", "c2")
    depend(admin, "p", "s")
    revive(admin, "c1")
    assert parents_in(read(admin, "c1")) == []
    assert parents_in(read(admin, "p")) == ["s"]


def test_those_who_come_back_together_stay_one_level_deep(admin, make):
    make("a", "b", "c")
    depend(admin, "a", "b")
    archive(admin, "a")
    depend(admin, "b", "c")
    archive(admin, "b")
    assert revive(admin, "a", "b") == ["a", "b"]
    rows = {name: read(admin, name) for name in "abc"}
    assert sum(len(parents_in(row)) for row in rows.values()) == 1
    assert not any(parents_in(row) and row["children"] for row in rows.values())


def test_a_revived_feature_keeps_its_tags_and_state(admin, make):
    make("cart", stale=True)
    tag(admin, "cart", "simple", "red")
    before = read(admin, "cart")
    archive(admin, "cart")
    revive(admin, "cart")
    assert read(admin, "cart") == before
