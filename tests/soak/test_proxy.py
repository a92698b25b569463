"""Behind nginx as the example configures it: with TLS, on a sub-path."""

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.support.chromium import chromium
from tests.support.machines import Machine
from tests.support.nginx import Front, is_there, nginx
from tests.support.processes import FLAGSTAFF, free_port, running
from tests.support.servers import TOKEN

ROOT = Path(__file__).parents[2]
FAULTS = {
    "X-Forwarded-Proto": "over https arrive as http",
    "X-Forwarded-For": "passes on X-Forwarded-For as clients send it",
    "client_max_body_size": "don't arrive",
    "X-Forwarded-Host": "arrive as for",
}

pytestmark = pytest.mark.skipif(not is_there(), reason="needs nginx: apt-get install nginx")


@contextmanager
def served(machine: Machine, folder: Path, without: str = "") -> Iterator[Front]:
    port = free_port()
    with (
        nginx(folder, port, without=without) as front,
        running(FLAGSTAFF, "/ready", port=port, HOME=str(machine.home), **front.settings),
    ):
        yield front


def doctor(machine: Machine, front: Front, folder: Path) -> list[dict[str, str]]:
    """What it finds about the way through nginx."""
    environ = machine.environ(**front.settings) | {"SSL_CERT_FILE": str(folder / "pem")}
    done = subprocess.run(
        [sys.executable, *FLAGSTAFF[:-1], "doctor", "--json", "--proxy", front.address],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [f for f in json.loads(done.stdout)["findings"] if f["about"] == "proxy"]


def test_all_journeys_go_through_it():
    if chromium() is None:
        pytest.skip("needs Chromium")
    environ = os.environ | {"JOURNEYS_THROUGH_NGINX": "1"}
    words = [sys.executable, "-m", "pytest", "-n", "2", "tests/journeys"]
    done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4_000:]


def test_the_doctor_finds_nothing_wrong_with_the_example(machine, tmp_path):
    with served(machine, tmp_path / "nginx") as front:
        [found] = doctor(machine, front, tmp_path / "nginx")
    assert found["state"] == "fine", found


@pytest.mark.parametrize("line", FAULTS)
def test_the_doctor_finds_each_line_that_is_missing(machine, tmp_path, line):
    with served(machine, tmp_path / "nginx", without=line) as front:
        found = doctor(machine, front, tmp_path / "nginx")
    assert any(FAULTS[line] in one["says"] for one in found), found


def test_servers_restarted_one_by_one_behind_it_are_not_missed(machine, tmp_path, empty_postgresql):
    ports = (free_port(), free_port())
    folder = tmp_path / "nginx"
    with nginx(folder, *ports) as front:
        settings = front.settings | {
            "HOME": str(machine.home),
            "DATABASE_URL": empty_postgresql,
            "SECRET_KEY": "k" * 40,
            "BOOTSTRAP_TOKEN": TOKEN,
        }
        with running(FLAGSTAFF, "/ready", port=ports[0], **settings):
            context = ssl.create_default_context(cafile=folder / "pem")
            with ThreadPoolExecutor(1) as thread:
                going = [True]
                asked = thread.submit(ask, front, context, going)
                for _ in range(3):
                    with running(FLAGSTAFF, "/ready", port=ports[1], **settings):
                        pass
                going.clear()
            answers = asked.result()
    print("\nwhile the second of two servers came and went three times:", answers)
    assert set(answers) == {200}


def ask(front: Front, context: ssl.SSLContext, going: list[bool]) -> dict[int, int]:
    answers: dict[int, int] = {}
    request: Any = Request(f"{front.address}/api/admin/user", headers={"Authorization": TOKEN})
    while going:
        try:
            with urlopen(request, timeout=30, context=context) as answer:
                status = answer.status
        except HTTPError as error:
            status = error.code
        answers[status] = answers.get(status, 0) + 1
    return answers
