"""The processes of one server: each can fail, hang or be replaced without the service noticing."""

import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from os import kill
from pathlib import Path

import pytest

from app.operations.server.loop import DRAIN_SECONDS
from tests.support.machines import SECONDS, Machine
from tests.support.servers import TOKEN, Server, serving_with, until

pytestmark = pytest.mark.one_in(2)

USER = "/api/admin/user"
HANG_SECONDS, READY_SECONDS = 2, 8
IMPATIENT = serving_with(
    "app.operations.server.supervisor", HANG_SECONDS=HANG_SECONDS, READY_SECONDS=READY_SECONDS
)
LATE_SECONDS = 1
LATE = f"""
import os, time
from app.operations.cli import main
os.register_at_fork(after_in_child=lambda: time.sleep({LATE_SECONDS}))
main()
"""
"""Its workers do nothing at all for a while after they were forked, as on a busy machine."""


def is_alive(pid: int) -> bool:
    """Whether it runs; one that has ended and waits for its parent has no command line left."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except FileNotFoundError:
        return False


def status(server: Server, path: str = "/health") -> int:
    """The status of one request on a connection of its own."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.request("GET", path, headers={"Authorization": TOKEN})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


@contextmanager
def asked_all_the_time(server: Server) -> Iterator[list[object]]:
    """What requests on new connections were answered while the block ran: statuses, or errors."""
    answers: list[object] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            try:
                answers.append(status(server))
            except (OSError, HTTPException) as error:  # the latter: an answer that breaks off
                answers.append(error)

    with ThreadPoolExecutor(3) as clients:
        asking = [clients.submit(ask) for _ in range(3)]
        try:
            yield answers
        finally:
            over.set()
    for client in asking:
        client.result()


def until_some_more(answers: list[object]) -> None:
    before = len(answers)
    until(lambda: len(answers) > before + 20)


@pytest.fixture
def server(start: Callable[..., Server]) -> Server:
    return start(PROCESSES="2")


def test_as_many_processes_serve_as_are_set(start):
    server = start(PROCESSES="3")
    until(lambda: len(server.workers()) == 3)  # one answers before the others are there
    assert server.end() == 0


def test_a_worker_that_is_killed_is_replaced_and_the_log_says_so(server):
    victim = min(server.workers())
    kill(victim, signal.SIGKILL)
    until(lambda: len(server.workers() - {victim}) == 2)
    assert {status(server) for _ in range(20)} == {200}
    assert re.search(
        rf"worker {victim} ended after \d+ s \(killed by SIGKILL\)", server.log.read_text()
    )


def doing_what_one_is_enough_for(machine: Machine) -> set[int]:
    """The workers that hold the lock."""
    lock = machine.home / ".chores.lock"
    inode = str(lock.stat().st_ino) if lock.exists() else ""
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return {int(pid) for *_, pid, file, _, _ in locks if file.split(":")[-1] == inode}


def test_one_worker_does_what_one_is_enough_for_and_another_takes_it_over(machine, server):
    until(lambda: len(doing_what_one_is_enough_for(machine)) == 1)
    [victim] = doing_what_one_is_enough_for(machine)
    assert victim in server.workers()
    kill(victim, signal.SIGKILL)
    until(lambda: len(doing_what_one_is_enough_for(machine) - {victim}) == 1)


def test_only_the_requests_of_a_killed_worker_fail(server):
    with asked_all_the_time(server) as answers:
        for _ in range(3):
            until_some_more(answers)
            until(lambda: bool(server.workers()))
            kill(min(server.workers()), signal.SIGKILL)
        until_some_more(answers)
    failed = [answer for answer in answers if answer != 200]
    assert len(failed) <= 3 * 3  # those that the killed worker had in hand


def test_sighup_replaces_all_workers_without_refusing_a_connection(server):
    before = server.workers()
    with asked_all_the_time(server) as answers:
        server.process.send_signal(signal.SIGHUP)
        until(lambda: len(server.workers()) == 2 and not server.workers() & before)
    assert set(answers) == {200}
    assert server.end() == 0


def test_after_sigusr1_it_serves_but_no_worker_is_ready(server):
    server.process.send_signal(signal.SIGUSR1)
    until(lambda: server.call("GET", "/ready", token=None).status == 503)
    assert status(server) == 200
    victims = server.workers()
    for victim in victims:
        kill(victim, signal.SIGKILL)
    until(lambda: len(server.workers() - victims) == 2)
    refused = server.call("GET", "/ready", token=None)
    assert (refused.status, refused.json["message"]) == (
        503,
        "This server is about to end. Send requests to another one.",
    )
    assert server.end() == 0


def test_systemd_hears_of_start_reload_and_end(start, tmp_path, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(SECONDS)

        def hear(message: str) -> list[str]:
            """The names of all messages up to this one, without the signs of life between them."""
            heard = [""]
            while heard[-1] != message:
                heard.append(systemd.recv(1_000).decode().partition("=")[0])
            return [name for name in heard[1:-1] if name != "WATCHDOG"] + heard[-1:]

        server = start(PROCESSES="2")
        assert hear("READY") == ["READY"]
        assert hear("WATCHDOG") == ["WATCHDOG"]
        before = server.workers()
        server.process.send_signal(signal.SIGHUP)
        assert hear("READY") == ["RELOADING", "READY"]
        until(lambda: not server.workers() & before)
        assert server.end() == 0
        assert hear("STOPPING") == ["STOPPING"]


def test_a_worker_that_hangs_is_replaced(start):
    server = start(command=IMPATIENT, PROCESSES="2")
    victim = min(server.workers())
    kill(victim, signal.SIGSTOP)
    until(lambda: victim not in server.workers() and len(server.workers()) == 2)
    assert re.search(rf"worker {victim} did not answer for \d+ s", server.log.read_text())


def test_workers_that_have_only_just_been_forked_end_with_the_server(start):
    server = start(command=[sys.executable, "-c", LATE, "serve"], PROCESSES="2")
    victim = min(server.workers())
    kill(victim, signal.SIGKILL)
    until(lambda: len(server.workers() - {victim}) == 2)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(DRAIN_SECONDS / 2) == 0


def test_workers_end_when_their_parent_is_gone(server):
    children = server.workers()
    server.process.kill()
    server.process.wait()
    until(lambda: not any(is_alive(child) for child in children))
    assert "unhandled" not in server.log.read_text()


def test_what_was_revoked_is_refused_by_every_process_from_the_next_request_on(server):
    made = server.call("POST", "/api/admin/service-account", {"rootRole": 3, "name": "Reader"})
    path = f"/api/admin/service-account/{made.json['id']}/token"
    token = server.call("POST", path, {"description": "short"}).json

    def asked() -> set[int]:
        with ThreadPoolExecutor(8) as clients:
            calls = [
                clients.submit(server.call, "GET", USER, token=token["secret"]) for _ in range(40)
            ]
        return {call.result().status for call in calls}

    assert asked() == {200}
    assert server.call("DELETE", f"{path}/{token['id']}").status == 200
    assert asked() == {401}


def test_the_figures_are_those_of_all_processes(server):
    for _ in range(30):
        assert status(server, USER) == 200

    def figures() -> str:
        return server.call("GET", "/metrics").data.decode()

    until(lambda: "flagstaff_workers 2.0" in figures())
    [answered] = re.findall(r'flagstaff_requests_total\{face="api",status="2xx"\} (\d+)', figures())
    assert int(answered) >= 30
    assert len(re.findall(r"flagstaff_resident_memory_bytes\{", figures())) == 2


def test_writers_of_several_processes_all_get_their_turn(server):
    def write(number: int) -> set[int]:
        bodies = [{"name": f"writer-{number}-{step}"} for step in range(6)]
        path = "/api/admin/projects/default/features"
        return {server.call("POST", path, body).status for body in bodies}

    with ThreadPoolExecutor(16) as clients:
        assert set().union(*clients.map(write, range(16))) == {201}
