"""OFREP to the letter: bodies, errors, headers."""

import json

import pytest

from app.delivery.sdk.ofrep import _value
from tests.support.sdks import Front

FEATURES = "/projects/default/features"
COLOR = {"name": "blue", "weight": 1000, "payload": {"type": "string", "value": "#00f"}}


@pytest.fixture
def make(admin):
    def begin(name, /, *, on=True, **strategy):
        place = f"{FEATURES}/{name}/environments/production"
        admin.ok("POST", FEATURES, {"name": name})
        admin.ok("POST", f"{place}/strategies", {"name": "flexibleRollout"} | strategy)
        if on:
            admin.ok("POST", f"{place}/on")

    return begin


@pytest.fixture
def server(new_front):
    """A client with a token for servers."""
    return new_front(type="client")


def version(admin):
    """The id of the last event of a feature."""
    return str(admin.ok("GET", "/search/events?feature=IS:cart")["events"][0]["id"])


def facts(answer):
    assert answer.status_code == 200, answer.text
    return answer.json


def test_a_feature_has_its_value_and_the_reason(server, make, admin):
    make("cart", variants=[COLOR])
    assert facts(server.flag("cart", targetingKey="1")) == {
        "key": "cart",
        "reason": "STATIC",
        "variant": "blue",
        "value": "#00f",
        "metadata": {
            "enabled": True,
            "variant": "blue",
            "project": "default",
            "flagSetId": "default/production",
            "version": version(admin),
        },
    }


def test_the_version_is_the_last_event_that_changed_what_is_read(server, make, admin):
    make("cart")
    made = version(admin)
    admin.ok("POST", "/user/tokens", {"description": "mine", "expiresAt": None})
    answers = server.flags(), server.flag("cart")
    assert answers[0].json["metadata"] == {"version": made}
    assert answers[0].json["flags"][0]["metadata"]["version"] == made
    assert answers[1].json["metadata"]["version"] == made


def test_a_feature_without_a_payload_is_true_or_false(server, make):
    make("cart")
    make("shelf", on=False)
    assert facts(server.flag("cart"))["value"] is True
    found = facts(server.flag("shelf"))
    assert (found["value"], found["variant"], found["reason"]) == (False, "disabled", "DISABLED")


def test_a_feature_that_is_off_but_has_payloads_leaves_the_value_to_the_code(server, make):
    make("cart", on=False, variants=[COLOR])
    found = facts(server.flag("cart"))
    assert "value" not in found
    assert (found["variant"], found["metadata"]["enabled"]) == ("disabled", False)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("number", "7", 7),
        ("number", "7.0", 7.0),
        ("number", "1e400", "1e400"),
        ("json", "[1, null]", [1, None]),
        ("json", "NaN", "NaN"),
        ("json", '{"a": "é\\u2028"}', {"a": "é\u2028"}),
        ("csv", "a,b", "a,b"),
        ("string", "7", "7"),
    ],
)
def test_a_payload_has_its_own_type(kind, text, value):
    assert _value({"type": kind, "value": text}) == value


def test_the_user_is_the_targeting_key_unless_there_is_a_user(server, make):
    make("cart", constraints=[{"contextName": "userId", "operator": "IN", "values": ["7"]}])
    for context, is_on in (
        ({"targetingKey": "7"}, True),
        ({"targetingKey": "1", "userId": 7}, True),
        ({"targetingKey": "7", "userId": "1"}, False),
        ({"targetingKey": {"a": 7}}, False),
        ({"user": {"id": "7"}, "properties": {"userId": "7"}}, False),
        ({}, False),
    ):
        assert facts(server.flag("cart", **context))["value"] is is_on, context


def test_all_flags_come_at_once_and_only_when_something_changed(server, make, admin):
    make("cart")
    make("shelf", on=False)
    answer = server.flags()
    assert {flag["key"]: flag["value"] for flag in answer.json["flags"]} == {
        "cart": True,
        "shelf": False,
    }
    known = answer.headers["ETag"]
    again = server.flags(If_None_Match=known)
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", known)
    admin.ok("POST", f"{FEATURES}/shelf/environments/production/on")
    assert server.flags(If_None_Match=known).status_code == 200


def test_browsers_learn_only_of_what_is_on(new_front, make):
    front = new_front()
    make("cart")
    make("secret", on=False)
    make("nordic", parameters={"rollout": 0})
    assert [flag["key"] for flag in front.flags().json["flags"]] == ["cart"]
    assert facts(front.flag("cart"))["value"] is True
    for name in ("secret", "nordic", "unknown"):
        answer = front.flag(name)
        assert answer.status_code == 404
        assert answer.json["errorCode"] == "FLAG_NOT_FOUND"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "PARSE_ERROR"),
        (b"{", "PARSE_ERROR"),
        (b"[]", "PARSE_ERROR"),
        (b"[" * 100_000, "PARSE_ERROR"),
        (b'{"context": "a"}', "INVALID_CONTEXT"),
        (b'{"context": []}', "INVALID_CONTEXT"),
        (json.dumps({"context": {"targetingKey": "x" * 5_000}}).encode(), "INVALID_CONTEXT"),
    ],
)
@pytest.mark.parametrize("path", ["", "/cart"])
def test_what_is_wrong_has_a_code_of_ofrep(server, make, body, code, path):
    make("cart", parameters={"rollout": 50})
    answer = server.flags(path, body)
    assert (answer.status_code, answer.json["errorCode"]) == (400, code)
    assert answer.json["errorDetails"]
    assert answer.json.get("key") == (path[1:] or None)


def test_a_name_in_an_address_may_be_encoded(server, make):
    make("cart.new")
    assert facts(server.flag("cart%2Enew"))["key"] == "cart.new"
    answer = server.flag("%C3%A9%2Fb")
    assert (answer.status_code, answer.json["key"]) == (404, "é/b")


def test_the_token_may_be_an_api_key(app, server, make):
    make("cart")
    stranger = Front(app, "")
    assert stranger.flags("/cart", X_API_Key=server.token).status_code == 200
    assert stranger.flags("/cart", Authorization=f"Bearer {server.token}").status_code == 200
    assert stranger.flags("/cart").status_code == 401
    assert stranger.flags("/cart", X_API_Key="nonsense").status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/evaluate/flags", 405),
        ("GET", "/evaluate/flags/cart", 405),
        ("POST", "/evaluate", 404),
        ("GET", "/configuration", 404),
    ],
)
def test_other_addresses_and_methods(app, server, *, method, path, status):
    answer = app.test_client().open(f"/ofrep/v1{path}", method=method)
    assert answer.status_code == status
    assert answer.json["errorDetails"]


def test_a_project_of_another_token_is_not_there(new_front, make, admin):
    make("cart")
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop", "environments": ["production"]})
    other = new_front(type="client", projects=["shop"])
    assert other.flag("cart").status_code == 404
    assert other.flags().json["flags"] == []
