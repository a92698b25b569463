"""Signing in under attack: nothing is told by how long it takes, and nobody else suffers."""

import random
from collections.abc import Sequence
from itertools import combinations, count

import pytest

from tests.soak.attempts import PROXY, Attacker, person

PASSWORD = "four words that nobody guesses"
TIMES = 400
NAMES = 12
"""Of each kind: so few attempts are at each that none has to wait."""


def likelihood(some: Sequence[float], others: Sequence[float]) -> float:
    """How likely one of ``some`` is greater than one of ``others``: 0.5 if nothing tells them."""
    greater = sum((one > other) + (one == other) / 2 for one in some for other in others)
    return greater / (len(some) * len(others))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> dict[str, str]:
    """The setting that chooses it."""
    if request.param == "sqlite":
        return {}
    return {"DATABASE_URL": request.getfixturevalue("empty_postgresql")}


def test_how_long_a_refusal_takes_does_not_tell_whether_there_is_an_account(start, database):
    server = start(**PROXY, **database)
    kinds = {
        "known": [f"known-{n}" for n in range(NAMES)],
        "deleted": [f"deleted-{n}" for n in range(NAMES)],
        "unknown": [f"unknown-{n}" for n in range(NAMES)],
    }
    for name in kinds["known"]:
        person(server, name, PASSWORD)
    for name in kinds["deleted"]:
        id = person(server, name, PASSWORD)
        assert server.call("DELETE", f"/api/admin/user-admin/{id}").status == 200
    took: dict[str, list[float]] = {kind: [] for kind in kinds}
    numbers, chance = count(), random.Random(7)
    with Attacker(server) as attacker:
        for kind in list(kinds) * 5:
            attacker.attempt("warming-up-" + kind, "wrong", f"172.16.{next(numbers)}.1")
        for turn in range(TIMES):
            for kind in chance.sample(list(kinds), len(kinds)):
                number = next(numbers)
                ip = f"10.{number // 250}.{number % 250}.1"
                assert attacker.attempt(kinds[kind][turn % NAMES], "wrong", ip) == (400, None)
                took[kind].append(attacker.seconds)
    told = {
        f"{one} / {other}": round(likelihood(took[one], took[other]), 3)
        for one, other in combinations(kinds, 2)
    }
    print("how likely the first takes longer:", told)
    assert all(0.45 <= value <= 0.55 for value in told.values()), told
