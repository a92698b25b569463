"""An instance becomes what a file says: the plan names exactly what changes, and twice is once."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings

from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work
from app.core.errors import Conflict, Invalid
from app.exchange.documents import (
    files,
    reading,
    reading_features,
    schemas_files,
    service,
    words,
    writing_features,
)
from app.exchange.documents.documents import Kind, digest, to_file
from app.exchange.documents.plans import Status
from tests.exchange.documents.documents import contents
from tests.support.instances import reset_database

pytestmark = pytest.mark.slow

EVERY = settings(
    max_examples=int(os.environ.get("EXAMPLES", "6")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def wanted(content):
    return schemas_files.wanted(files.parse(json.dumps(content).encode()))


def plan(content):
    with unit_of_work(writes=False):
        return service.plan(wanted(content))


def apply(content, **options):
    with unit_of_work(writes=True):
        return service.apply(COMMAND_LINE, wanted(content), cause="Applied from a test", **options)


def export():
    with unit_of_work(writes=False):
        return to_file(service.export(COMMAND_LINE))


def things(document):
    """Everything of a document by its kind and name, as it was written."""
    return {
        (kind, item.get("id") or item.get("name") or str(item)): item
        for kind, items in document.items()
        if isinstance(items, list)
        for item in items
        if isinstance(item, dict)
    }


@EVERY
@given(first=contents(), second=contents())
def test_the_plan_names_exactly_what_applying_changes(app, first, second):
    with app.app_context():
        reset_database()
        apply(first)
        before = things(export())
        planned = plan(second)
        assert plan(second).digest == planned.digest
        assert things(export()) == before
        if planned.is_impossible:
            with pytest.raises(Invalid):
                apply(second)
            assert things(export()) == before
            return
        apply(second, shown=planned.digest)
        after = things(export())
        changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
        named = {
            (entry.kind.value, entry.name)
            for entry in planned.written
            if entry.kind is not Kind.TAGS
        }
        assert {key for key in changed if key[0] != "tags"} == named


@EVERY
@given(content=contents())
def test_applying_twice_is_applying_once(app, content):
    with app.app_context():
        reset_database()
        apply(content)
        once = export()
        second = plan(content)
        assert [entry.key for entry in second.written] == []
        apply(content)
        assert export() == once


@EVERY
@given(content=contents())
def test_an_export_applied_to_an_empty_instance_gives_the_same_bytes(app, content):
    with app.app_context():
        reset_database()
        apply(content)
        with unit_of_work(writes=False):
            document = reading.whole()
        texts = [files.as_yaml(document), files.as_json(document)]
        for text in texts:
            reset_database()
            apply(files.parse(text.encode()))
            with unit_of_work(writes=False):
                again = reading.whole()
            assert [files.as_yaml(again), files.as_json(again)] == texts


@EVERY
@given(first=contents(), second=contents())
def test_guarded_environments_are_never_changed_directly(app, first, second):
    guarded = {"production": 1}
    with app.app_context():
        reset_database()
        apply(first)
        for project in first["projects"]:
            project["approvals"] = guarded
        apply(first | {"features": []})
        before = states(revived(export()))
        for project in second["projects"]:
            project["approvals"] = guarded
        planned = plan(second)
        if planned.is_impossible:
            return
        done = apply(second)
        assert states(export()) == before
        assert bool(done.result.change_requests) == any(e.proposed for e in done.plan.written)


def revived(document):
    """The document as if all features were active: what is revived is off everywhere."""
    for feature in document.get("features", ()):
        if feature.pop("archived", False):
            for state in feature.get("environments", {}).values():
                state.pop("enabled", None)
            feature["environments"] = {
                n: s for n, s in feature.get("environments", {}).items() if s
            }
    return document


def states(document):
    """What applications get in production of the features that are on there."""
    return {
        feature["name"]: (state, feature.get("parent"), feature.get("impressionData"))
        for feature in document.get("features", ())
        if not feature.get("archived")
        for state in [feature.get("environments", {}).get("production", {})]
        if state.get("enabled")
    }


class TestAFile:
    def test_with_a_mistake_is_refused_with_its_place_and_name(self, app):
        content = {"version": 1, "features": [{"name": "a", "project": "default", "typ": "x"}]}
        with app.app_context(), pytest.raises(Invalid) as refused:
            plan(content)
        assert refused.value.details == [
            {"path": "/features/0/typ", "message": "(a) Unknown field."}
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (b"version: 1\nversion: 2\n", "the key 'version' is there twice at line 2"),
            (b'{"version": 1,}', "not JSON"),
            (b"features: []\n", "must be an object with version: 1"),
            (b"\xff", "not UTF-8"),
            (b"a: [", "not YAML"),
            (b"version: 1\nsdkTokens: []\n", "Unknown kind of thing"),
        ],
    )
    def test_that_is_none_says_why(self, app, text, message):
        with app.app_context(), pytest.raises(Invalid) as refused:
            schemas_files.wanted(files.parse(text))
        assert message in refused.value.message

    def test_can_leave_out_whatever_has_its_usual_value(self, app):
        strategy = {"name": "flexibleRollout"}
        production = {"enabled": True, "strategies": [strategy]}
        feature = {"name": "a", "project": "default", "environments": {"production": production}}
        with app.app_context():
            apply({"version": 1, "features": [feature]})
            [[_, found]] = reading_features.features(names=["a"])
        [strategy] = found["environments"]["production"]["strategies"]
        assert strategy["parameters"] == {
            "groupId": "a",
            "rollout": "100",
            "stickiness": "default",
        }

    def test_names_what_can_not_be_done_and_then_does_nothing(self, app):
        features = [
            {"name": "a", "project": "default"},
            {"name": "b", "project": "nowhere", "tags": ["unheard:of"]},
        ]
        with app.app_context():
            found = plan({"version": 1, "features": features})
            [entry] = [e for e in found.entries if e.status is Status.IMPOSSIBLE]
            assert [str(fault) for fault in entry.faults] == [
                "project: There is no project with the id 'nowhere'.",
                "tags: There is no tag type named 'unheard'.",
            ]
            with pytest.raises(Conflict):
                service.refuse_impossible(found)

    def test_names_variants_that_a_parent_does_not_have_unless_the_child_needs_them_here(self, app):
        share = {"weight": 1000, "weightType": "variable", "stickiness": "default"}
        blue = {"production": {"variants": [{"name": "blue", **share}]}}
        parent = {"name": "parent", "project": "default"}
        child = {"name": "child", "project": "default", "description": "Old"}
        child["parent"] = {"feature": "parent", "variants": ["blue"]}
        with app.app_context():
            [entry] = plan({"version": 1, "features": [child, parent]}).reported[1:]
            assert [str(fault) for fault in entry.faults] == [
                "parent: parent has no variant named 'blue'. It has none. Leave variants empty."
            ]
            apply({"version": 1, "features": [child, parent | {"environments": blue}]})
            there = export()
            for feature in there["features"]:
                feature.get("environments", {}).clear()
            apply(there)
            exported = export()
            assert not plan(exported).reported
            [old] = [each for each in exported["features"] if each["name"] == "child"]
            apply({"version": 1, "features": [old | {"description": "New"}]})
            [[_, found]] = reading_features.features(names=["child"])
        assert (found["description"], found["parent"]["variants"]) == ("New", ["blue"])

    def test_brings_members_and_accounts(self, app):
        content = {
            "version": 1,
            "users": [{"username": "ada", "rootRole": "Editor"}],
            "serviceAccounts": [{"username": "robot", "rootRole": "Viewer"}],
            "projects": [
                {
                    "id": "shop",
                    "name": "Shop",
                    "environments": ["production"],
                    "members": {"ada": "Owner", "robot": "Member"},
                }
            ],
        }
        with app.app_context():
            apply(content)
            [project] = [p for p in export()["projects"] if p["id"] == "shop"]
        assert project["members"] == {"ada": "Owner", "robot": "Member"}


def test_what_needs_approval_is_left_for_the_change_request(app):
    content = {
        "version": 1,
        "projects": [
            {
                "id": "default",
                "name": "Default",
                "environments": ["development", "production"],
                "approvals": {"production": 1},
            }
        ],
    }
    feature = {"name": "a", "project": "default"}
    on = {"enabled": True, "strategies": [{"name": "default"}]}
    with app.app_context():
        apply(content)
        there = feature | {"environments": {"development": on, "production": on}}
        done = apply(content | {"features": [there]})
        [entry] = done.plan.written
        assert entry.proposed == ["production"]
        assert set(writing_features.direct(entry)["environments"]) == {"development"}
        assert len(done.result.change_requests) == 1


def test_lowering_approvals_is_proposed_and_what_ends_them_otherwise_is_refused(app):
    shop = {"id": "shop", "name": "Shop", "environments": ["development", "production"]}

    def project(**fields):
        return {"version": 1, "projects": [shop | {"approvals": {"production": 2}} | fields]}

    def here():
        return next(project for project in export()["projects"] if project["id"] == "shop")

    with app.app_context():
        apply(project())
        done = apply(project(name="Web shop", approvals={"production": 1}))
        assert [entry.proposed for entry in done.plan.written] == [["production"]]
        assert words.proposals(done.plan.written) == "fewer approvals in production of shop"
        assert len(done.result.change_requests) == 1
        assert (here()["name"], here()["approvals"]) == ("Web shop", {"production": 2})
        for fields in ({"environments": ["development"]}, {"archived": True}):
            made = plan(project(**fields))
            assert [entry.status for entry in made.entries] == [Status.IMPOSSIBLE]


def test_what_an_older_version_has_read_is_applied_without_links(app):
    with app.app_context(), unit_of_work(writes=True):
        read = wanted({"version": 1, "features": [{"name": "cart", "project": "default"}]})
        del read.document[Kind.FEATURES]["cart"]["links"]
        service.apply(COMMAND_LINE, read, cause="Applied from a test")
        item = dict(reading_features.features(names=["cart"]))["cart"]
        assert item.pop("links") == []
        assert digest(item | {"links": []}) == digest(item)
