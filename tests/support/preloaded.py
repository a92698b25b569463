"""Processes that run ``flagstaff`` without importing it again: forks of one that has.

A server starts in a quarter of the time. All else is as with a new process: its id, environment,
files and end. Linux only.
"""

import atexit
import ctypes
import gc
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals

import app.factory
import app.operations.cli.administration
import app.operations.server.serve  # noqa: F401 - with the lines above, all that is imported later
from app.operations.cli import main as flagstaff
from tests.support import compiled, migrated

IS_USED = sys.platform == "linux" and not any("soak" in word for word in sys.argv)
ROOT = Path(__file__).resolve().parents[2]
PR_SET_CHILD_SUBREAPER = 36
LONGEST = 1_000_000


class Forked:
    """A process that this one waits for, as those of ``subprocess``."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("flagstaff", timeout or 0)
            time.sleep(0.01)
        return status

    def send_signal(self, signal: Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal)

    def terminate(self) -> None:
        self.send_signal(SIGTERM)

    def kill(self) -> None:
        self.send_signal(SIGKILL)


def start(words: Sequence[str], environ: Mapping[str, str], out: int, err: int) -> Forked:
    """Run the command; ``out`` and ``err``: the files of its standard output and error."""
    ours = _original()
    _adopt(True)  # its fork becomes our child
    socket.send_fds(ours, [json.dumps([words, dict(environ)]).encode()], [out, err])
    forked = Forked(int(ours.recv(100)))
    _adopt(False)  # what a server that is killed leaves behind does not
    return forked


def _adopt(orphans: bool) -> None:
    """Whether descendants without a parent become children of this process, or of init."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(orphans))


@cache
def _original() -> socket.socket:
    """The way to the process that is forked, which ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.support.preloaded", str(theirs.fileno())]
    process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def main() -> None:
    migrated.replace()
    compiled.keep()
    gc.freeze()
    theirs = socket.socket(fileno=int(sys.argv[1]))
    while True:
        asked, files, _, _ = socket.recv_fds(theirs, LONGEST, 2)
        if not asked:
            return
        reading, writing = os.pipe()
        if os.fork() == 0:
            if child := os.fork():
                os.write(writing, str(child).encode())
                os._exit(0)  # now the child belongs to the process that asked
            for file in (theirs.detach(), reading, writing):
                os.close(file)
            words, environ = json.loads(asked)
            _change_into(environ, files)
            flagstaff(words)
            return
        os.wait()
        theirs.send(os.read(reading, 100))
        for file in (reading, writing, *files):
            os.close(file)


def _change_into(environ: Mapping[str, str], files: Sequence[int]) -> None:
    """Take on the environment and the files of the new process."""
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    for stream, file in zip((sys.stdout, sys.stderr), files, strict=True):
        os.dup2(file, stream.fileno())
        os.close(file)


if __name__ == "__main__":
    main()
