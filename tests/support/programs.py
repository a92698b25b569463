"""Programs that use the official SDKs, each a process of its own."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.servers import Server

SDKS = Path(__file__).parents[1] / "sdks"
COMMANDS = {"node": ("node", "{}.mjs"), "python": (sys.executable, "{}.py")}
SECONDS = 60


@pytest.fixture(scope="session")
def sdks() -> dict[str, list[str]]:
    """How to start a program, by language; the name of the program is to follow.

    Skips where Node is missing, except in CI.
    """
    if not (SDKS / "node_modules").is_dir() and "CI" not in os.environ:
        pytest.skip("the SDK for Node needs Node 20 with npm; then: npm ci --prefix tests/sdks")
    assert shutil.which("node")
    return {language: [*command] for language, command in COMMANDS.items()}


def run(sdks: dict[str, list[str]], language: str, program: str, job: dict[str, Any]) -> Any:
    """What a program prints for a job, as JSON."""
    executable, file = sdks[language]
    done = subprocess.run(
        [executable, str(SDKS / file.format(program))],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Watcher:
    """A program that reads the feature ``cart`` and says when its answer changes.

    ``modes``: how the SDK learns of changes, if it isn't by polling.
    """

    def __init__(
        self,
        sdks: dict[str, list[str]],
        language: str,
        server: Server,
        token: str,
        *modes: str,
    ) -> None:
        executable, file = sdks[language]
        self.process = subprocess.Popen(
            [executable, str(SDKS / file.format("watch")), server.address, token, *modes],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.said: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def wait_for(self, *, on: bool, seconds: float = 20) -> float:
        """Wait until the feature was last said to be on or off; after how many seconds."""
        start = time.monotonic()
        while time.monotonic() < start + seconds:
            assert self.process.poll() is None, self.said
            answers = [line["on"] for line in list(self.said) if "on" in line]
            if answers and answers[-1] is on:
                return time.monotonic() - start
            time.sleep(0.02)
        pytest.fail(f"not seen in time: {self.said}")

    @property
    def errors(self) -> list[str]:
        return [line["error"] for line in list(self.said) if "error" in line]

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _listen(self) -> None:
        with suppress(ValueError):  # the pipe is closed at the end
            for line in self.process.stdout or ():
                self.said.append(json.loads(line))


@pytest.fixture
def watch(sdks: dict[str, list[str]]) -> Iterator[Callable[..., Watcher]]:
    """Starts programs, and ends them."""
    started: list[Watcher] = []

    def begin(language: str, server: Server, token: str, *modes: str) -> Watcher:
        started.append(Watcher(sdks, language, server, token, *modes))
        return started[-1]

    yield begin
    for watcher in started:
        watcher.end()
