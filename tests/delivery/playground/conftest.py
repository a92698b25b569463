from typing import Any

import pytest

from tests.support.clients import ApiClient

NORDIC = {"contextName": "country", "operator": "IN", "values": ["NO", "SE"]}


@pytest.fixture
def shop(admin: ApiClient) -> ApiClient:
    """A parent and a child in two environments, with all that a strategy can have."""
    admin.ok("POST", "/context", {"name": "country", "stickiness": True})
    admin.ok("POST", "/segments", {"name": "Beta", "constraints": [{**NORDIC}]})
    admin.ok("POST", "/strategies", {"name": "our-own", "parameters": []})
    for name in ("parent", "child", "off"):
        admin.ok("POST", "/projects/default/features", {"name": name})
    for environment in ("development", "production"):
        admin.ok("POST", f"{place('parent', environment)}/on")
    admin.ok("POST", f"{place('child')}/strategies", {"name": "default", "disabled": True})
    admin.ok("POST", f"{place('child')}/strategies", rollout(40))
    admin.ok("POST", f"{place('child')}/strategies", {"name": "our-own", "constraints": [NORDIC]})
    admin.ok("POST", f"{place('child')}/on")
    admin.ok("POST", "/projects/default/features/child/dependencies", {"feature": "parent"})
    return admin


def place(name: str, environment: str = "development") -> str:
    return f"/projects/default/features/{name}/environments/{environment}"


def rollout(share: int) -> dict[str, Any]:
    return {
        "name": "flexibleRollout",
        "title": "Nordic",
        "parameters": {"rollout": str(share), "stickiness": "userId"},
        "constraints": [NORDIC],
        "segments": [1],
        "variants": [{"name": "blue", "payload": {"type": "string", "value": "x"}}],
    }
