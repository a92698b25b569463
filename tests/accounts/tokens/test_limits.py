"""A token that was created with another token never outlives it."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from flask import Flask

from tests.support.clients import ApiClient, problems_of
from tests.support.people import People

START = datetime(2027, 1, 1, tzinfo=UTC)
LATEST = "2027-01-01T01:00:00.000Z"
LATER = "2027-01-01T01:00:00.001Z"
REFUSAL = {
    "/expiresAt": f"Must not be later than {LATEST}, when the token of this request expires."
}


@pytest.fixture(params=["own", "of a service account"])
def limited(request, app: Flask, people: People) -> tuple[ApiClient, str]:
    """A client whose token expires in an hour, and the path of tokens that it creates."""
    boss = people.person("boss", role="Admin")
    robot = people.service_account("robot")
    with time_machine.travel(START, tick=False):
        made = ApiClient(app, people.token(boss)).ok(
            "POST", "/user/tokens", {"description": "limited", "expiresAt": LATEST}
        )
        path = "/user/tokens" if request.param == "own" else f"/service-account/{robot}/token"
        yield ApiClient(app, made["secret"]), path


def test_without_an_expiry_a_token_gets_that_of_its_maker(limited):
    client, path = limited
    for body in ({}, {"expiresAt": None}):
        made = client.ok("POST", path, {"description": str(body)} | body)
        assert made["expiresAt"] == LATEST


def test_a_token_can_expire_when_its_maker_does_but_not_later(limited):
    client, path = limited
    made = client.ok("POST", path, {"description": "same", "expiresAt": LATEST})
    assert made["expiresAt"] == LATEST
    refused = client.post(path, {"description": "later", "expiresAt": LATER})
    assert (refused.status_code, problems_of(refused)) == (400, REFUSAL)
    listed = client.ok("GET", path)["tokens"]
    assert "later" not in [token["description"] for token in listed]


def test_a_chain_of_tokens_ends_with_the_first(app, limited):
    client, _ = limited
    for number in range(3):
        made = client.ok("POST", "/user/tokens", {"description": f"link {number}"})
        client = ApiClient(app, made["secret"])
    assert made["expiresAt"] == LATEST


def test_a_rotated_token_does_not_outlive_the_token_of_the_request(app, people, limited):
    client, _ = limited
    path = f"/service-account/{people.service_account('deploy')}/token"
    unlimited = ApiClient(app, people.token(1, "unlimited"))
    for description, expires in (("forever", None), ("a year", "2028-01-01T00:00:00Z")):
        body = {"description": description, "expiresAt": expires}
        old = unlimited.ok("POST", path, body)["id"]
        refused = client.post(f"{path}/{old}/rotate", {"expiresAt": LATER})
        assert (refused.status_code, problems_of(refused)) == (400, REFUSAL)
        assert client.ok("POST", f"{path}/{old}/rotate", {})["expiresAt"] == LATEST


def test_a_token_does_not_prolong_itself_by_rotation(app, people):
    robot = people.service_account("robot", role="Admin")
    path = f"/service-account/{robot}/token"
    with time_machine.travel(START, tick=False) as clock:
        boss = people.client("boss", role="Admin")
        token = boss.ok("POST", path, {"description": "ci", "expiresAt": LATEST})
        clock.shift(timedelta(minutes=30))
        client = ApiClient(app, token["secret"])
        made = client.ok("POST", f"{path}/{token['id']}/rotate", {"overlapHours": 0})
        assert made["expiresAt"] == LATEST


def test_a_token_without_an_expiry_sets_no_limit(app, people):
    client = people.client("boss", role="Admin")
    assert client.ok("POST", "/user/tokens", {"description": "x"})["expiresAt"] is None


@pytest.mark.parametrize("expires", [None, "2027-04-01T00:00:00.000Z"])
def test_rotating_itself_with_an_overlap_keeps_the_expiry(app, people, expires):
    robot = people.service_account("robot", role="Admin")
    path = f"/service-account/{robot}/token"
    with time_machine.travel(START, tick=False):
        boss = people.client("boss", role="Admin")
        token = boss.ok("POST", path, {"description": "ci", "expiresAt": expires})
        client = ApiClient(app, token["secret"])
        made = client.ok("POST", f"{path}/{token['id']}/rotate", {"overlapHours": 24})
        assert made["expiresAt"] == expires
