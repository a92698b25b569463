"""Variants that all strategies of a feature share in an environment."""

import pytest

from tests.support.clients import error_of, problems_of

PLACE = "/projects/default/features/cart/environments/production"
PATH = f"{PLACE}/variants"
OVERRIDE = {"contextName": "userId", "values": ["1", "2"]}


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})


def test_weights_are_completed_and_the_feature_shows_them(admin):
    sent = [
        {"name": "blue", "weight": 300, "weightType": "fix", "overrides": [OVERRIDE]},
        {"name": "red"},
        {"name": "green", "payload": {"type": "json", "value": "{}"}},
    ]
    found = admin.ok("PUT", PATH, sent)
    assert found["version"] == 1
    assert [(v["name"], v["weight"]) for v in found["variants"]] == [
        ("blue", 300),
        ("red", 350),
        ("green", 350),
    ]
    assert found["variants"][0]["overrides"] == [OVERRIDE]
    assert "overrides" not in found["variants"][1]
    assert admin.ok("GET", PATH) == found
    assert admin.ok("GET", PLACE)["variants"] == found["variants"]
    assert admin.ok("PUT", PATH, found["variants"]) == found


def test_what_sdks_would_misread_is_refused(admin, subtests):
    for variants, path in (
        ([{"name": "a"}, {"name": "a"}], "/1/name"),
        ([{"name": "a", "weightType": "fix", "weight": 900}], ""),
        ([{"name": "a", "stickiness": "shoe"}], "/0/stickiness"),
        (
            [{"name": "a", "overrides": [OVERRIDE | {"contextName": "shoe"}]}],
            "/0/overrides/0/contextName",
        ),
        ([{"name": "a", "overrides": [OVERRIDE | {"values": []}]}], "/0/overrides/0/values"),
        ([{"name": str(number)} for number in range(101)], ""),
    ):
        with subtests.test(variants=variants, path=path):
            assert list(problems_of(admin.put(PATH, variants))) == [path]
            assert admin.ok("GET", PATH)["variants"] == []


def test_a_change_is_recorded_once_and_survives_switching(admin):
    admin.ok("PUT", PATH, [{"name": "a"}])
    admin.ok("PUT", PATH, [{"name": "a"}])
    admin.ok("POST", f"{PLACE}/on")
    admin.ok("POST", f"{PLACE}/off")
    [event] = admin.ok("GET", "/events?type=feature-environment-variants-updated")["events"]
    assert event["preData"] == {"environment": "production", "variants": []}
    assert [each["name"] for each in event["data"]["variants"]] == ["a"]
    assert [each["name"] for each in admin.ok("GET", PATH)["variants"]] == ["a"]


def test_the_page_of_the_feature_shows_them(browser, admin):
    admin.ok("PUT", PATH, [{"name": "blue", "weight": 250, "weightType": "fix"}, {"name": "red"}])
    page = browser.get("/projects/default/features/cart")
    assert page.has("Variants of all strategies without their own blue 25% red 75%")


def test_a_guarded_environment_refuses_them_where_the_feature_is_on(admin):
    rules = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/default/environments", body)
    assert admin.put(PATH, [{"name": "a"}]).status_code == 200
    reason = {"X-Reason": "The shop is down"}
    assert admin.post(f"{PLACE}/on", headers=reason).status_code == 200
    assert error_of(admin.put(PATH, [{"name": "b"}])) == (403, "NoAccessError")
    assert admin.put(PATH, [{"name": "b"}], headers=reason).status_code == 200


def test_what_has_changed_since_is_left_alone(admin):
    seen = admin.get(PATH).headers["ETag"]
    admin.ok("PUT", PATH, [{"name": "a"}])
    refused = admin.put(PATH, [], headers={"If-Match": seen})
    assert error_of(refused) == (412, "PreconditionFailedError")


def test_a_context_field_that_an_override_names_is_not_deleted(admin):
    admin.ok("POST", "/context", {"name": "plan"})
    override = {"contextName": "plan", "values": ["gold"]}
    admin.ok("PUT", PATH, [{"name": "a", "overrides": [override]}])
    assert error_of(admin.delete("/context/plan")) == (409, "ConflictError")
