from typing import Any

import pytest

from tests.releases.plans import conftest
from tests.releases.plans.conftest import PLANS, Releases, step
from tests.support.clients import ApiClient

feature, releases = conftest.feature, conftest.releases

ROOT = "/release-plan-templates"
SHOP = "/projects/shop/release-templates"
QUICK = {"name": "Quick", "description": "In an hour", "milestones": [step(5), step(100, None)]}


@pytest.fixture
def quick(admin: ApiClient) -> Any:
    """A template with two steps that all projects can use."""
    return admin.ok("POST", ROOT, QUICK)


@pytest.fixture
def quick_id(quick: Any) -> str:
    return str(quick["id"])


@pytest.fixture
def own(admin: ApiClient) -> Any:
    """A template that only the project shop can use."""
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    return admin.ok("POST", SHOP, {**QUICK, "name": "Own"})


def names(client: ApiClient, path: str) -> list[str]:
    return [each["name"] for each in client.ok("GET", path)]


def started(releases: Releases, template: str) -> Any:
    """A release with the steps of the template."""
    found = releases.admin.ok("POST", PLANS, {"templateId": template, "start": True})
    releases.id = found["id"]
    return found
