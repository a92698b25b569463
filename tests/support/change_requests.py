"""Proposing, approving and applying, as the people of one project do it through the API."""

from collections.abc import Callable
from typing import Any

from werkzeug.test import TestResponse

from tests.support.clients import REASON, ApiClient
from tests.support.people import People

PROJECT = "/projects/pay"
PLACE = f"{PROJECT}/environments/production/change-requests"
LIST = f"{PROJECT}/change-requests"


def switching(feature: str, *, on: bool) -> dict[str, Any]:
    return {"feature": feature, "action": "updateEnabled", "payload": {"enabled": on}}


def rollout(percent: int, **fields: Any) -> dict[str, Any]:
    parameters = {"rollout": str(percent), "stickiness": "userId", "groupId": "g"}
    return {"name": "flexibleRollout", "parameters": parameters, **fields}


class Desk:
    """``admin`` and four members: Kim, who proposes here, Finn, Rosa, and Sofia, an Owner."""

    def __init__(
        self,
        admin: ApiClient,
        *,
        kim: ApiClient,
        finn: ApiClient,
        sofia: ApiClient,
        rosa: ApiClient,
    ) -> None:
        self.admin, self.kim, self.finn, self.sofia, self.rosa = admin, kim, finn, sofia, rosa

    def draft(self, *changes: dict[str, Any], by: ApiClient | None = None) -> Any:
        return (by or self.kim).ok("POST", PLACE, list(changes))

    def open(self, *changes: dict[str, Any], by: ApiClient | None = None) -> int:
        """The number of a change request that waits for approvals."""
        number: int = self.draft(*changes, by=by)["id"]
        self.to("In review", number, by=by)
        return number

    def approved(self, *changes: dict[str, Any]) -> int:
        number = self.open(*changes)
        for person in (self.finn, self.sofia):
            self.to("Approved", number, by=person)
        return number

    def ask(
        self, state: str, number: int, *, by: ApiClient | None = None, **fields: Any
    ) -> TestResponse:
        return (by or self.kim).put(f"{LIST}/{number}/state", {"state": state, **fields})

    def to(self, state: str, number: int, *, by: ApiClient | None = None, **fields: Any) -> Any:
        answer = self.ask(state, number, by=by, **fields)
        assert answer.status_code == 200, answer.text
        return answer.json

    def read(self, number: int, *, by: ApiClient | None = None) -> Any:
        return (by or self.kim).ok("GET", f"{LIST}/{number}")

    def feature(self, name: str = "card", environment: str = "production") -> Any:
        """The feature in the environment, as the API has it."""
        path = f"{PROJECT}/features/{name}/environments/{environment}"
        return self.admin.ok("GET", path)

    def shares(self, environment: str = "production") -> list[str] | None:
        """The shares of users that get card in the environment; None: it is off."""
        place = self.feature(environment=environment)
        found = [each["parameters"]["rollout"] for each in place["strategies"]]
        return found if place["enabled"] else None

    def directly(self, path: str, json: Any = None, method: str = "POST") -> Any:
        """What an Admin does without approval."""
        answer = self.admin.request(
            method,
            f"{PROJECT}/features/{path}",
            json=json,
            headers=REASON,
        )
        assert answer.status_code < 300, answer.text
        return answer.json if answer.data else None

    def recorded(self, type: str) -> Any:
        return self.admin.ok("GET", f"/events?type={type}&project=pay")["events"]


def delivery(admin: ApiClient) -> Callable[[], dict[str, Any]]:
    """Reads what an application gets of the features that are on in production, by name."""
    token = {"tokenName": "web", "type": "client", "environment": "production"}
    client = ApiClient(admin.app, admin.ok("POST", "/api-tokens", token)["secret"])

    def read() -> dict[str, Any]:
        found: Any = client.request("GET", "/api/client/features").json
        return {feature["name"]: feature for feature in found["features"] if feature["enabled"]}

    return read


def new_desk(admin: ApiClient, people: People) -> Desk:
    """A project whose production needs two approvals, with two features."""
    admin.ok("POST", "/projects", {"id": "pay", "name": "Pay"})
    rules = [{"name": "production", "requiredApprovals": 2}]
    body = {"environments": ["development", "production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", f"{PROJECT}/environments", body)
    for name in ("card", "tips"):
        admin.ok("POST", f"{PROJECT}/features", {"name": name})
    return Desk(
        admin,
        kim=people.member("kim", "pay"),
        finn=people.member("finn", "pay"),
        sofia=people.member("sofia", "pay", "Owner"),
        rosa=people.member("rosa", "pay"),
    )
