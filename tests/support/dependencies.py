"""What features depend on."""

from typing import Any

from tests.support.clients import ApiClient


def parents(client: ApiClient, feature: str) -> list[str]:
    """The parents of the feature at this path, by name."""
    return parents_in(client.ok("GET", feature))


def parents_in(row: dict[str, Any]) -> list[str]:
    return [link["feature"] for link in row["dependencies"]]


def rule(parent: str) -> dict[str, object]:
    """What the event log records of a dependency that asks for nothing special."""
    return {"parent": parent, "enabled": True, "variants": []}
