"""Attempts to sign in at a real server, each from whatever address one likes.

``python -m tests.soak.attempts PORT SECONDS`` makes them from a process of its own.
"""

import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Self
from urllib.parse import urlencode

from tests.support.servers import Server

PROXY = {"TRUSTED_PROXY": "127.0.0.1", "BASE_URL": "http://127.0.0.1"}
"""Settings with which a server believes clients from here about their address."""


class Attacker:
    """Sends the sign-in form over one connection."""

    def __init__(self, server: Server | int) -> None:
        port = server if isinstance(server, int) else server.port
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._connection.request("GET", "/sign-in")
        answer = self._connection.getresponse()
        found = re.search(r'name="csrf_token" value="([^"]+)"', answer.read().decode())
        assert found is not None
        self._token = found[1]
        self._cookie = answer.headers["Set-Cookie"].partition(";")[0]
        self.seconds = 0.0
        """How long the latest answer took."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def attempt(self, name: str, password: str, ip: str = "127.0.0.1") -> tuple[int, str | None]:
        """Status and Retry-After."""
        body = urlencode({"csrf_token": self._token, "name": name, "password": password})
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": self._cookie,
            "X-Forwarded-For": ip,
        }
        began = time.perf_counter()
        self._connection.request("POST", "/sign-in", body, headers)
        answer = self._connection.getresponse()
        answer.read()
        self.seconds = time.perf_counter() - began
        if answer.status == HTTPStatus.SEE_OTHER:
            self._cookie = answer.headers["Set-Cookie"].partition(";")[0]
        return answer.status, answer.headers["Retry-After"]

    def send(self, path: str, form: dict[str, str]) -> int:
        """The status of a form that is sent with the session, and without a valid token."""
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": self._cookie,
            "Sec-Fetch-Site": "same-origin",
        }
        self._connection.request("POST", path, urlencode(form), headers)
        answer = self._connection.getresponse()
        answer.read()
        return answer.status


def person(server: Server, name: str, password: str, *, role: int = 3) -> int:
    """Create a user with a password and return the id."""
    made = server.call("POST", "/api/admin/user-admin", {"username": name, "rootRole": role}).json
    path = "/" + made["inviteLink"].split("/", 3)[3]
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    found = re.search(r'name="csrf_token" value="([^"]+)"', answer.read().decode())
    assert found is not None
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Cookie": answer.headers["Set-Cookie"].partition(";")[0],
    }
    body = urlencode({"csrf_token": found[1], "new_password": password})
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.status == 303, answer.status
    return int(made["id"])


ATTACKERS = 40


def attack(port: int, seconds: float) -> Counter[int]:
    """Guess at many accounts from everywhere at once; how it was answered."""

    def work(number: int) -> Counter[int]:
        statuses: Counter[int] = Counter()
        with Attacker(port) as attacker:
            while time.monotonic() < end:
                turn = statuses.total()
                ip = f"10.{number}.{turn % 250}.1"
                statuses[attacker.attempt(f"name-{number}-{turn}", "wrong", ip)[0]] += 1
        return statuses

    end = time.monotonic() + seconds
    with ThreadPoolExecutor(ATTACKERS) as threads:
        return sum(threads.map(work, range(ATTACKERS)), Counter())


if __name__ == "__main__":
    print("attempts:", dict(attack(int(sys.argv[1]), float(sys.argv[2]))))
