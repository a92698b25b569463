"""Signing in under attack: its time reveals nothing, and no one else is delayed."""

import random
import subprocess
import sys
import time
from itertools import combinations, count
from pathlib import Path

from tests.soak.attempts import PROXY, Attacker, person
from tests.soak.likelihood import likelihood
from tests.support.servers import Server

PASSWORD = "four words that no one guesses"
ROOT = Path(__file__).resolve().parents[2]
TIMES = 400
GUESSES = 1_000
ATTACKED_FOR = 10
LONGEST_WAIT = 5.0
"""In seconds, on a busy machine: a new request waits behind those in the queue."""
NAMES = 12
"""Of each kind: so few attempts are at each that none has to wait."""


def test_how_long_a_refusal_takes_does_not_tell_whether_there_is_an_account(start, either):
    server = start(**PROXY, **either)
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


def test_forty_guessers_slow_no_one_else_down(start, either):
    server = start(**PROXY, **either)
    before = memory(server)
    attack = [sys.executable, "-m", "tests.soak.attempts", str(server.port), str(ATTACKED_FOR)]
    with subprocess.Popen(attack, cwd=ROOT, stdout=subprocess.PIPE, text=True) as attackers:
        time.sleep(1)
        took = []
        while attackers.poll() is None:
            began = time.perf_counter()
            assert server.call("GET", "/api/admin/user").status == 200
            took.append(time.perf_counter() - began)
            time.sleep(0.005)
        said = attackers.communicate()[0]
    took.sort()
    middle, late = took[len(took) // 2], took[int(len(took) * 0.99)]
    grown = memory(server) - before
    print(f"{len(took)} honest requests: p50 {middle * 1_000:.0f} ms, p99 {late * 1_000:.0f} ms")
    print(f"{said.strip()}; {grown} MB more")
    assert late < LONGEST_WAIT
    assert grown < 200


def memory(server: Server) -> int:
    """What the process has in memory, in MB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) // 1_024


def test_a_thousand_guesses_in_a_minute_are_ten_and_the_owner_gets_in(start, either):
    server = start(**PROXY, **either)
    person(server, "ada", PASSWORD)
    verified, waits, owner = 0, set(), []
    began = time.monotonic()
    with Attacker(server) as attacker, Attacker(server) as ada:
        for guess in range(GUESSES):
            status, wait = attacker.attempt("ada", f"guess number {guess} of many", "192.0.2.7")
            verified += status == 400
            waits.add(wait)
            if guess % 100 == 50:
                assert ada.attempt("ada", PASSWORD, f"198.51.{guess // 10}.9")[0] == 303
                owner.append(ada.seconds)
            time.sleep(max(0.0, began + guess * 60 / GUESSES - time.monotonic()))
    print(
        f"{verified} of {GUESSES} guesses were looked at; the owner waited up to {max(owner):.2f} s"
    )
    assert verified <= 10
    assert waits - {None} != set()
    assert sorted(owner)[len(owner) // 2] < 1
