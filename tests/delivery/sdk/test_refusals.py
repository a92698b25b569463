"""What SDKs are refused, and what they never are: a passing fault is 503, not 401 or 403."""

from datetime import timedelta

import pytest
import time_machine

from app.core.clock import utcnow
from tests.support.clients import error_of
from tests.support.sdks import NEW, Sdk


@pytest.mark.parametrize("token", ["", "nonsense", "*:production.nope", "x" * 600])
def test_an_unknown_token_is_401(app, token):
    assert error_of(Sdk(app, token).get()) == (401, "AuthenticationRequired")


def test_the_token_may_be_bare_or_called_bearer(app, sdk):
    assert Sdk(app, f"Bearer {sdk.token}").get().status_code == 200
    assert Sdk(app, f"bearer  {sdk.token}").get().status_code == 200


def test_a_token_of_the_admin_api_is_403_with_the_way_on(app, admin):
    answer = Sdk(app, admin.token).get()
    assert error_of(answer) == (403, "NoAccessError")
    assert "SDK token" in answer.json["message"]


def test_a_token_for_browsers_is_403_on_servers(new_sdk):
    answer = new_sdk(type="frontend").get()
    assert error_of(answer) == (403, "NoAccessError")
    assert "type client" in answer.json["message"]


def test_an_sdk_token_opens_neither_the_admin_api_nor_the_metrics(app, admin, sdk):
    admin.token = sdk.token
    refused = admin.get("/user")
    assert error_of(refused) == (401, "AuthenticationRequired")
    assert refused.json["message"].startswith("This is an SDK token")
    assert error_of(admin.get("/projects")) == (401, "AuthenticationRequired")


def test_a_revoked_token_is_refused_at_once(admin, sdk):
    assert sdk.get().status_code == 200
    [token] = admin.ok("GET", "/api-tokens")["tokens"]
    admin.ok("DELETE", f"/api-tokens/{token['id']}")
    assert error_of(sdk.get())[0] == 401


def test_an_expired_token_is_refused(new_sdk):
    sdk = new_sdk(expiresAt=(utcnow() + timedelta(hours=1)).isoformat())
    assert sdk.get().status_code == 200
    with time_machine.travel(utcnow() + timedelta(hours=2), tick=False):
        assert error_of(sdk.get())[0] == 401


@pytest.mark.parametrize(
    ("method", "path", "status", "allowed"),
    [
        ("POST", "features", 405, "GET, HEAD"),
        ("GET", "metrics", 405, "POST"),
        ("POST", "delta", 405, "GET"),
        ("POST", "streaming", 405, "GET"),
        ("GET", "nothing", 404, None),
    ],
)
def test_other_addresses_and_methods(app, sdk, *, method, path, status, allowed):
    headers = {"Authorization": sdk.token}
    answer = app.test_client().open(f"/api/client/{path}", method=method, headers=headers)
    assert (error_of(answer)[0], answer.headers.get("Allow")) == (status, allowed)


def test_a_proxy_can_ask_which_tokens_are_valid(app, admin, sdk, new_sdk):
    one = new_sdk(projects=["default"], type="frontend")
    sent = {"tokens": [sdk.token, one.token, admin.token, "nonsense", 7]}
    answer = app.test_client().post("/edge/validate", json=sent)
    assert answer.json == {
        "tokens": [
            {
                "token": sdk.token,
                "type": "client",
                "projects": ["*"],
                "environment": "production",
            },
            {
                "token": one.token,
                "type": "frontend",
                "projects": ["default"],
                "environment": "production",
            },
        ]
    }
    assert error_of(app.test_client().post("/edge/validate", json={"tokens": "x"}))[0] == 400


def test_a_token_that_was_just_created_works_at_once(app, admin, sdk):
    sdk.get()
    made = admin.ok("POST", "/api-tokens", NEW | {"tokenName": "another"})
    assert Sdk(app, made["secret"]).get().status_code == 200


def test_while_the_database_is_away_the_last_state_goes_on_being_served(app, admin, sdk, away):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    known = sdk.get()
    admin.ok("POST", "/projects/default/features", {"name": "shelf"})
    away(is_away=True)
    answer = sdk.get()
    assert (answer.status_code, answer.data) == (200, known.data)
    assert int(answer.headers["Age"]) >= 0
    assert sdk.get(If_None_Match=known.headers["ETag"]).status_code == 304
    unknown = Sdk(app, "*:production.fst_sdk_another").get()
    assert error_of(unknown) == (503, "UnavailableError")
    assert "Retry-After" in unknown.headers
    away(is_away=False)
    assert "shelf" in sdk.features
    assert "Age" not in sdk.get().headers


def test_an_environment_that_was_never_asked_for_is_503_while_the_database_is_away(
    admin, sdk, new_sdk, away
):
    admin.ok("POST", "/environments", {"name": "far", "type": "test"})
    other = new_sdk(environment="far")
    assert sdk.get().status_code == 200
    away(is_away=True)
    assert error_of(other.get()) == (503, "UnavailableError")
