"""Organisations move from real Unleash servers of several versions, and nothing changes for anyone.

Each is installed with npm below PEERS (or a temporary folder), filled by ``fill_unleash`` and
imported; then both are asked the same by the SDK for Node.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.soak import fill_unleash, unleash_peer
from tests.soak.fill_unleash import Filled
from tests.soak.unleash_peer import Peer
from tests.support.machines import EXECUTABLE, Machine
from tests.support.processes import FLAGSTAFF, running

FEATURES = 1_000
KILLS = 10
ASK_BOTH = Path(__file__).with_name("ask_both.mjs")


class Source(NamedTuple):
    peer: Peer
    filled: Filled
    token_file: Path


@pytest.fixture(scope="module", params=["8.2.0", "7", "5"])
def source(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Source]:
    """A real Unleash of this version with 1,000 features."""
    peers = Path(os.environ.get("PEERS") or tmp_path_factory.mktemp("peers"))
    with unleash_peer.running(request.param, peers / request.param) as peer:
        filled = fill_unleash.fill(peer, FEATURES)
        token_file = tmp_path_factory.mktemp("token") / "token"
        token_file.write_text(peer.token)
        yield Source(peer, filled, token_file)


def planned(machine: Machine, source: Source) -> Any:
    options = ("--token-file", str(source.token_file), "--json")
    return json.loads(machine.ok("import", "unleash", source.peer.url, *options))


def features(machine: Machine) -> int:
    """How many features the instance has."""
    found = json.loads(machine.ok("export", "--format", "json"))
    return len(found.get("features", ()))


def test_after_a_move_every_answer_is_the_same(source: Source, tmp_path: Path):
    machine = Machine(tmp_path / "home")
    plan = planned(machine, source)
    found = plan["counts"]["features"]
    assert found["new"] + found.get("impossible", 0) == FEATURES
    print(f"\n{source.peer.version}: {plan['number']:,} items, {found}")
    for entry in plan["attention"]:
        print("   ", entry["key"], entry["choice"], entry["faults"][:1], entry["differences"][:1])
    machine.ok("import", "apply", str(plan["id"]))
    again = planned(machine, source)
    assert again["number"] == 0
    with running(FLAGSTAFF, "/ready", HOME=str(machine.home)) as server:
        token = ("--token-file", str(source.token_file), "--here", server.address)
        checked = machine.run("import", "check", source.peer.url, *token, "--json")
        result = json.loads(checked.stdout)
        assert result["differences"] == []
        print(f"    flagstaff import check: {result['answers']:,} answers, no difference")
        for name, secret in sorted(source.filled.tokens.items()):
            if name.startswith("client ") and name.count(" ") == 1:
                print("   ", name, ask_both(source.peer.url, secret, server.address, secret))


def ask_both(*ends: str) -> str:
    """What the SDK for Node found. ``ends``: the address and a token of each server."""
    words = ["node", str(ASK_BOTH), *ends]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1_200, check=False)
    assert done.returncode == 0, done.stdout[:2_000] + done.stderr[:2_000]
    return done.stdout.splitlines()[-1]


def test_a_killed_import_leaves_nothing_or_all(source: Source, tmp_path: Path):
    if not source.peer.version.startswith("8"):
        pytest.skip("once is enough")
    machine = Machine(tmp_path / "home")
    plan = planned(machine, source)
    expected = plan["counts"]["features"]["new"]
    chance, killed = random.Random(1), 0
    began = time.monotonic()
    machine.ok("import", "apply", str(plan["id"]), "--dry-run")
    longest = time.monotonic() - began
    for _ in range(KILLS):
        process = subprocess.Popen(
            [EXECUTABLE, "import", "apply", str(plan["id"])],
            env=machine.environ(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(chance.uniform(0.3, 1.0) * longest)
        process.send_signal(signal.SIGKILL)
        process.wait()
        number = features(machine)
        assert number in {0, expected}
        killed += number == 0
        if number:
            machine.ok("import", "undo", str(plan["id"]))
            plan = planned(machine, source)
    print(f"\nkilled {KILLS} times: nothing {killed} times, all {KILLS - killed} times")
    machine.ok("import", "apply", str(plan["id"]))
    assert features(machine) == expected
