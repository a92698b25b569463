"""What SDKs get of the features, and when they get it."""

import gzip

import pytest

from tests.support.clients import error_of
from tests.support.sdks import NEW
from tests.support.statements import statements

FEATURES = "/projects/default/features"
USER = {"contextName": "userId", "operator": "IN", "values": ["1", "2"]}
HALF = {"name": "flexibleRollout", "parameters": {"rollout": 50}, "constraints": [USER]}


def at(name, environment="production"):
    return f"{FEATURES}/{name}/environments/{environment}"


@pytest.fixture
def cart(admin):
    """A feature that is on for half of two people."""
    admin.ok("POST", FEATURES, {"name": "cart", "description": "Basket", "impressionData": True})
    made = admin.ok("POST", f"{at('cart')}/strategies", HALF)
    admin.ok("POST", f"{at('cart')}/on")
    return made


@pytest.fixture
def staff(admin, cart):
    """A segment that the strategy of ``cart`` uses."""
    made = admin.ok("POST", "/segments", {"name": "Staff", "constraints": [USER]})
    admin.ok("PUT", f"{at('cart')}/strategies/{cart['id']}", {"segments": [made["id"]]})
    return made["id"]


def constraint(values):
    return {
        "contextName": "userId",
        "operator": "IN",
        "inverted": False,
        "caseInsensitive": False,
        "values": values,
    }


def test_a_feature_has_what_sdks_need_and_nothing_else(admin, sdk, cart):
    body = sdk.read()
    assert body["version"] == 2
    assert body["query"] == {"environment": "production", "inlineSegmentConstraints": False}
    assert body["segments"] == []
    assert body["features"] == [
        {
            "name": "cart",
            "type": "release",
            "enabled": True,
            "project": "default",
            "stale": False,
            "strategies": [
                {
                    "name": "flexibleRollout",
                    "constraints": [constraint(["1", "2"])],
                    "parameters": {"rollout": "50", "stickiness": "default", "groupId": "cart"},
                    "variants": [],
                }
            ],
            "variants": [],
            "description": "Basket",
            "impressionData": True,
        }
    ]


def test_segments_go_by_reference_to_sdks_that_know_them(sdk, staff):
    body = sdk.read()
    [strategy] = body["features"][0]["strategies"]
    assert (strategy["segments"], len(strategy["constraints"])) == ([staff], 1)
    segment = {"id": staff, "name": "Staff", "constraints": [constraint(["1", "2"])]}
    assert body["segments"] == [segment]


@pytest.mark.parametrize("spec", ["", "4.1.9", "3.0.0-beta"])
def test_older_sdks_get_the_constraints_of_segments_among_the_others(sdk, staff, spec):
    body = sdk.read(Unleash_Client_Spec=spec)
    [strategy] = body["features"][0]["strategies"]
    assert len(strategy["constraints"]) == 2
    assert "segments" not in strategy
    assert "segments" not in body
    assert body["query"]["inlineSegmentConstraints"] is True


def test_a_feature_that_is_off_comes_with_its_strategies(admin, sdk, cart):
    admin.ok("POST", f"{at('cart')}/off")
    feature = sdk.features["cart"]
    assert (feature["enabled"], len(feature["strategies"])) == (False, 1)


def test_a_disabled_strategy_stays_here(admin, sdk, cart):
    admin.ok("POST", f"{at('cart')}/strategies", HALF | {"disabled": True, "title": "Later"})
    assert len(sdk.features["cart"]["strategies"]) == 1


def test_strategies_come_in_their_order(admin, sdk, cart):
    first = HALF | {"parameters": {"rollout": 10}, "sortOrder": 0}
    admin.ok("POST", f"{at('cart')}/strategies", first)
    found = [one["parameters"]["rollout"] for one in sdk.features["cart"]["strategies"]]
    assert found == ["10", "50"]


def test_a_dependency_names_the_parent_and_what_it_must_be(admin, sdk, cart):
    admin.ok("POST", FEATURES, {"name": "base"})
    path = f"{FEATURES}/cart/dependencies"
    admin.ok("PUT", f"{at('base')}/variants", [{"name": "blue", "weightType": "variable"}])
    admin.ok("POST", path, {"feature": "base", "variants": ["blue"]})
    assert sdk.features["cart"]["dependencies"] == [
        {"feature": "base", "enabled": True, "variants": ["blue"]}
    ]
    admin.ok("POST", path, {"feature": "base", "enabled": False})
    assert sdk.features["cart"]["dependencies"] == [{"feature": "base", "enabled": False}]


def test_what_did_not_change_is_not_sent_again(sdk, cart):
    first = sdk.get()
    etag = first.headers["ETag"]
    for known in (etag, f"W/{etag}", etag[:-1] + '-gzip"', f'"x", {etag}', "*"):
        again = sdk.get(If_None_Match=known)
        assert (again.status_code, again.data) == (304, b""), known
        assert again.headers["ETag"] == etag
    assert sdk.get(If_None_Match='"another"').status_code == 200


def test_the_etag_is_the_same_if_and_only_if_the_content_is(admin, sdk, new_sdk, cart):
    first, body = sdk.get().headers["ETag"], sdk.get().data
    assert new_sdk().get().headers["ETag"] == first
    assert sdk.get(Unleash_Client_Spec="").headers["ETag"] != first
    admin.ok("POST", f"{at('cart')}/off")
    assert sdk.get(If_None_Match=first).status_code == 200
    admin.ok("POST", f"{at('cart')}/on")
    assert (sdk.get().headers["ETag"], sdk.get().data) == (first, body)


def test_those_who_can_read_it_get_it_compressed(sdk, cart):
    plain, packed = sdk.get(), sdk.get(Accept_Encoding="gzip, deflate")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert "Content-Encoding" not in sdk.get(Accept_Encoding="gzip;q=0, identity").headers
    assert packed.headers["ETag"] == plain.headers["ETag"]
    assert "Accept-Encoding" in plain.headers["Vary"]


def test_a_head_request_gets_the_same_headers_and_no_body(app, sdk, cart):
    headers = {"Authorization": sdk.token}
    answer = app.test_client().head("/api/client/features", headers=headers)
    assert (answer.status_code, answer.data) == (200, b"")
    assert answer.headers["ETag"] == sdk.get(Unleash_Client_Spec="").headers["ETag"]


def test_one_feature_can_be_read_alone(sdk, staff):
    body = sdk.read("features/cart")
    assert (body["name"], body["strategies"][0]["segments"]) == ("cart", [staff])
    etag = sdk.get("features/cart").headers["ETag"]
    assert sdk.get("features/cart", If_None_Match=etag).status_code == 304
    assert error_of(sdk.get("features/nope")) == (404, "NotFoundError")


def test_a_query_narrows_what_a_token_for_all_projects_gets(admin, new_sdk, cart):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop", "environments": ["production"]})
    admin.ok("POST", "/projects/shop/features", {"name": "shelf"})
    tags = {"addedTags": [{"type": "simple", "value": "a"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", {"features": ["cart"], "tags": tags})

    def names(token, query):
        return [feature["name"] for feature in token.read(f"features{query}")["features"]]

    every, one = new_sdk(), new_sdk(projects=["default"])
    assert names(every, "") == ["cart", "shelf"]
    assert names(every, "?project=shop") == ["shelf"]
    assert names(every, "?namePrefix=ca") == ["cart"]
    assert names(every, "?tag=simple:a") == ["cart"]
    assert names(every, "?tag=simple:b") == []
    assert names(one, "") == ["cart"]
    assert names(one, "?project=shop") == ["cart"]
    assert error_of(one.get("features/shelf")) == (404, "NotFoundError")


def test_the_projects_of_a_token_do_not_learn_the_segments_of_others(admin, new_sdk, staff):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop", "environments": ["production"]})
    assert new_sdk(projects=["shop"]).read()["segments"] == []


def test_a_version_of_the_specification_that_is_none_is_refused(sdk):
    answer = sdk.get(Unleash_Client_Spec="five")
    assert error_of(answer) == (400, "ValidationError")


CHANGES = {
    "off": ("POST", f"{at('cart')}/off", None),
    "archived": ("POST", "/projects/default/archive", {"features": ["cart"]}),
    "stale": ("PUT", f"{FEATURES}/cart", {"stale": True}),
    "strategy added": ("POST", f"{at('cart')}/strategies", HALF),
    "environment taken out": (
        "PUT",
        "/projects/default/environments",
        {"environments": ["development"]},
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen_by_the_next_request(admin, sdk, cart, change):
    before = sdk.get().headers["ETag"]
    admin.ok(*CHANGES[change])
    assert sdk.get().headers["ETag"] != before


def test_a_changed_segment_is_seen_by_the_next_request(admin, sdk, staff):
    before = [sdk.get(Unleash_Client_Spec=spec).headers["ETag"] for spec in ("", "5.2.0")]
    admin.ok("PUT", f"/segments/{staff}", {"constraints": [USER | {"values": ["3"]}]})
    after = [sdk.get(Unleash_Client_Spec=spec).headers["ETag"] for spec in ("", "5.2.0")]
    assert not set(before) & set(after)


def test_what_changes_nothing_for_sdks_is_not_built_again(app, admin, sdk, people, cart):
    sdk.get()
    people.person("new")
    admin.ok("POST", "/api-tokens", NEW | {"tokenName": "another"})
    with statements(app) as run:
        assert sdk.get().status_code == 200
    assert not [one for one in run if "feature_states" in one]


WATCHED = ("event", "sdk_tokens")
"""What is asked after every change, whatever it was."""


def test_after_a_change_the_state_is_built_in_six_statements(app, admin, sdk, cart):
    sdk.get()
    admin.ok("POST", f"{at('cart')}/off")
    with statements(app) as run:
        sdk.get()
        first = len(run)
        sdk.get()
    read = [one for one in run if not one.startswith(("PRAGMA", "ROLLBACK", "COMMIT"))]
    assert len([one for one in read if not any(each in one for each in WATCHED)]) == 5
    assert first <= 9
    assert len(run) == first
