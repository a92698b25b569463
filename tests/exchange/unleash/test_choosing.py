"""Only some features of an Unleash come, with what they need and nothing else."""

import pytest

from tests.support.clients import problems_of
from tests.support.imports import finish, settled
from tests.support.unleash import TOKEN

pytestmark = pytest.mark.slow

SHOP = {"archived", "checkout", "constraints", "env-variants", "europe", "variants"}


def names(plan, kind):
    return {name for found in plan["names"].get(kind, {}).values() for name in found}


class Choosing:
    """An import, whose features are chosen in several ways."""

    def __init__(self, client, **source):
        self.client = client
        id = client.ok("POST", "/imports", source)["id"]
        self.path, self.id = f"/imports/{id}", id
        settled(client, id)

    def choose(self, **chosen):
        return self.client.ok("PATCH", self.path, {"chosen": chosen or None})["plan"]

    def problems(self, chosen):
        return problems_of(self.client.request("PATCH", self.path, json={"chosen": chosen}))


@pytest.fixture
def moving(admin, old):
    return Choosing(admin, url=old.url, token=TOKEN)


class TestAProject:
    def test_comes_with_what_it_needs_and_nothing_else(self, moving):
        plan = moving.choose(projects=["shop"])
        assert names(plan, "features") == {f"shop.{name}" for name in SHOP}
        assert names(plan, "projects") == {"shop"}
        assert names(plan, "segments") == {"Beta testers", "Nordic", "Shop only"}
        assert names(plan, "tagTypes") == {"colour", "simple"}
        assert names(plan, "defaultStrategies") == {"shop in development"}
        assert {"strategyTypes", "users", "browserOrigins"}.isdisjoint(plan["names"])
        assert plan["featuresThere"] == 23

    def test_brings_the_tokens_that_read_it_alone_and_names_those_that_can_not_come(self, moving):
        found = moving.choose(projects=["shop"])["names"]["sdkTokens"]
        assert found == {
            "new": ["backend", "shop dev", "web"],
            "impossible": ["secure shop (bA4w)"],
        }

    def test_is_imported_alone_and_undone(self, admin, moving):
        moving.choose(projects=["shop"])
        done = finish(admin, moving.id)
        assert (done["state"], done["chosen"]) == ("applied", {"projects": ["shop"]})
        assert names(done["plan"], "features") == {f"shop.{name}" for name in SHOP}
        features = admin.ok("GET", "/features?limit=1000")["features"]
        assert {feature["project"] for feature in features} == {"shop"}
        admin.ok("POST", f"{moving.path}/undo")
        assert admin.ok("GET", "/features")["features"] == []


class TestFeatures:
    def test_are_chosen_by_what_their_names_begin_with(self, moving):
        plan = moving.choose(prefix="old.")
        assert names(plan, "features") == {"old.strategies", "old.thing"}
        assert "sdkTokens" not in plan["names"]

    def test_bring_the_features_that_they_depend_on(self, moving):
        plan = moving.choose(names=["child.on"])
        assert names(plan, "features") == {"child.on", "parent.feature"}
        assert plan["parents"] == ["parent.feature"]

    def test_that_are_not_there_are_named_with_one_that_is_spelled_like_them(self, moving):
        plan = moving.choose(names=["shop.europe", "shop.chekcout", "zz", "zz"])
        assert names(plan, "features") == {"shop.europe"}
        assert plan["unknownNames"] == [
            {"name": "shop.chekcout", "similar": "shop.checkout"},
            {"name": "zz", "similar": None},
        ]

    def test_come_if_they_fit_all_that_was_chosen(self, moving):
        plan = moving.choose(projects=["shop"], prefix="shop.e", names=["shop.europe", "child.on"])
        assert names(plan, "features") == {"shop.europe"}

    def test_leave_out_kinds_that_are_not_to_come(self, admin, moving):
        moving.choose(names=["shop.constraints"])
        admin.ok("PATCH", moving.path, {"leftOut": ["contextFields"]})
        plan = admin.ok("GET", moving.path)["plan"]
        assert plan["number"] < sum(len(names(plan, kind)) for kind in plan["names"])
        [entry] = [e for e in plan["attention"] if e["name"] == "shop.constraints"]
        assert "There is no context field named" in str(entry["faults"])

    def test_all_come_again_once_nothing_is_chosen(self, moving):
        before = moving.choose()
        moving.choose(prefix="old.")
        assert moving.choose() == before


@pytest.mark.parametrize(
    ("chosen", "path", "message"),
    [
        ({}, "/chosen", "Give projects, prefix or names."),
        ({"projects": []}, "/chosen/projects", "Name at least one project."),
        ({"names": []}, "/chosen/names", "Name at least one feature."),
        (
            {"names": ["x"] * 50_001},
            "/chosen/names",
            "Must have at most 50,000 items; split the request into several.",
        ),
        ({"prefix": " "}, "/chosen/prefix", "Enter 1 to 100 characters."),
        (
            {"projects": ["default", "shopp"]},
            "/chosen/projects/1",
            "There is no project 'shopp' in what was read. Did you mean 'shop'?",
        ),
        (
            {"prefix": "zz", "projects": ["shop"]},
            "/chosen/prefix",
            "No feature in shop has a name that begins with 'zz'.",
        ),
        (
            {"names": ["shop.chekcout"]},
            "/chosen/names",
            "No feature there is named 'shop.chekcout'. Did you mean 'shop.checkout'?",
        ),
    ],
)
def test_what_nothing_fits_is_refused_where_it_says_so(moving, chosen, path, message):
    assert moving.problems(chosen) == {path: message}


def test_a_feature_that_can_not_be_read_belongs_to_its_project_all_the_same(admin):
    faulty = {"description": "x" * 5_001}
    features = [{"name": name, "project": name, **faulty} for name in ("here", "elsewhere")]
    plan = Choosing(admin, content={"features": features}).choose(projects=["here"])
    assert plan["names"]["features"] == {"impossible": ["here"]}


def test_what_changed_is_known_after_another_part_was_imported(admin, old, moving):
    finish(admin, moving.id)
    admin.ok("PUT", "/projects/default/features/child.on", {"description": "Here"})
    other = Choosing(admin, url=old.url, token=TOKEN)
    other.choose(projects=["shop"])
    finish(admin, other.id)
    plan = Choosing(admin, url=old.url, token=TOKEN).choose(names=["child.on"])
    assert [entry["since"] for entry in plan["attention"]] == ["here"]
