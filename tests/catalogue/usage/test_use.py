"""A feature says how it is used: when last, and how often it was on and off."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests.support.statements import statements

FEATURES = "/projects/default/features"
NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", FEATURES, {"name": "cart"})


def use(admin, path=f"{FEATURES}/cart"):
    """What the API says of production, the first place that SDKs of the tests read."""
    environments = admin.ok("GET", path)["environments"]
    [found] = [one for one in environments if one["name"] == "production"]
    return found["lastSeenAt"], found["yes"], found["no"]


def test_a_feature_that_no_one_asked_for_was_never_seen(admin):
    assert use(admin) == (None, 0, 0)


def test_a_feature_says_when_it_was_seen_and_what_it_said_in_the_last_hour(admin, sdk):
    with time_machine.travel(NOW, tick=False):
        sdk.reports(cart=(3, 1))
        sdk.reports(cart=(2, 0))
        assert use(admin) == ("2026-11-21T14:05:00.000Z", 5, 1)
    with time_machine.travel(NOW + timedelta(hours=1), tick=False):
        assert use(admin) == ("2026-11-21T14:05:00.000Z", 5, 1)
    with time_machine.travel(NOW + timedelta(hours=2), tick=False):
        assert use(admin) == ("2026-11-21T14:05:00.000Z", 0, 0)


def test_each_environment_has_its_own_use(admin, new_sdk):
    new_sdk(environment="development").reports(cart=(7, 0))
    assert use(admin) == (None, 0, 0)
    found = admin.ok("GET", f"{FEATURES}/cart/environments/development")
    assert (found["yes"], found["no"]) == (7, 0)


def test_use_does_not_change_the_version_that_an_edit_is_based_on(admin, sdk):
    version = admin.get(f"{FEATURES}/cart").headers["ETag"]
    sdk.reports(cart=(3, 1))
    assert admin.get(f"{FEATURES}/cart").headers["ETag"] == version
    headers = {"If-Match": version}
    assert admin.put(f"{FEATURES}/cart", json={"stale": True}, headers=headers).status_code == 200


def test_what_a_read_returned_can_be_sent_back(admin, sdk):
    sdk.reports(cart=(3, 1))
    feature = admin.ok("GET", f"{FEATURES}/cart")
    assert admin.put(f"{FEATURES}/cart", json=feature).status_code == 200


def test_a_list_takes_the_same_statements_for_any_number_of_features(app, admin, sdk):
    with statements(app) as few:
        sdk.reports(cart=(3, 1))
        del few[:]
        admin.ok("GET", FEATURES)
    for number in range(20):
        admin.ok("POST", FEATURES, {"name": f"f{number}"})
    sdk.reports(**{f"f{number}": (1, 1) for number in range(20)})
    with statements(app) as many:
        assert len(admin.ok("GET", FEATURES)["features"]) == 21
    assert len(many) == len(few)
