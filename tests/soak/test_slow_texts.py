"""No text that fits into a request keeps the server busy for long."""

import json
import time
from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from tests.support.browser import Browser

LONG, LARGEST = 100_000, 2_000_000
"""Characters of a text that anyone might paste; bytes that a request may have."""
P99, SLOWEST, SLOWEST_LARGE = 0.1, 0.5, 3.0

TEXTS: dict[str, Callable[[int], str]] = {
    "letters": lambda n: "a" * n,
    "spaces": lambda n: " " * (n - 1) + "x",
    "spaces at the end": lambda n: "x" + " " * (n - 1) + "\x07",
    "line breaks": lambda n: "\r\n" * (n // 2),
    "digits": lambda n: "9" * n,
    "dots": lambda n: "a." * (n // 2),
    "dashes": lambda n: "-" * n,
    "at signs": lambda n: "a@" * (n // 2),
    "a long domain": lambda n: "a@" + "a-" * (n // 2) + "!",
    "a quoted address": lambda n: '"' + "\\a" * (n // 2) + "@a",
    "times": lambda n: "2026-01-01T00:00:00." + "0" * n + "Z",
    "backslashes": lambda n: "\\" * n,
    "marks out of order": lambda n: "\u0301" * (n // 4) + "\u0316" * (n // 4),
    "marks that come apart": lambda n: "\u0f73" * (n // 3),
    "what unfolds": lambda n: "\ufdfa" * (n // 3),
    "colons": lambda n: ":" * n,
    "brackets": lambda n: "[" * n,
    "percent signs": lambda n: "%" * n,
}
LISTS = {
    "numbers": lambda n: [1] * (n // 2),
    "objects": lambda n: [{}] * (n // 3),
    "empty names": lambda n: [""] * (n // 3),
    "lists": lambda n: [[]] * (n // 3),
}

FIELDS = [
    ("PUT", "/projects/shop", "name"),
    ("PUT", "/projects/shop", "description"),
    ("PUT", "/projects/shop", "defaultStickiness"),
    ("PUT", "/projects/shop", "mode"),
    ("POST", "/projects", "id"),
    ("POST", "/tag-types", "name"),
    ("POST", "/tag-types", "description"),
    ("POST", "/user-admin", "email"),
    ("POST", "/user-admin", "username"),
    ("POST", "/service-account", "username"),
    ("POST", "/user/tokens", "expiresAt"),
    ("POST", "/user/change-password", "oldPassword"),
    ("POST", "/user/change-password", "newPassword"),
    ("POST", "/feedback", "feedbackId"),
    ("PUT", "/projects/shop/features/a", "type"),
]
ARRAYS = [
    ("PUT", "/projects/shop/access", {"members": ...}),
    ("PUT", "/projects/shop/environments", {"environments": ...}),
    ("PUT", "/projects/shop/environments", {"changeRequestEnvironments": ...}),
    ("PUT", "/projects/shop/tags", {"features": ..., "tags": {}}),
    ("PUT", "/projects/shop/tags", {"features": ["a"], "tags": {"addedTags": ...}}),
    ("POST", "/projects/shop/archive", {"features": ...}),
    ("POST", "/user-admin/inactive/delete", {"ids": ...}),
]


class Stopwatch:
    """Measures requests; none of them may be a fault of the server."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, what: str, ask: Callable[[], TestResponse]) -> None:
        began = time.perf_counter()
        answer = ask()
        self.seconds[what] = time.perf_counter() - began
        assert answer.status_code < 500, what

    def check(self, *, slowest: float, p99: float | None = None) -> None:
        ordered = sorted(self.seconds.items(), key=lambda kv: kv[1])
        what, longest = ordered[-1]
        most = ordered[int(len(ordered) * 0.99)][1]
        print(f"\n{len(ordered)} requests, p99 {most:.3f} s, slowest {longest:.3f} s ({what})")
        assert longest < slowest, what
        assert p99 is None or most < p99


def with_value(body: dict, value: object) -> dict:
    return {
        key: value if part is ... else with_value(part, value) if isinstance(part, dict) else part
        for key, part in body.items()
    }


@pytest.mark.parametrize("app", ["sqlite"], indirect=True)
def test_no_text_in_json_takes_long(root, world):
    for length, p99, slowest in ((LONG, P99, SLOWEST), (LARGEST, None, SLOWEST_LARGE)):
        watch = Stopwatch()
        for (method, path, field), (name, text) in (
            (one, other) for one in FIELDS for other in TEXTS.items()
        ):
            sent = {field: text(length // 2 if name == "backslashes" else length)}
            data = json.dumps(sent, ensure_ascii=False).encode()
            watch.time(
                f"{name} in {field} of {path}",
                lambda m=method, p=path, d=data: root.request(
                    m, p, data=d, content_type="application/json"
                ),
            )
        watch.check(slowest=slowest, p99=p99)


@pytest.mark.parametrize("app", ["sqlite"], indirect=True)
def test_no_list_of_faults_takes_long(root, world):
    watch = Stopwatch()
    for method, path, body in ARRAYS:
        for name, items in LISTS.items():
            data = json.dumps(with_value(body, items(LARGEST)), separators=(",", ":")).encode()
            if name == "numbers" and "inactive" in path:
                continue  # these are no faults
            watch.time(
                f"{name} in {path}",
                lambda m=method, p=path, d=data: root.request(
                    m, p, data=d, content_type="application/json"
                ),
            )
    keys = ",".join(f'"a{number}":0' for number in range(LARGEST // 12))
    twice = f'{{{keys},"z":0,"z":0}}'.encode()
    watch.time(
        "a key that stands twice after many",
        lambda: root.put("/projects/shop", data=twice, content_type="application/json"),
    )
    watch.check(slowest=SLOWEST_LARGE)


@pytest.mark.parametrize("app", ["sqlite"], indirect=True)
def test_visitors_can_not_keep_the_server_busy(app, people):
    visitor = Browser(app)
    token = visitor.csrf_token()
    watch = Stopwatch()
    for field in ("name", "password", "kept", "next"):
        for name, text in TEXTS.items():
            sent = {"name": "a", "password": "b", field: text(LARGEST // 6), "csrf_token": token}
            watch.time(f"{name} in {field}", lambda s=sent: visitor.post("/sign-in", s).answer)
    watch.check(slowest=SLOWEST_LARGE)
