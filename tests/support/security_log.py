"""Reading the security log."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.people import People

Entry = dict[str, Any]
Log = Callable[..., list[Entry]]


@pytest.fixture
def log(people: People) -> Log:
    """Reads the log as an Admin: the entries of a kind, newest first."""
    reader = people.client("reader", role="Admin")

    def read(kind: str = "", **filters: object) -> list[Entry]:
        given = {"kind": kind, "limit": 1000} | filters
        query = "&".join(f"{name}={value}" for name, value in given.items() if value)
        found: list[Entry] = reader.ok("GET", f"/security-log?{query}")["entries"]
        return found

    return read


def facts(entry: Entry) -> tuple[object, ...]:
    """Who, from where, what about it, and how often."""
    return entry["name"], entry["ip"], entry["detail"], entry["times"]
