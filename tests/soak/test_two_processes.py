"""Two processes on one database: what one answered for, the other goes by at its next request."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from tests.support.servers import Answer, Server

ADMIN = "/api/admin"
TRIALS = 100
CHANGES = 60


def status_of(server: Server, secret: str) -> int:
    return server.call("GET", f"{ADMIN}/user", token=secret).status


def new_token(server: Server, description: str, **fields: Any) -> tuple[str, str]:
    """The path of a token of a new service account, and its secret."""
    made = server.call("POST", f"{ADMIN}/service-account", {"rootRole": 3}).json
    path = f"{ADMIN}/service-account/{made['id']}/token"
    token = server.call("POST", path, {"description": description} | fields).json
    return f"{path}/{token['id']}", token["secret"]


def test_a_token_that_has_ended_at_one_is_refused_by_the_other_at_once(pair):
    def revoke(server: Server, path: str) -> Answer:
        return server.call("DELETE", path)

    def rotate(server: Server, path: str) -> Answer:
        return server.call("POST", f"{path}/rotate", {"overlapHours": 0})

    def delete_owner(server: Server, path: str) -> Answer:
        return server.call("DELETE", path.partition("/token")[0])

    accepted = []
    for trial in range(TRIALS):
        end = (revoke, rotate, delete_owner)[trial % 3]
        here, there = random.sample(pair, 2)
        path, secret = new_token(here, "to be ended")
        assert status_of(there, secret) == 200
        assert end(here, path).status < 300
        if status_of(there, secret) != 401:
            accepted.append(end.__name__)
    print(f"accepted after their end: {len(accepted)} of {TRIALS}")
    assert accepted == []


def test_a_token_expires_at_both_at_its_moment(pair):
    here, there = pair
    for _ in range(TRIALS // 5):
        moment = datetime.now(UTC) + timedelta(seconds=0.4)
        _, secret = new_token(here, "short", expiresAt=moment.isoformat())
        assert status_of(there, secret) == 200
        time.sleep(max((moment - datetime.now(UTC)).total_seconds(), 0))
        assert (status_of(there, secret), status_of(here, secret)) == (401, 401)


class Asked(NamedTuple):
    began: float
    ended: float
    status: int


@contextmanager
def asking(servers: list[Server], ask: Callable[[Server], int]) -> Iterator[list[Asked]]:
    """Ask all of them without a pause during the block."""
    heard: list[Asked] = []
    stop = threading.Event()

    def work(server: Server) -> None:
        while not stop.is_set():
            began = time.monotonic()
            status = ask(server)
            heard.append(Asked(began, time.monotonic(), status))

    threads = [threading.Thread(target=work, args=[server]) for server in servers * 2]
    for thread in threads:
        thread.start()
    try:
        yield heard
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def change_to_and_fro(change: Callable[[int], Answer]) -> Iterator[Asked]:
    """Change something many times; when, and which of two states it was in after that."""
    for number in range(CHANGES):
        began = time.monotonic()
        assert change(number % 2).status == 200
        yield Asked(began, time.monotonic(), number % 2)
        time.sleep(0.06)


def against(heard: list[Asked], changes: list[Asked], expected: tuple[int, int]) -> Counter[str]:
    """How the questions were answered that lie wholly between two changes."""
    found: Counter[str] = Counter()
    for change, following in pairwise(changes):
        for asked in heard:
            if change.ended < asked.began and asked.ended < following.began:
                found["right" if asked.status == expected[change.status] else "wrong"] += 1
    return found


def test_no_request_after_the_answer_to_a_change_of_role_uses_the_old_one(around):
    servers, _ = around
    path, secret = new_token(servers[0], "robot")
    account = path.partition("/token")[0]

    def read_log(server: Server) -> int:
        return server.call("GET", f"{ADMIN}/events?limit=1", token=secret).status

    def change(state: int) -> Answer:
        return servers[0].call("PUT", account, {"rootRole": (2, 3)[state]})

    with asking(servers, read_log) as heard:
        changes = list(change_to_and_fro(change))
    found = against(heard, changes, (200, 403))
    print("after a change of the root role:", dict(found))
    assert found["right"] > CHANGES
    assert found["wrong"] == 0


def test_no_request_after_the_answer_to_a_change_of_members_goes_by_the_old_ones(around):
    servers, _ = around
    path, secret = new_token(servers[0], "robot")
    member = [{"id": int(path.split("/")[4]), "roleId": 5}]
    project = f"{ADMIN}/projects/default"
    owners = servers[0].call("GET", f"{project}/access").json["members"]

    def validate(server: Server) -> int:
        body: dict[str, list[str]] = {"features": []}
        return server.call("POST", f"{project}/archive/validate", body, token=secret).status

    def change(state: int) -> Answer:
        members = owners + member * (1 - state)
        return servers[0].call("PUT", f"{project}/access", {"members": members})

    with asking(servers, validate) as heard:
        changes = list(change_to_and_fro(change))
    found = against(heard, changes, (200, 403))
    print("after a change of members:", dict(found))
    assert found["right"] > CHANGES
    assert found["wrong"] == 0
