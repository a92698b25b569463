"""The state of a feature in each environment of its project, and what keeps it true."""

import pytest

from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.strategies import queries
from app.core.db import db, unit_of_work
from tests.support.clients import error_of

FEATURES = "/projects/default/features"
PLACE = f"{FEATURES}/cart/environments/production"
PATH = f"{PLACE}/strategies"


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", FEATURES, {"name": "cart"})


def add(client, **more):
    return client.ok("POST", PATH, {"name": "default", **more})["id"]


def recorded(client, type):
    return client.ok("GET", f"/events?type={type}")["events"]


def test_an_environment_that_is_added_gives_every_feature_a_state_there(app, admin):
    with app.app_context(), unit_of_work(writes=True):
        db.session.add(Environment(name="staging", type=EnvironmentType.TEST, sort_order=9))
    admin.ok("POST", FEATURES, {"name": "basket"})
    admin.ok("POST", f"{PLACE}/on")
    used = ["development", "production", "staging"]
    admin.ok("PUT", "/projects/default/environments", {"environments": used})
    for name in ("cart", "basket"):
        state = admin.ok("GET", f"{FEATURES}/{name}/environments/staging")
        assert (state["enabled"], state["strategies"], state["variants"]) == (False, [], [])
    assert admin.ok("GET", PLACE)["enabled"] is True
    admin.ok("POST", f"{FEATURES}/cart/environments/staging/on")


@pytest.mark.parametrize("way", ["on", "off"])
def test_switching_one_answers_with_it_and_switching_several_without_a_body(admin, way):
    one = admin.post(f"{PLACE}/{way}")
    places = {place["name"]: place["enabled"] for place in one.json["environments"]}
    assert (one.status_code, places["production"]) == (200, way == "on")
    body = {"features": ["cart"]}
    several = admin.post(f"/projects/default/bulk_features/environments/production/{way}", body)
    assert (several.status_code, several.data) == (200, b"")


def test_a_paused_strategy_does_not_count(admin):
    paused = add(admin, disabled=True)
    admin.ok("POST", f"{PLACE}/on")
    found = admin.ok("GET", PATH)
    assert [(each["sortOrder"], each["disabled"]) for each in found] == [(0, True), (1, False)]
    assert found[0]["id"] == paused


@pytest.fixture
def last(admin):
    """The only strategy of the feature, which is on."""
    id = add(admin)
    admin.ok("POST", f"{PLACE}/on")
    return f"{PATH}/{id}"


LEAVE_NONE = [
    ("PUT", {"disabled": True}),
    ("PATCH", [{"op": "replace", "path": "/disabled", "value": True}]),
    ("DELETE", None),
]


@pytest.mark.parametrize(("method", "body"), LEAVE_NONE)
def test_without_a_strategy_that_counts_a_feature_is_switched_off_and_the_log_says_why(
    admin, last, method, body
):
    admin.ok(method, last, body)
    assert admin.ok("GET", PLACE)["enabled"] is False
    [event] = recorded(admin, "feature-environment-disabled")
    assert event["data"] == {"environment": "production", "because": "no strategy is left"}


@pytest.mark.parametrize(("method", "body"), LEAVE_NONE)
def test_it_is_switched_off_in_the_same_transaction(admin, last, method, body, monkeypatch):
    before = admin.ok("GET", PLACE), admin.ok("GET", "/events")["total"]
    monkeypatch.setattr(queries, "set_states", None)
    assert error_of(admin.request(method, last, json=body)) == (500, "InternalError")
    assert (admin.ok("GET", PLACE), admin.ok("GET", "/events")["total"]) == before
