"""A directory with 2,000 users and 50 groups comes and goes, as fast as one that syncs."""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.access.scim.conftest import GROUP, PATCH, USER
from tests.support.machines import Machine
from tests.support.servers import TOKEN, Server

USERS, GROUPS = 2_000, 50
IN_EACH = USERS * 2 // GROUPS
GOAL = 60.0
AT_ONCE = 4
"""Connections, as directories have several."""


class Sync:
    """One connection of a directory."""

    def __init__(self, server: Server, token: str) -> None:
        self.connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/scim+json"}
        self.statuses: Counter[int] = Counter()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        self.connection.request(method, f"/scim/v2{path}", data, self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        self.statuses[answer.status] += 1
        assert answer.status < 300, text
        return json.loads(text) if text else None


def patch(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"schemas": [PATCH], "Operations": list(operations)}


def make_user(sync: Sync, number: int) -> str:
    name = f"user{number}@example.org"
    found = sync.send("GET", f"/Users?filter=userName%20eq%20%22{name}%22")
    assert found["totalResults"] == 0
    user = {
        "schemas": [USER],
        "userName": name,
        "externalId": f"x{number}",
        "displayName": f"User {number}",
        "emails": [{"value": name, "primary": True, "type": "work"}],
        "active": True,
    }
    return str(sync.send("POST", "/Users", user)["id"])


def make_group(ids: list[str], sync: Sync, name: str) -> str:
    """A group with members, which come in parts as large directories send them."""
    made = sync.send("POST", "/Groups", {"schemas": [GROUP], "displayName": name})
    start = int(name.rsplit(maxsplit=1)[-1]) * 40
    members = [{"value": ids[(start + each) % USERS]} for each in range(IN_EACH)]
    for first in range(0, IN_EACH, 40):
        some = {"op": "add", "path": "members", "value": members[first : first + 40]}
        sync.send("PATCH", f"/Groups/{made['id']}", patch(some))
    return str(made["id"])


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_directory_comes_and_goes_within_a_minute(
    start: Callable[..., Server],
    machine: Machine,
    request: pytest.FixtureRequest,
    database: str,
):
    settings = {}
    if database == "postgresql":
        settings["DATABASE_URL"] = request.getfixturevalue("empty_postgresql")
    server = start(**settings)
    secret = server.call("POST", "/api/admin/scim-tokens", {"tokenName": "big"}).json["secret"]
    groups = [f"group {number}" for number in range(GROUPS)]
    grants = [{"id": "default", "roleId": 5}]
    body = {"name": groups[0], "rootRole": 2, "projects": grants}
    assert server.call("POST", "/api/admin/groups", body).status == 201
    syncs = [Sync(server, secret) for _ in range(AT_ONCE)]

    def share(work: Callable[[Sync, Any], Any], items: Sequence[Any]) -> list[Any]:
        """What ``work`` returns for each item, by as many connections as a directory has."""

        def do(number: int) -> list[Any]:
            return [work(syncs[number], item) for item in items[number::AT_ONCE]]

        with ThreadPoolExecutor(AT_ONCE) as threads:
            return [each for found in threads.map(do, range(AT_ONCE)) for each in found]

    started = time.perf_counter()
    ids = share(make_user, range(USERS))
    made = share(partial(make_group, ids), groups)
    arrived = time.perf_counter() - started
    off = patch({"op": "replace", "value": {"active": False}})
    share(lambda sync, each: sync.send("PATCH", f"/Users/{each}", off), ids)
    share(lambda sync, each: sync.send("DELETE", f"/Groups/{each}"), made)
    share(lambda sync, each: sync.send("DELETE", f"/Users/{each}"), ids)
    whole = time.perf_counter() - started
    statuses: Counter[int] = Counter()
    for sync in syncs:
        statuses += sync.statuses
    for sync in syncs:
        sync.connection.close()
    print(f"{database}: in {arrived:.1f} s, in and out {whole:.1f} s, {dict(statuses)}")

    def count(type: str) -> int:
        answer = server.call("GET", f"/api/admin/events?type={type}&limit=1", token=TOKEN)
        return int(answer.json["total"])

    assert {type: count(type) for type in ("user-created", "user-deactivated", "user-deleted")} == {
        "user-created": USERS,
        "user-deactivated": USERS,
        "user-deleted": USERS,
    }
    assert count("group-created") == GROUPS
    assert server.call("GET", "/api/admin/user-admin?limit=1").json["total"] == 0
    members = server.call("GET", "/api/admin/projects/default/access").json["members"]
    assert members == []
    assert whole <= GOAL
