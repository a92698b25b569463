"""Cloning a feature, and variants of several environments at once."""

import pytest

from tests.support.clients import error_of, problems_of

FEATURES = "/projects/default/features"
ROLLOUT = {"rollout": "25", "stickiness": "userId", "groupId": "cart"}
BLUE = {"name": "blue", "weight": 1000, "weightType": "variable", "stickiness": "default"}


@pytest.fixture(autouse=True)
def cart(admin):
    cart = {"name": "cart", "type": "experiment", "description": "Pays", "stale": True}
    admin.ok("POST", FEATURES, cart)
    for environment, title in (("production", "Some"), ("production", "More")):
        strategy = {"name": "flexibleRollout", "title": title, "parameters": ROLLOUT}
        path = f"{FEATURES}/cart/environments/{environment}/strategies"
        admin.ok("POST", path, strategy)
    admin.ok("POST", f"{FEATURES}/cart/environments/production/on")


def place(client, name, environment="production"):
    return client.ok("GET", f"{FEATURES}/{name}/environments/{environment}")


def test_a_clone_has_the_settings_strategies_and_variants_and_is_off(admin):
    admin.ok("PUT", f"{FEATURES}/cart/environments/production/variants", [BLUE])
    answer = admin.post(f"{FEATURES}/cart/clone", {"name": "cart-2"})
    assert (answer.status_code, answer.json["type"], answer.json["description"]) == (
        201,
        "experiment",
        "Pays",
    )
    assert admin.ok("GET", answer.headers["Location"])["stale"] is False
    clone = place(admin, "cart-2")
    assert (clone["enabled"], [each["title"] for each in clone["strategies"]]) == (
        False,
        ["Some", "More"],
    )
    assert {each["parameters"]["groupId"] for each in clone["strategies"]} == {"cart-2"}
    assert [variant["name"] for variant in clone["variants"]] == ["blue"]
    assert place(admin, "cart")["enabled"] is True


def test_a_clone_can_keep_the_group_that_rollouts_go_by(admin):
    admin.ok("POST", f"{FEATURES}/cart/clone", {"name": "cart-2", "replaceGroupId": False})
    groups = {each["parameters"]["groupId"] for each in place(admin, "cart-2")["strategies"]}
    assert groups == {"cart"}


def test_a_clone_depends_on_the_parent_of_the_original(admin):
    admin.ok("POST", FEATURES, {"name": "shop"})
    rule = {"feature": "shop", "enabled": False}
    admin.ok("POST", f"{FEATURES}/cart/dependencies", rule)
    admin.ok("POST", f"{FEATURES}/cart/clone", {"name": "cart-2"})
    [parent] = admin.ok("GET", f"{FEATURES}/cart-2")["dependencies"]
    assert (parent["feature"], parent["enabled"]) == ("shop", False)


def test_a_name_that_is_taken_clones_nothing(admin):
    admin.ok("POST", FEATURES, {"name": "cart-2"})
    refused = admin.post(f"{FEATURES}/cart/clone", {"name": "cart-2"})
    assert error_of(refused) == (409, "NameExistsError")
    assert place(admin, "cart-2")["strategies"] == []


def test_an_archived_feature_is_not_cloned(admin):
    admin.ok("DELETE", f"{FEATURES}/cart")
    refused = admin.post(f"{FEATURES}/cart/clone", {"name": "cart-2"})
    assert error_of(refused) == (409, "ConflictError")


def test_variants_are_patched_and_their_weights_completed(admin):
    path = f"{FEATURES}/cart/environments/production/variants"
    admin.ok("PUT", path, [BLUE])
    red = {"name": "red", "weight": 300, "weightType": "fix", "stickiness": "default"}
    found = admin.ok("PATCH", path, [{"op": "add", "path": "/1", "value": red}])["variants"]
    assert {each["name"]: each["weight"] for each in found} == {"blue": 700, "red": 300}
    refused = admin.request("PATCH", path, json=[{"op": "remove", "path": "/7"}])
    assert "/0" in problems_of(refused)


def test_variants_of_several_environments_are_all_replaced_or_none(admin):
    path = f"{FEATURES}/cart/variants-batch"
    admin.ok("PUT", path, {"environments": ["development", "production"], "variants": [BLUE]})
    for environment in ("development", "production"):
        assert [each["name"] for each in place(admin, "cart", environment)["variants"]] == ["blue"]
    bad = {"environments": ["development", "nowhere"], "variants": []}
    assert error_of(admin.put(path, bad)) == (404, "NotFoundError")
    assert place(admin, "cart", "development")["variants"] != []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "variants-batch", {"environments": ["production"], "variants": [BLUE]}),
        ("PATCH", "environments/production/variants", [{"op": "add", "path": "/0", "value": BLUE}]),
    ],
)
def test_where_changes_need_approval_these_need_it_too(admin, people, method, path, body):
    approvals = [{"name": "production", "requiredApprovals": 1}]
    body_of_project = {"environments": ["development", "production"]}
    body_of_project["changeRequestEnvironments"] = approvals
    admin.ok("PUT", "/projects/default/environments", body_of_project)
    kim = people.member("kim", "default", "Member")
    assert kim.request(method, f"{FEATURES}/cart/{path}", json=body).status_code in {403, 409}
    assert place(admin, "cart")["variants"] == []


def test_a_project_does_not_lose_a_guarded_environment_without_approval(admin, people):
    guarded = {"environments": ["development", "production"]}
    guarded["changeRequestEnvironments"] = [{"name": "production", "requiredApprovals": 1}]
    admin.ok("PUT", "/projects/default/environments", guarded)
    owner = people.member("kim", "default", "Owner")
    refused = owner.delete("/projects/default/environments/production")
    assert refused.status_code in {403, 409}
    assert "production" in admin.ok("GET", "/projects/default")["environments"]
