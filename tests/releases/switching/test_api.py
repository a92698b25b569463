"""Switching features on and off, and the promise that one that is on has a strategy."""

import pytest

from tests.support.clients import error_of

FEATURES = "/projects/default/features"
BULK = "/projects/default/bulk_features/environments"


@pytest.fixture
def cart(admin):
    admin.ok("POST", FEATURES, {"name": "cart"})
    return f"{FEATURES}/cart/environments/production"


@pytest.fixture
def three(admin):
    names = ["a", "b", "c"]
    for name in names:
        admin.ok("POST", FEATURES, {"name": name})
    return names


@pytest.fixture
def guarded(admin):
    admin.ok("POST", "/projects", {"id": "pay", "name": "Pay"})
    rules = [{"name": "production", "requiredApprovals": 2}]
    body = {"environments": ["development", "production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/pay/environments", body)
    admin.ok("POST", "/projects/pay/features", {"name": "card"})
    return "/projects/pay/features/card/environments"


def states(client, name="cart", project="default"):
    feature = client.ok("GET", f"/projects/{project}/features/{name}")
    return {each["name"]: each["enabled"] for each in feature["environments"]}


def strategies(client, path):
    return client.ok("GET", f"{path}/strategies")


def recorded(client, type):
    return client.ok("GET", f"/events?type={type}")["events"]


def test_a_new_feature_is_off_in_every_environment_of_its_project(admin, cart):
    feature = admin.ok("GET", f"{FEATURES}/cart")
    assert feature["environments"] == [
        {
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
        },
        {
            "name": "production",
            "type": "production",
            "enabled": False,
            "sortOrder": 2,
            "lastSeenAt": None,
            "strategies": [],
            "variants": [],
            "variantCount": 0,
            "hasStrategies": False,
            "hasEnabledStrategies": False,
            "yes": 0,
            "no": 0,
        },
    ]
    alone = {"name": "cart", "featureName": "cart", "environment": "production"}
    assert admin.ok("GET", cart) == feature["environments"][1] | alone


def test_switching_on_without_a_strategy_adds_the_default_one(admin, cart):
    answer = admin.post(f"{cart}/on")
    assert (answer.status_code, answer.json["name"]) == (200, "cart")
    assert states(admin) == {"development": False, "production": True}
    [strategy] = strategies(admin, cart)
    assert strategy["name"] == "flexibleRollout"
    assert strategy["parameters"] == {
        "rollout": "100",
        "stickiness": "default",
        "groupId": "cart",
    }
    assert strategy["summary"] == "On for everyone"
    [on] = recorded(admin, "feature-environment-enabled")
    [added] = recorded(admin, "feature-strategy-added")
    assert on["data"] == {"environment": "production"}
    assert added["data"]["id"] == strategy["id"]
    assert on["batchId"] == added["batchId"]


def test_switching_off_keeps_the_strategies(admin, cart):
    admin.ok("POST", f"{cart}/on")
    kept = strategies(admin, cart)
    admin.ok("POST", f"{cart}/off")
    assert states(admin)["production"] is False
    admin.ok("POST", f"{cart}/on")
    assert strategies(admin, cart) == kept
    assert len(recorded(admin, "feature-strategy-added")) == 1


def test_what_is_so_already_is_not_recorded(admin, cart):
    admin.ok("POST", f"{cart}/off")
    admin.ok("POST", f"{cart}/on")
    admin.ok("POST", f"{cart}/on")
    assert len(recorded(admin, "feature-environment-enabled")) == 1
    assert recorded(admin, "feature-environment-disabled") == []


def test_a_dry_run_changes_nothing(admin, cart):
    assert admin.post(f"{cart}/on?dryRun=true").status_code == 200
    assert states(admin)["production"] is False
    assert strategies(admin, cart) == []


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"{FEATURES}/nope/environments/production/on", "These features are not in project"),
        (f"{FEATURES}/cart/environments/staging/on", "does not use an environment named staging"),
        ("/projects/nope/features/cart/environments/production/on", "There is no project"),
    ],
)
def test_what_is_not_there_is_not_found(admin, cart, path, words):
    answer = admin.post(path)
    assert error_of(answer) == (404, "NotFoundError")
    assert words in answer.json["message"]


def test_an_archived_feature_is_not_switched_and_comes_back_off(admin, cart):
    admin.ok("POST", f"{cart}/on")
    admin.ok("POST", "/projects/default/archive", {"features": ["cart"]})
    assert error_of(admin.post(f"{cart}/off")) == (409, "ConflictError")
    admin.ok("POST", "/projects/default/revive-features", {"features": ["cart"]})
    assert states(admin) == {"development": False, "production": False}
    assert len(strategies(admin, cart)) == 1


def test_an_environment_that_comes_back_has_the_strategies_but_is_off(admin, cart):
    admin.ok("POST", f"{cart}/on")
    path = "/projects/default/environments"
    admin.ok("PUT", path, {"environments": ["development"]})
    assert states(admin) == {"development": False}
    assert error_of(admin.get(cart)) == (404, "NotFoundError")
    admin.ok("PUT", path, {"environments": ["development", "production"]})
    assert states(admin) == {"development": False, "production": False}
    assert len(strategies(admin, cart)) == 1


def test_many_are_switched_together_with_one_batch(admin, three):
    admin.ok("POST", f"{FEATURES}/a/environments/production/on")
    admin.ok("POST", f"{BULK}/production/on", {"features": three})
    assert [states(admin, name)["production"] for name in three] == [True] * 3
    events = recorded(admin, "feature-environment-enabled")[:2]
    assert {event["featureName"] for event in events} == {"b", "c"}
    assert len({event["batchId"] for event in events}) == 1
    admin.ok("POST", f"{BULK}/production/off", {"features": three})
    assert [states(admin, name)["production"] for name in three] == [False] * 3


def test_of_many_none_is_switched_if_one_is_unknown_or_archived(admin, three):
    unknown = admin.post(f"{BULK}/production/on", {"features": [*three, "nope"]})
    assert error_of(unknown) == (404, "NotFoundError")
    admin.ok("POST", "/projects/default/archive", {"features": ["c"]})
    archived = admin.post(f"{BULK}/production/on", {"features": three})
    assert error_of(archived) == (409, "ConflictError")
    assert states(admin, "a")["production"] is False


def test_a_plan_says_what_would_happen(admin, three):
    admin.ok("POST", f"{FEATURES}/a/environments/production/on")
    admin.ok("POST", f"{FEATURES}/b/environments/production/on")
    admin.ok("POST", f"{FEATURES}/b/environments/production/off")
    names = [*three, "nope"]
    assert admin.ok("POST", f"{BULK}/production/on/plan", {"features": names}) == {
        "features": ["b", "c"],
        "givenStrategy": ["c"],
        "unchanged": ["a"],
        "archived": [],
        "unknown": ["nope"],
    }
    off = admin.ok("POST", f"{BULK}/production/off/plan", {"features": names})
    assert (off["features"], off["unchanged"]) == (["a"], ["b", "c"])


def test_a_guarded_environment_is_not_changed_directly(admin, guarded):
    for answer in (
        admin.post(f"{guarded}/production/on"),
        admin.post(
            "/projects/pay/bulk_features/environments/production/on", {"features": ["card"]}
        ),
    ):
        assert error_of(answer) == (403, "NoAccessError")
        assert "need 2 approvals in production of project pay" in answer.json["message"]
    admin.ok("POST", f"{guarded}/development/on")
    assert states(admin, "card", "pay") == {"development": True, "production": False}


def test_what_is_off_in_a_guarded_environment_can_be_prepared_there(admin, guarded):
    body = {"name": "flexibleRollout"}
    admin.ok("POST", f"{guarded}/production/strategies", body)
    admin.post(f"{guarded}/production/on", headers={"X-Reason": "The shop is down"})
    refused = admin.post(f"{guarded}/production/strategies", body)
    assert error_of(refused) == (403, "NoAccessError")
    assert "This would change card (strategies)." in refused.json["message"]


def test_an_admin_with_a_reason_passes_the_guard_and_the_log_says_so(admin, guarded):
    answer = admin.post(f"{guarded}/production/on", headers={"X-Reason": "The shop is down"})
    assert answer.status_code == 200
    [event] = recorded(admin, "change-request-bypassed")
    assert event["data"] == {"environment": "production", "requiredApprovals": 2}
    assert (event["featureName"], event["reason"]) == ("card", "The shop is down")


def test_no_one_else_passes_the_guard(admin, guarded, people):
    owner = people.member("olga", "pay", "Owner")
    answer = owner.post(f"{guarded}/production/on", headers={"X-Reason": "Please"})
    assert error_of(answer) == (403, "NoAccessError")


def test_what_reaches_applications_by_another_way_is_guarded_too(admin, guarded):
    reason = {"X-Reason": "Start"}
    assert admin.post(f"{guarded}/production/on", headers=reason).status_code == 200
    admin.ok("POST", "/projects/pay/features", {"name": "base"})
    features = "/projects/pay/features"
    for method, path, body in (
        ("POST", "/projects/pay/archive", {"features": ["card"]}),
        ("POST", f"{features}/card/dependencies", {"feature": "base"}),
        ("PUT", "/projects/pay/environments", {"environments": ["development"]}),
    ):
        assert error_of(admin.request(method, path, json=body)) == (403, "NoAccessError"), path
    admin.ok("POST", "/projects/pay/archive", {"features": ["base"]})


def test_viewers_read_and_members_switch(admin, viewer, cart, people):
    assert error_of(viewer.post(f"{cart}/on"))[0] == 403
    assert viewer.ok("GET", cart)["enabled"] is False
    people.member("mia", "default").ok("POST", f"{cart}/on")
    assert viewer.ok("GET", cart)["enabled"] is True
