from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.core import clock
from app.core.clock import utcnow
from tests.support.clients import ApiClient
from tests.support.sdks import Process, Sdk, write_reports

FEATURES = "/projects/default/features"
PLACE = f"{FEATURES}/base/environments/production"
COUNTS = ("confirmed", "sent", "waiting", "silent", "cantTell", "notAffected")


@pytest.fixture
def switch(admin: ApiClient) -> Callable[..., None]:
    """Switches the feature ``base`` on or off."""
    admin.ok("POST", FEATURES, {"name": "base"})

    def change(*, on: bool = True) -> None:
        admin.ok("POST", f"{PLACE}/{'on' if on else 'off'}")

    return change


@pytest.fixture
def process(sdk: Sdk) -> Process:
    return Process(sdk, "one")


@pytest.fixture
def receipts(app: Flask, admin: ApiClient, switch: object) -> Callable[..., Any]:
    """What is known of a change of the feature; ``later``: so many seconds from now."""

    def read(later: float = 0, **query: Any) -> Any:
        write_reports(app)
        with clock.at(utcnow() + timedelta(seconds=later)):
            return admin.ok("GET", f"{PLACE}/receipts", query_string=query)

    return read


@pytest.fixture
def states(receipts: Callable[..., Any]) -> Callable[..., dict[str, int]]:
    """How many instances are in each state that any is in."""

    def read(later: float = 0, **query: Any) -> dict[str, int]:
        found = receipts(later, **query)
        return {name: found[name] for name in COUNTS if found[name]}

    return read
