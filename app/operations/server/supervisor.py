"""The parent process of the workers: it starts, replaces and ends them.

It holds the listening sockets, so connections wait while a process is missing. It has no threads
and no open database while it forks.
"""

import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from app.core.logs import LOGGER
from app.operations.server.systemd import ALIVE, READY, STOPPING, notify, reloading

HANG_SECONDS = 60.0
"""A worker that is silent for longer is replaced."""
DRAIN_SECONDS = 40.0
"""How long workers may take to end; longer than the loop gives their requests."""
READY_SECONDS = 30.0
FIRST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE_IF_READY = 0.1, 30.0, 0.5
"""Seconds before another worker starts: doubled each time, but short if the last was ready."""
HEALTHY_SECONDS = 5.0
"""After a worker that lived so long, another starts immediately."""
TICK_SECONDS = 1.0
WATCHED = [
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1")
    if hasattr(signal, name)
]
"""The signals that the parent handles. Windows, where nothing is forked, lacks the last two."""

Work = Callable[[int, int], None]
"""Runs a worker until it is to end; gets the pipes to and from its parent."""


@dataclass(slots=True)
class _Worker:
    pid: int
    pipe: int
    started: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    is_ready: bool = False
    is_ending: bool = False


class Supervisor:
    """Keeps ``number`` workers running until SIGTERM or SIGINT; SIGHUP replaces them all.

    ``work`` runs in each forked worker. It writes to its first pipe when it is ready, and then at
    least every few seconds. Its second pipe is closed when the parent is gone. ``on_end`` gets the
    process id of each worker that has ended. ``on_leave`` is called at SIGUSR1 and before the end.
    """

    def __init__(
        self,
        work: Work,
        number: int,
        *,
        on_end: Callable[[int], None],
        on_leave: Callable[[], object],
        stop_listening: Callable[[], object],
    ) -> None:
        self._work, self._number = work, number
        self._on_end, self._on_leave = on_end, on_leave
        self._stop_listening = stop_listening
        self._workers: dict[int, _Worker] = {}
        self._life, self._life_end = os.pipe()
        self._signals: deque[int] = deque()
        self._to_replace: deque[int] = deque()
        self._replacement: int | None = None
        self._pause, self._start_after = 0.0, 0.0
        self._is_announced, self._alive_again_at = False, 0.0

    def run(self) -> int:
        """Returns the exit status."""
        wake, wake_end = os.pipe()
        os.set_blocking(wake_end, False)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        for watched in WATCHED:
            signal.signal(watched, lambda number, _frame: self._signals.append(number))
        signal.signal(signal.SIGCHLD, lambda *_: None)  # it only wakes the loop
        while True:
            self._start_missing()
            self._listen(wake)
            while self._signals:
                number = self._signals.popleft()
                if number == signal.SIGHUP:
                    LOGGER.info("replacing %s workers", len(self._workers))
                    self._to_replace.extend(self._workers)
                    notify(reloading())
                    self._is_announced = False
                elif number == signal.SIGUSR1:
                    LOGGER.info("/ready answers 503 from now on")
                    self._on_leave()
                elif number in {signal.SIGTERM, signal.SIGINT}:
                    return self._end(wake)
            self._reap()
            self._kill_hanging()
            self._replace_next()
            self._announce()

    def _announce(self) -> None:
        """Say once that a worker is ready at the start, and that all are replaced after SIGHUP."""
        is_replacing = self._to_replace or self._replacement is not None
        if not self._is_announced and not is_replacing:
            self._is_announced = any(worker.is_ready for worker in self._workers.values())
            if self._is_announced:
                notify(READY)

    def _start_missing(self) -> None:
        active = [worker for worker in self._workers.values() if not worker.is_ending]
        missing = self._number + (self._replacement is not None) - len(active)
        if missing > 0 and time.monotonic() >= self._start_after:
            for _ in range(missing):
                self._start()

    def _start(self) -> int:
        pipe, pipe_end = os.pipe()
        # A new worker still has its parent's handlers. Signals wait until it has its own, or it
        # would miss the one that ends it.
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        pid = os.fork()
        if pid == 0:
            self._run_worker(pipe, pipe_end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
        os.close(pipe_end)
        self._workers[pid] = _Worker(pid, pipe)
        return pid

    def _run_worker(self, pipe: int, pipe_end: int) -> None:
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            for watched in (*WATCHED, signal.SIGCHLD):
                signal.signal(watched, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
            os.close(self._life_end)
            os.close(pipe)
            for other in self._workers.values():
                os.close(other.pipe)
            self._work(pipe_end, self._life)
            status = 0
        except BaseException:  # noqa: BLE001 - this process ends here in any case
            LOGGER.exception("a worker failed")
        finally:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    def _listen(self, wake: int) -> None:
        """Read the heartbeats of workers, or wait for TICK_SECONDS."""
        if time.monotonic() >= self._alive_again_at:
            self._alive_again_at = time.monotonic() + TICK_SECONDS
            notify(ALIVE)
        pipes = {worker.pipe: worker for worker in self._workers.values()}
        readable, _, _ = select.select([wake, *pipes], [], [], TICK_SECONDS)
        for pipe in readable:
            heard = os.read(pipe, 4_096)
            if pipe != wake and heard:
                pipes[pipe].heard = time.monotonic()
                pipes[pipe].is_ready = True

    def _reap(self) -> None:
        """Collect workers that have ended."""
        for pid, worker in list(self._workers.items()):
            found, status = os.waitpid(pid, os.WNOHANG)
            if not found:
                continue
            os.close(worker.pipe)
            self._on_end(pid)
            del self._workers[pid]
            if self._replacement == pid:
                self._replacement = None
                self._to_replace.clear()
                LOGGER.error("the new worker %s failed, so the others were kept", pid)
            if not worker.is_ending:
                self._note_end(worker, os.waitstatus_to_exitcode(status))

    def _note_end(self, worker: _Worker, code: int) -> None:
        lived = time.monotonic() - worker.started
        why = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        longest = LONGEST_PAUSE_IF_READY if worker.is_ready else LONGEST_PAUSE
        is_healthy = worker.is_ready and lived >= HEALTHY_SECONDS
        self._pause = 0.0 if is_healthy else min(max(2 * self._pause, FIRST_PAUSE), longest)
        self._start_after = time.monotonic() + self._pause
        LOGGER.error(
            "worker %s ended after %.0f s (%s); another starts in %.1f s",
            worker.pid,
            lived,
            why,
            self._pause,
        )

    def _kill_hanging(self) -> None:
        now = time.monotonic()
        for worker in self._workers.values():
            limit = HANG_SECONDS if worker.is_ready else READY_SECONDS
            if worker.is_ending:
                limit = HANG_SECONDS + DRAIN_SECONDS
            if now - worker.heard > limit:
                LOGGER.error("worker %s did not answer for %.0f s", worker.pid, limit)
                worker.heard = now  # so that it is killed once, not in every pass
                os.kill(worker.pid, signal.SIGKILL)

    def _replace_next(self) -> None:
        """Start a worker, and once it is ready end an old one; one after the other."""
        if self._replacement is not None:
            new = self._workers[self._replacement]
            if not new.is_ready:
                return
            self._replacement = None
            old = self._workers.get(self._to_replace.popleft())
            if old is not None:
                old.is_ending = True
                os.kill(old.pid, signal.SIGTERM)
        elif self._to_replace and not any(worker.is_ending for worker in self._workers.values()):
            self._replacement = self._start()

    def _end(self, wake: int) -> int:
        """End all workers and wait for them; a second signal ends them at once."""
        notify(STOPPING)
        self._on_leave()
        self._stop_listening()
        for worker in self._workers.values():
            worker.is_ending = True
            os.kill(worker.pid, signal.SIGTERM)
        deadline = time.monotonic() + DRAIN_SECONDS
        status = 0
        while self._workers:
            self._listen(wake)
            if self._signals or time.monotonic() > deadline:
                status = 1
                for pid in self._workers:
                    os.kill(pid, signal.SIGKILL)
                self._signals.clear()
            self._reap()
        return status
