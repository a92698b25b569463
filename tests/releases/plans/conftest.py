from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.core import clock
from app.core.clock import utcnow
from app.releases.plans.running import start_due
from tests.support.change_requests import Desk, new_desk
from tests.support.clients import ApiClient
from tests.support.people import People

FEATURES = "/projects/default/features"
PLACE = f"{FEATURES}/base/environments/production"
PLANS = f"{PLACE}/release-plans"


def rollout(share: int, **more: Any) -> dict[str, Any]:
    return {"name": "flexibleRollout", "parameters": {"rollout": str(share)}, **more}


def step(share: int, minutes: int | None = 60, *, manual: bool = False) -> dict[str, Any]:
    condition = {"intervalMinutes": minutes, "manual": manual} if minutes else None
    return {
        "name": f"{share}%",
        "strategies": [rollout(share)],
        "transitionCondition": condition,
    }


STEPS = [step(5), step(25), step(50), step(100, None)]


@pytest.fixture
def feature(admin: ApiClient) -> None:
    """The feature ``base``."""
    admin.ok("POST", FEATURES, {"name": "base"})


class Releases:
    """Releases of the feature ``base``, at a clock that tests move."""

    def __init__(self, app: Flask, admin: ApiClient) -> None:
        self._app, self.admin, self.later = app, admin, timedelta()
        self.id = ""

    def create(self, *steps: dict[str, Any], **body: Any) -> Any:
        body = {"milestones": steps or STEPS, "start": True, **body}
        with self._at():
            found = self.admin.ok("POST", PLANS, body)
        self.id = found["id"]
        return found

    def wait(self, **time: int) -> Any:
        """Let so much time pass; then the runner looks once. Return the release."""
        self.later += timedelta(**time)
        run(self._app, self.later)
        return self.read()

    def act(self, act: str, status: int = 200, **body: Any) -> Any:
        with self._at():
            response = self.admin.post(f"{PLANS}/{self.id}/{act}", body)
        assert response.status_code == status, response.text
        return response.json

    def read(self) -> Any:
        with self._at():
            return self.admin.ok("GET", f"{PLANS}/{self.id}")

    def rollouts(self) -> list[str] | None:
        """The shares that applications get; None: the feature is off."""
        place = self.admin.ok("GET", PLACE)
        shares = [each["parameters"]["rollout"] for each in place["strategies"]]
        return shares if place["enabled"] else None

    def _at(self) -> Any:
        return clock.at(utcnow() + self.later)


@pytest.fixture
def releases(app: Flask, admin: ApiClient, feature: None) -> Releases:
    return Releases(app, admin)


def run(app: Flask, after: timedelta) -> None:
    """Let the runner look once, after so much time."""
    with clock.at(utcnow() + after), app.app_context():
        start_due()


@pytest.fixture
def desk(admin: ApiClient, people: People) -> Desk:
    return new_desk(admin, people)


def segment(admin: ApiClient, *values: str) -> int:
    """The id of a new segment, of people with these ids."""
    constraint = {"contextName": "userId", "operator": "IN", "values": values}
    body = {"name": "Staff", "constraints": [constraint]}
    return int(admin.ok("POST", "/segments", body)["id"])
