"""Adding and removing tags on several features at once."""

import pytest
import sqlalchemy as sa

from app.catalogue.features.models import Feature, FeatureType
from app.catalogue.tags.models import FeatureTag, TagType
from app.core.clock import utcnow
from app.core.db import db, insert_all, unit_of_work
from tests.support.clients import error_of, problems_of

PATH = "/projects/default/tags"
FEATURES = "/projects/default/features"


@pytest.fixture
def one(admin):
    admin.ok("POST", FEATURES, {"name": "one"})
    return "one"


@pytest.fixture
def two(admin):
    admin.ok("POST", FEATURES, {"name": "two"})
    return "two"


@pytest.fixture
def team(app):
    """A tag type beside the one that there always is."""
    with app.app_context(), unit_of_work(writes=True):
        db.session.add(TagType(name="team"))
    return "team"


def tag(value, type="simple"):
    return {"type": type, "value": value}


def change(features, added=(), removed=()):
    return {
        "features": list(features),
        "tags": {"addedTags": list(added), "removedTags": list(removed)},
    }


def tags_of(client, name):
    found = client.ok("GET", f"{FEATURES}/{name}")["tags"]
    return [(tag["type"], tag["value"]) for tag in found]


def all_tags(client):
    return [(row["type"], row["value"], row["used"]) for row in client.ok("GET", "/tags")["tags"]]


def told(client):
    return client.ok("GET", "/events?type=feature-tags-changed")["events"]


def test_it_answers_without_a_body(admin, one):
    answer = admin.put(PATH, change([one], [tag("a")]))
    assert (answer.status_code, answer.data) == (200, b"")


def test_all_features_get_and_lose_the_tags(admin, one, two):
    admin.ok("PUT", PATH, change([one, two], [tag("a"), tag("b")]))
    assert tags_of(admin, one) == tags_of(admin, two) == [("simple", "a"), ("simple", "b")]
    admin.ok("PUT", PATH, change([one, two], [tag("c")], [tag("a")]))
    assert tags_of(admin, one) == tags_of(admin, two) == [("simple", "b"), ("simple", "c")]


def test_other_features_and_tags_are_left_alone(admin, one, two):
    admin.ok("PUT", PATH, change([one, two], [tag("a"), tag("b")]))
    admin.ok("PUT", PATH, change([one], [], [tag("a")]))
    assert tags_of(admin, one) == [("simple", "b")]
    assert tags_of(admin, two) == [("simple", "a"), ("simple", "b")]


def test_order_and_repetition_do_not_matter(admin, one, two):
    admin.ok("PUT", PATH, change([two, one, two], [tag("b"), tag("a"), tag("b")]))
    assert tags_of(admin, one) == tags_of(admin, two) == [("simple", "a"), ("simple", "b")]
    admin.ok("PUT", PATH, change([one, one], [], [tag("a"), tag(" a "), tag("a")]))
    assert tags_of(admin, one) == [("simple", "b")]
    assert len(told(admin)) == 3


def test_without_a_type_a_tag_is_simple(admin, one):
    admin.ok("PUT", PATH, change([one], [{"value": "a"}]))
    assert tags_of(admin, one) == [("simple", "a")]
    admin.ok("PUT", PATH, change([one], [], [{"value": "a"}]))
    assert tags_of(admin, one) == []


def test_one_value_may_stand_under_two_types(admin, one, team):
    admin.ok("PUT", PATH, change([one], [tag("a"), tag("a", team)]))
    admin.ok("PUT", PATH, change([one], [], [tag("a")]))
    assert tags_of(admin, one) == [(team, "a")]


def test_values_differ_by_case(admin, one):
    admin.ok("PUT", PATH, change([one], [tag("a"), tag("A")]))
    assert set(tags_of(admin, one)) == {("simple", "a"), ("simple", "A")}


def test_values_are_trimmed_and_have_up_to_50_characters(admin, one):
    admin.ok("PUT", PATH, change([one], [tag(f"  {'é' * 50}\t")]))
    assert tags_of(admin, one) == [("simple", "é" * 50)]


def test_no_other_value_is_taken(admin, one, subtests):
    for bad in ("", "   ", "v" * 51, 5, None, "a\nb"):
        for part in ("addedTags", "removedTags"):
            with subtests.test(bad=bad, part=part):
                body = change([one])
                body["tags"][part] = [tag("good"), tag(bad)]
                assert list(problems_of(admin.put(PATH, body))) == [f"/tags/{part}/1/value"]
                assert all_tags(admin) == []


def test_an_unknown_type_is_refused_where_it_stands(admin, one):
    body = change([one], [tag("a"), tag("a"), tag("b", "no")], [tag("c", "nor")])
    problems = problems_of(admin.put(PATH, body))
    assert list(problems) == ["/tags/addedTags/2/type", "/tags/removedTags/0/type"]
    assert "no" in problems["/tags/addedTags/2/type"]
    assert all_tags(admin) == []
    assert told(admin) == []


@pytest.mark.parametrize("also", [tag("a"), {"value": " a"}])
def test_a_tag_in_both_lists_is_refused(admin, one, also):
    answer = admin.put(PATH, change([one], [tag("a"), tag("b")], [also]))
    assert list(problems_of(answer)) == ["/tags"]
    assert all_tags(admin) == []


def test_what_does_not_fit_is_refused(admin, one, subtests):
    for body, path in (
        ({}, "/features"),
        ({"features": []}, "/features"),
        ({"features": "one"}, "/features"),
        ({"features": ["one", "a b"]}, "/features/1"),
        ({"features": ["one", 5]}, "/features/1"),
        ({"tags": None}, "/tags"),
        ({"tags": {"addedTags": []}}, "/tags/removedTags"),
        ({"tags": {"removedTags": []}}, "/tags/addedTags"),
        ({"tags": {"addedTags": ["a"], "removedTags": []}}, "/tags/addedTags/0"),
        ({"tags": {"addedTags": [{}], "removedTags": []}}, "/tags/addedTags/0/value"),
        ({"tags": {"addedTags": [], "removedTags": [], "more": 1}}, "/tags/more"),
    ):
        with subtests.test(body=body, path=path):
            sent = change([one]) | body if body else {"tags": change([])["tags"]}
            assert list(problems_of(admin.put(PATH, sent))) == [path]


def test_every_problem_is_named(admin, one):
    answer = admin.put(PATH, change([one, "/"], [tag(""), tag("x" * 51)], [tag(1)]))
    assert set(problems_of(answer)) == {
        "/features/1",
        "/tags/addedTags/0/value",
        "/tags/addedTags/1/value",
        "/tags/removedTags/0/value",
    }


def test_unknown_features_are_named_and_nothing_is_done(admin, one):
    answer = admin.put(PATH, change([one, "nope", "nada"], [tag("a")]))
    assert error_of(answer) == (404, "NotFoundError")
    assert "nada, nope" in answer.json["message"]
    assert tags_of(admin, one) == []
    assert all_tags(admin) == []
    assert told(admin) == []


def test_at_most_20_unknown_features_are_named_then_counted(admin, one):
    names = [f"f{number:02}" for number in range(25)]
    message = admin.put(PATH, change([one, *names], [tag("a")])).json["message"]
    assert [name in message for name in names] == [True] * 20 + [False] * 5
    assert "5 more" in message


def test_a_feature_of_another_project_does_not_exist_here(admin, one):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "theirs"})
    answer = admin.put(PATH, change([one, "theirs"], [tag("a")]))
    assert error_of(answer) == (404, "NotFoundError")
    assert "theirs" in answer.json["message"]
    assert all_tags(admin) == []


def test_names_of_features_differ_by_case(admin, one):
    assert error_of(admin.put(PATH, change(["One"]))) == (404, "NotFoundError")


def test_archived_features_may_be_tagged(admin, one, two):
    admin.ok("PUT", PATH, change([one], [tag("a")]))
    admin.ok("POST", "/projects/default/archive", {"features": [one]})
    admin.ok("PUT", PATH, change([one, two], [tag("b")], [tag("a")]))
    assert tags_of(admin, one) == tags_of(admin, two) == [("simple", "b")]


def test_adding_what_is_there_and_removing_what_is_not_does_nothing(admin, one):
    admin.ok("PUT", PATH, change([one], [tag("a")]))
    for nothing in (change([one], [tag("a")]), change([one], [], [tag("b")]), change([one])):
        admin.ok("PUT", PATH, nothing)
    assert tags_of(admin, one) == [("simple", "a")]
    assert all_tags(admin) == [("simple", "a", 1)]
    assert len(told(admin)) == 1


def test_a_tag_is_created_once(admin, one, two):
    for name in (one, two):
        admin.ok("PUT", PATH, change([name], [tag("a")]))
    assert all_tags(admin) == [("simple", "a", 2)]


def test_a_changed_feature_is_recorded_once_and_an_unchanged_one_never(admin, one, two):
    admin.ok("PUT", PATH, change([one], [tag("a"), tag("x")]))
    admin.ok("PUT", PATH, change([two], [tag("b")]))
    admin.ok("POST", FEATURES, {"name": "three"})
    admin.ok("PUT", PATH, change([one, two, "three"], [tag("b"), tag("c")], [tag("x")]))
    batch = told(admin)[0]["batchId"]
    events = {
        event["featureName"]: event["data"]
        for event in admin.ok("GET", f"/events?batch={batch}")["events"]
    }
    assert events == {
        "one": {"added": [tag("b"), tag("c")], "removed": [tag("x")]},
        "two": {"added": [tag("c")], "removed": []},
        "three": {"added": [tag("b"), tag("c")], "removed": []},
    }
    admin.ok("PUT", PATH, change([one, two, "three"], [tag("c")], [tag("b")]))
    admin.ok("PUT", PATH, change([two], [tag("c"), tag("d")]))
    assert told(admin)[0]["featureName"] == "two"
    assert told(admin)[0]["data"] == {"added": [tag("d")], "removed": []}


def test_an_event_names_project_and_actor_and_has_a_batch_of_its_own(admin, one):
    admin.ok("PUT", PATH, change([one], [tag("a")]))
    admin.ok("PUT", PATH, change([one], [tag("b")]))
    second, first = told(admin)
    assert (first["project"], first["createdBy"]) == ("default", "admin")
    assert first["batchId"] != second["batchId"]


@pytest.mark.slow
def test_5000_features_times_20_tags(app, admin):
    names = [f"f{number}" for number in range(5_000)]
    with app.app_context(), unit_of_work(writes=True):
        common = {"project_id": "default", "type": FeatureType.RELEASE, "created_at": utcnow()}
        rest = {"stale": False, "impression_data": False}
        insert_all([{"name": name} | common | rest for name in names], Feature)
    added = [tag(f"t{number}") for number in range(20)]
    admin.ok("PUT", PATH, change(names, added))
    assert pairs(app) == 100_000
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.text("ANALYZE"))  # PostgreSQL does so by itself, a minute later
    assert admin.ok("GET", "/events?type=feature-tags-changed&limit=1")["total"] == 5_000
    admin.ok("PUT", PATH, change(names, [], added))
    assert pairs(app) == 0


def pairs(app):
    with app.app_context():
        return db.session.scalar(sa.select(sa.func.count()).select_from(FeatureTag))


@pytest.mark.parametrize("role", ["Owner", "Member"])
def test_members_of_the_project_may(admin, people, one, role):
    admin.ok("PUT", "/projects/default", {"name": "Default", "mode": "protected"})
    people.member("mia", "default", role).ok("PUT", PATH, change([one], [tag("a")]))


def test_an_editor_may_in_the_default_project_while_it_is_open(admin, editor, one):
    editor.ok("PUT", PATH, change([one], [tag("a")]))
    for mode in ("protected", "private"):
        admin.ok("PUT", "/projects/default", {"name": "Default", "mode": mode})
        assert error_of(editor.put(PATH, change([one], [tag("b")]))) == (403, "NoAccessError")
    assert tags_of(admin, one) == [("simple", "a")]


def test_others_may_not_and_do_not_learn_what_exists(viewer, editor, one):
    for client, path in ((viewer, PATH), (editor, "/projects/nowhere/tags")):
        refusal = client.put(path, change([one], [tag("a")]))
        assert error_of(refusal) == (403, "NoAccessError")
        assert "UPDATE_FEATURE" in refusal.json["message"]


def test_a_member_of_one_project_may_not_in_another(admin, people, one):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    client = people.member("mia", "shop")
    assert error_of(client.put(PATH, change([one], [tag("a")]))) == (403, "NoAccessError")


def test_an_unknown_project_is_not_found_by_an_admin(admin):
    answer = admin.put("/projects/nowhere/tags", change(["one"]))
    assert error_of(answer) == (404, "NotFoundError")


def test_strangers_may_not(stranger, one):
    assert error_of(stranger.put(PATH, change([one]))) == (401, "AuthenticationRequired")


def test_another_content_type_is_refused(admin, one):
    answer = admin.put(PATH, data="{}", content_type="text/json")
    assert error_of(answer) == (415, "ContentTypeerror")
