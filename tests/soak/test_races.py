"""The races again, among real processes: one on SQLite, two on PostgreSQL."""

import random
from collections.abc import Callable, Iterator
from itertools import count, cycle
from typing import Any, NamedTuple

import pytest

from tests.support.clients import BASE
from tests.support.machines import Machine
from tests.support.races import (
    CROWD,
    add_tags,
    at_once,
    crowd,
    make_features,
    statuses,
    tag_randomly,
    tags_as_they_are,
    tags_as_told,
)
from tests.support.servers import Server

ROUNDS = 20
TAGGINGS = 30


class Reply(NamedTuple):
    """An answer in the words of the client that tests have inside the application."""

    status_code: int
    json: Any
    text: str


class Client:
    """A client whose requests go to the processes by turns."""

    def __init__(self, servers: list[Server]) -> None:
        self._turns = cycle(servers)

    def request(self, method: str, path: str, json: Any = None) -> Reply:
        answer = next(self._turns).call(method, BASE + path, json)
        body = answer.json if answer.data else None
        return Reply(answer.status, body, answer.data.decode())

    def post(self, path: str, json: Any) -> Reply:
        return self.request("POST", path, json)

    def put(self, path: str, json: Any) -> Reply:
        return self.request("PUT", path, json)

    def ok(self, method: str, path: str, json: Any = None) -> Any:
        answer = self.request(method, path, json)
        assert answer.status_code < 300, answer
        return answer.json


@pytest.fixture(params=["sqlite", "postgresql"])
def admin(
    request: pytest.FixtureRequest, machine: Machine, start: Callable[..., Server]
) -> Iterator[Client]:
    """After each test: the log is unbroken, and has no gap."""
    if request.param == "postgresql":
        machine.settings["DATABASE_URL"] = request.getfixturevalue("empty_postgresql")
    client = Client([start() for _ in range(1 if request.param == "sqlite" else 2)])
    yield client
    newest = client.ok("GET", "/events?limit=1")
    assert newest["events"][0]["id"] == newest["total"]
    said = machine.ok("events", "verify")
    assert said.startswith(f"{newest['total']:,} events, intact")


NAMED: list[tuple[str, str, Callable[[int, int], dict[str, Any]]]] = [
    ("/projects", "project-created", lambda turn, n: {"id": f"p{turn}", "name": f"P {n}"}),
    ("/projects/default/features", "feature-created", lambda turn, _: {"name": f"f{turn}"}),
    (
        "/service-account",
        "service-account-created",
        lambda turn, n: {"username": f"{'bB'[n % 2]}{turn}", "rootRole": 3},
    ),
    (
        "/user-admin",
        "user-created",
        lambda turn, n: {"email": f"{'bB'[n % 2]}{turn}@example.org", "rootRole": 3},
    ),
    ("/tag-types", "tag-type-created", lambda turn, _: {"name": f"t{turn}"}),
]


@pytest.mark.parametrize(("path", "told", "body"), NAMED, ids=[path for path, *_ in NAMED])
def test_of_fifty_at_once_one_gets_the_name(admin, path, told, body):
    before = admin.ok("GET", f"/events?type={told}")["total"]
    for turn in range(ROUNDS):
        answers = crowd(admin, path, [body(turn, number) for number in range(CROWD)])
        assert statuses(answers) == {201: 1, 409: CROWD - 1}
    assert admin.ok("GET", f"/events?type={told}")["total"] == before + ROUNDS


def test_tagging_the_same_features_in_any_order_ends_as_recorded(admin):
    names = [f"f{number}" for number in range(30)]
    make_features(admin, *names)
    chance, numbers = random.Random(20_260_103), count()
    for _ in range(TAGGINGS):
        random_ones = [tag_randomly(admin, names, chance.random()) for _ in range(12)]
        new_ones = [add_tags(admin, chance.choice(names), [f"n{next(numbers)}"]) for _ in range(4)]
        answers = at_once(random_ones + new_ones)
        assert statuses(answers) == {200: 16}, [a.text for a in answers if a.status_code != 200]
    assert tags_as_told(admin) == tags_as_they_are(admin)
