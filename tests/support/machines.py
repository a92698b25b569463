"""The command ``flagstaff``, run as an operator runs it."""

import fcntl
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryFile

import click
import pytest
import time_machine
from click.testing import CliRunner

from app.operations.cli import cli, main
from tests.support import preloaded
from tests.support.processes import environment

EXECUTABLE = Path(sys.executable).with_name("flagstaff")
SECONDS = 60
"""No command takes nearly as long; a test that hangs says so."""


class Machine:
    """A folder to be FLAGSTAFF_HOME, and the command run with it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.settings = {"HOME": str(home)}

    def environ(self, **settings: str) -> dict[str, str]:
        """The environment of this process with none but the machine's own settings."""
        return environment(self.settings | settings)

    def run(self, *words: str, fed: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        """``fed``: what is on standard input."""
        return subprocess.run(
            [EXECUTABLE, *words],
            env=self.environ(**settings),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            input=fed,
        )

    def ok(self, *words: str, fed: str = "", **settings: str) -> str:
        """What a command that must succeed prints, without the last line break."""
        done = self.run(*words, fed=fed, **settings)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout.removesuffix("\n")

    def refused(self, *words: str, fed: str = "", **settings: str) -> str:
        """The one line with which a command that must fail says why."""
        done = self.run(*words, fed=fed, **settings)
        assert done.returncode in {1, 2}, done
        assert done.stdout == ""
        [line] = done.stderr.splitlines()
        return line.removeprefix("flagstaff: ")


class Within(Machine):
    """Runs the command in this very process, in a tenth of the time."""

    def run(self, *words: str, fed: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        if words[:1] == ("serve",):  # which has the process to itself, and reads no input
            run = self._run_forked if preloaded.IS_USED else super().run
            return run(*words, **settings)
        status = 0
        with (
            CliRunner().isolation(fed, self.environ(**settings)) as (out, err, _),
            _process_kept_as_it_is(),
        ):
            try:
                main(words)
            except SystemExit as end:
                status = int(end.code or 0)
            said, told = out.getvalue().decode(), err.getvalue().decode()
        return subprocess.CompletedProcess(words, status, said, told)

    def _run_forked(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            environ = self.environ(**settings)
            process = preloaded.start(words, environ, out.fileno(), err.fileno())
            try:
                status = process.wait(SECONDS)
            finally:
                process.kill()
            for file in (out, err):
                file.seek(0)
            return subprocess.CompletedProcess(words, status, out.read(), err.read())


@contextmanager
def _process_kept_as_it_is() -> Iterator[None]:
    """A command sets what holds for the whole process; here there is more in it."""
    root, mask = logging.getLogger(), os.umask(0o022)
    os.umask(mask)
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()  # or they would be closed
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        os.umask(mask)


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a machine that has the demo's organisation, to be copied.

    The first worker that needs it makes it for all. What the command printed is beside it, in a
    file whose time is when that was.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    demo = Within(shared / "demo")
    with (shared / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not demo.home.exists():
            now, file = int(time.time()), demo.home.with_suffix(".txt")
            with time_machine.travel(now, tick=False):
                file.write_text(demo.ok("demo"))
            os.utime(file, (now, now))
    return demo.home


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine on which the command never ran."""
    return Within(tmp_path / "home")


@pytest.fixture
def larkspur(machine: Machine, demo_home: Path) -> Machine:
    """A machine with the demo's organisation."""
    copytree(demo_home, machine.home)
    return machine


def every_command(group: click.Group = cli, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """The commands with their words: ``user show``."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command, path = group.get_command(context, name), f"{above} {name}".strip()
        if isinstance(command, click.Group):
            yield from every_command(command, path)
        elif command is not None:
            yield path, command
