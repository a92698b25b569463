"""Features are proposed as stale if no one asks for them, or if they are on for everyone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests.support.browser import Browser
from tests.support.statements import statements

pytestmark = pytest.mark.slow

PROJECT = "/projects/default"
FEATURES = f"{PROJECT}/features"
CREATED = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
DAY = timedelta(days=1)
LONG = CREATED + 30 * DAY
EVERYONE = {"name": "flexibleRollout", "parameters": {"rollout": "100"}}
BLUE = {"name": "blue", "weight": 1000, "weightType": "variable"}


@pytest.fixture
def clock(app):
    with time_machine.travel(CREATED, tick=False) as clock:
        yield clock


@pytest.fixture(autouse=True)
def cart(clock, admin):
    admin.ok("POST", FEATURES, {"name": "cart"})


@pytest.fixture
def asked(clock, admin, sdk):
    """Applications ask for another feature, today and for a month."""
    admin.ok("POST", FEATURES, {"name": "other"})
    sdk.reports(other=(0, 1))
    clock.move_to(LONG)
    sdk.reports(other=(0, 1))
    clock.move_to(CREATED)


def reason(client, name="cart"):
    """Why it is proposed; the same in every list and filter."""
    found = client.ok("GET", f"{FEATURES}/{name}")["staleProposal"]
    for path in (FEATURES, "/features"):
        for asked in ("any", "unused", "everywhere", "lifetime"):
            rows = client.ok("GET", f"{path}?staleProposal={asked}&text={name}")["features"]
            is_wanted = found is not None and asked in {"any", found}
            assert [row["staleProposal"] for row in rows] == [found] * is_wanted, asked
    return found


def switch(client, way="on", *environments, name="cart"):
    for environment in environments or ("development", "production"):
        client.ok("POST", f"{FEATURES}/{name}/environments/{environment}/{way}")


def strategies(environment="production", name="cart"):
    return f"{FEATURES}/{name}/environments/{environment}/strategies"


# Past its lifetime


def set_lifetime(client, days, type="release"):
    client.ok("PUT", f"/feature-types/{type}/lifetime", {"lifetimeDays": days})


def test_what_is_older_than_features_of_its_type_are_expected_to_live_is_proposed(admin, clock):
    clock.move_to(CREATED + 400 * DAY)
    assert reason(admin) is None
    set_lifetime(admin, 40)
    clock.move_to(CREATED + 40 * DAY - timedelta(seconds=1))
    assert reason(admin) is None
    clock.move_to(CREATED + 40 * DAY)
    assert reason(admin) == "lifetime"
    assert admin.ok("GET", f"{PROJECT}/health")["proposed"] == 1
    admin.ok("PUT", f"{FEATURES}/cart", {"type": "permission"})
    assert reason(admin) is None
    admin.ok("PUT", f"{FEATURES}/cart", {"type": "release", "stale": True})
    assert reason(admin) is None


def test_a_lifetime_counts_even_if_the_other_rules_propose_nothing(app, admin, clock, monkeypatch):
    monkeypatch.setitem(app.config, "SETTINGS", replace(app.config["SETTINGS"], stale_after_days=0))
    set_lifetime(admin, 40)
    clock.move_to(CREATED + 40 * DAY)
    assert reason(admin) == "lifetime"
    set_lifetime(admin, 2**31 - 1)
    assert reason(admin) is None


def test_what_is_unused_is_proposed_for_that_before_its_age(admin, clock, asked):
    set_lifetime(admin, 10)
    clock.move_to(LONG)
    assert reason(admin) == "unused"
    assert reason(admin, "other") == "lifetime"


def test_pages_say_that_it_is_older_than_expected(browser, admin, clock):
    set_lifetime(admin, 40)
    clock.move_to(CREATED + 50 * DAY)
    page = browser.sign_in("boss").get("/projects/default/features/cart")
    assert page.has("It’s older than release features are expected to live: 40 days.")
    page = browser.get("/projects/default?staleProposal=lifetime")
    assert page.has("Past its lifetime")


# Unused


def test_what_no_one_asked_for_is_proposed_after_30_days(admin, clock, asked):
    clock.move_to(LONG - timedelta(seconds=1))
    assert reason(admin) is None
    clock.move_to(LONG)
    assert reason(admin) == "unused"


def test_what_no_one_asked_for_any_more_is_proposed_after_30_days(admin, clock, asked, sdk):
    clock.move_to(CREATED + 10 * DAY)
    sdk.reports(cart=(0, 1))
    for days, wanted in ((39, None), (40, "unused")):
        clock.move_to(CREATED + days * DAY)
        sdk.reports(other=(0, 1))
        assert reason(admin) == wanted


def test_an_instance_that_no_application_reads_proposes_nothing_unused(admin, clock):
    clock.move_to(LONG)
    assert reason(admin) is None


def test_an_instance_that_applications_no_longer_read_proposes_nothing_unused(admin, clock, asked):
    clock.move_to(LONG + 31 * DAY)
    assert reason(admin) is None


def test_the_first_applications_get_30_days_to_ask(admin, clock, sdk):
    admin.ok("POST", FEATURES, {"name": "other"})
    for days, wanted in ((40, None), (69, None), (70, "unused")):
        clock.move_to(CREATED + days * DAY)
        sdk.reports(other=(0, 1))
        assert reason(admin) == wanted


def test_asking_anywhere_counts(admin, clock, asked, new_sdk):
    clock.move_to(LONG)
    new_sdk(environment="development").reports(cart=(0, 1))
    assert reason(admin) is None


@pytest.mark.parametrize("type", ["kill-switch", "operational", "permission", "experiment"])
def test_features_of_every_type_can_be_unused(admin, clock, asked, type):
    admin.ok("PUT", f"{FEATURES}/cart", {"type": type})
    clock.move_to(LONG)
    assert reason(admin) == "unused"


def test_what_is_stale_or_archived_is_not_proposed(admin, clock, asked):
    clock.move_to(LONG)
    admin.ok("PUT", f"{FEATURES}/cart", {"stale": True})
    assert reason(admin) is None
    admin.ok("PUT", f"{FEATURES}/cart", {"stale": False})
    assert reason(admin) == "unused"
    admin.ok("POST", f"{PROJECT}/archive", {"features": ["cart"]})
    assert admin.ok("GET", f"{FEATURES}/cart")["staleProposal"] is None


# On for everyone


@pytest.mark.parametrize("type", ["release", "experiment"])
def test_what_is_on_for_everyone_everywhere_is_proposed_after_30_days(admin, clock, type):
    admin.ok("PUT", f"{FEATURES}/cart", {"type": type})
    switch(admin)
    clock.move_to(LONG - timedelta(seconds=1))
    assert reason(admin) is None
    clock.move_to(LONG)
    assert reason(admin) == "everywhere"


@pytest.mark.parametrize("type", ["kill-switch", "operational", "permission"])
def test_what_is_meant_to_stay_is_not_proposed(admin, clock, type):
    admin.ok("PUT", f"{FEATURES}/cart", {"type": type})
    switch(admin)
    clock.move_to(LONG)
    assert reason(admin) is None


def test_being_unused_is_the_stronger_reason(admin, clock, asked):
    switch(admin)
    clock.move_to(LONG)
    assert reason(admin) == "unused"


def test_what_is_off_somewhere_is_not_proposed(admin, clock):
    switch(admin, "on", "production")
    clock.move_to(LONG)
    assert reason(admin) is None


def test_environments_that_the_project_does_not_use_do_not_count(admin, clock):
    switch(admin, "on", "production")
    admin.ok("PUT", f"{PROJECT}/environments", {"environments": ["production"]})
    clock.move_to(LONG)
    assert reason(admin) == "everywhere"


NARROW = [
    {"parameters": {"rollout": "99"}},
    {"constraints": [{"contextName": "userId", "operator": "IN", "values": ["1"]}]},
    {"name": "userWithId", "parameters": {"userIds": "1"}},
    {"variants": [BLUE]},
]


@pytest.mark.parametrize("strategy", NARROW)
def test_what_does_not_reach_everyone_alike_is_not_proposed(admin, clock, strategy):
    admin.ok("POST", strategies(), EVERYONE | strategy)
    switch(admin)
    clock.move_to(LONG)
    assert reason(admin) is None


def test_a_strategy_for_a_segment_does_not_reach_everyone(admin, clock):
    rule = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    id = admin.ok("POST", "/segments", {"name": "one", "constraints": [rule]})["id"]
    admin.ok("POST", strategies(), EVERYONE | {"segments": [id]})
    switch(admin)
    clock.move_to(LONG)
    assert reason(admin) is None


def test_one_strategy_for_everyone_is_enough(admin, clock):
    for strategy in ({"parameters": {"rollout": "5"}}, {"name": "default", "parameters": {}}):
        admin.ok("POST", strategies(), EVERYONE | strategy)
    switch(admin)
    clock.move_to(LONG)
    assert reason(admin) == "everywhere"


def test_a_disabled_strategy_counts_neither_for_nor_against(admin, clock):
    admin.ok("POST", strategies(), EVERYONE | {"disabled": True, "variants": [BLUE]})
    admin.ok("POST", strategies(), EVERYONE)
    switch(admin)
    clock.move_to(LONG)
    assert reason(admin) == "everywhere"
    [_, second] = admin.ok("GET", strategies())
    admin.ok("PUT", f"{strategies()}/{second['id']}", {"parameters": {"rollout": "5"}})
    clock.move_to(LONG + 31 * DAY)
    assert reason(admin) is None


def test_what_depends_on_another_feature_is_not_on_for_everyone(admin, clock):
    admin.ok("POST", FEATURES, {"name": "base"})
    admin.ok("POST", f"{FEATURES}/cart/dependencies", {"feature": "base"})
    switch(admin)
    clock.move_to(LONG)
    assert reason(admin) is None


def test_variants_that_strategies_share_keep_it_from_being_proposed(admin, clock):
    switch(admin)
    admin.ok("PUT", f"{FEATURES}/cart/environments/production/variants", [BLUE])
    clock.move_to(LONG)
    assert reason(admin) is None


# What starts the 30 days once more


def added(admin):
    admin.ok("POST", strategies(), EVERYONE | {"parameters": {"rollout": "5"}})


def changed(admin):
    [first, *_] = admin.ok("GET", strategies())
    admin.ok("PUT", f"{strategies()}/{first['id']}", {"title": "for all"})


def removed(admin):
    [*_, last] = admin.ok("GET", strategies())
    admin.ok("DELETE", f"{strategies()}/{last['id']}")


def reordered(admin):
    [first, *_] = admin.ok("GET", strategies())
    admin.ok("POST", f"{strategies()}/set-sort-order", [{"id": first["id"], "sortOrder": 5}])


def with_variants(admin):
    path = f"{FEATURES}/cart/environments/production/variants"
    admin.ok("PUT", path, [BLUE])
    admin.ok("PUT", path, [])


def switched(admin):
    switch(admin, "off", "production")
    switch(admin, "on", "production")


def revived(admin):
    admin.ok("POST", f"{PROJECT}/archive", {"features": ["cart"]})
    admin.ok("POST", f"{PROJECT}/revive-features", {"features": ["cart"]})
    switch(admin)


def used_again(admin):
    path = f"{PROJECT}/environments"
    admin.ok("PUT", path, {"environments": ["development"]})
    admin.ok("PUT", path, {"environments": ["development", "production"]})
    switch(admin, "on", "production")


@pytest.mark.parametrize(
    "change",
    [added, changed, removed, reordered, with_variants, switched, revived, used_again],
)
def test_every_change_starts_the_time_once_more(admin, clock, change):
    switch(admin)
    added(admin)  # a second one, to remove and to sort
    clock.move_to(LONG)
    assert reason(admin) == "everywhere"
    change(admin)
    assert reason(admin) is None
    clock.move_to(LONG + 30 * DAY)
    assert reason(admin) == "everywhere"


def test_copying_strategies_starts_the_time_once_more(app, admin, people, clock):
    switch(admin)
    clock.move_to(LONG)
    people.person("boss", role="Admin")
    browser = Browser(app).sign_in("boss")
    page = browser.get("/projects/default/features/cart/environments/development/copy")
    browser.follow(browser.submit(page, {"targets": ["production"]}))
    assert reason(admin) is None


def test_a_switch_that_changes_nothing_does_not(admin, clock):
    switch(admin)
    clock.move_to(LONG)
    switch(admin)
    admin.ok("POST", f"{PROJECT}/bulk_features/environments/production/on", {"features": ["cart"]})
    assert reason(admin) == "everywhere"


# The setting


def test_the_number_of_days_can_be_chosen(app, admin, clock, monkeypatch):
    monkeypatch.setitem(app.config, "SETTINGS", replace(app.config["SETTINGS"], stale_after_days=7))
    switch(admin)
    clock.move_to(CREATED + 8 * DAY)
    assert reason(admin) == "everywhere"


def test_with_0_days_nothing_is_proposed(app, admin, clock, asked, monkeypatch):
    """What is in use then goes by the 30 days."""
    monkeypatch.setitem(app.config, "SETTINGS", replace(app.config["SETTINGS"], stale_after_days=0))
    switch(admin)
    clock.move_to(LONG + DAY)
    assert reason(admin) is None
    [used] = admin.ok("GET", f"{FEATURES}?usage=used")["features"]
    assert used["name"] == "other"


def test_a_filtered_list_takes_the_same_statements_for_any_number_of_features(
    app, admin, clock, asked
):
    path = f"{FEATURES}?staleProposal=any&stage=initial&usage=never&sort=lastSeenAt"
    counts = []
    for number in range(0, 20, 10):
        clock.move_to(LONG)
        for _ in range(2):  # the first notes the use of the token, and the second who its owner is
            admin.ok("GET", "/user")
        with statements(app) as run:
            assert len(admin.ok("GET", path)["features"]) == number + 1
        counts.append(len(run))
        clock.move_to(CREATED)
        for each in range(10):
            admin.ok("POST", FEATURES, {"name": f"f{number + each}"})
    assert counts[0] == counts[1]
