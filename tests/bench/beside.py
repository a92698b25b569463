"""Flagstaff next to another server with the same paths: the same requests to both, by turns.

Needs ``wrk``, and a token of an Admin of the other server. What is created there stays.
"""

import argparse
import json
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median
from subprocess import run
from tempfile import TemporaryDirectory

from tests.bench import goals, postgresql
from tests.bench.load import Job, drive
from tests.bench.subject import Subject, stranger
from tests.support.processes import FLAGSTAFF, running

ROUNDS = 3
MOST = 3_000
MS = {"us": 0.001, "ms": 1.0, "s": 1_000.0}
TICK = os.sysconf("SC_CLK_TCK")
LINE = "{:26} {:>10} {:>8} {:>10} {:>8} {:>6}  {}"
LUA = """\
local bodies, number = {{{bodies}}}, 0
wrk.method = "{method}"
wrk.headers["Content-Type"] = "application/json"
function request()
  number = number + 1
  local body = bodies[number % #bodies + 1]:gsub("@N@", number)
  return wrk.format(nil, nil, nil, body)
end
"""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two servers; ``pids``: the processes whose CPU time is its own, with children."""

    subject: Subject
    pids: Collection[int]


@dataclass(frozen=True, slots=True)
class Found:
    """``value``: requests per second, or ms for a bulk request; ``cpu``: ms for each request.

    ``p50``: half of the answers take at most so many ms, with eight connections.
    """

    value: float
    cpu: float
    p50: float = 0.0


def main() -> None:
    asked = options(__doc__)
    require_wrk()
    token = secrets.token_urlsafe(40)
    with (
        postgresql.chosen(asked.postgresql) as url,
        TemporaryDirectory(prefix="flagstaff-beside-") as home,
        running(FLAGSTAFF, "/ready", HOME=home, BOOTSTRAP_TOKEN=token, DATABASE_URL=url) as server,
    ):
        ours = Subject((server.address,), token)
        ours.make_project()
        theirs = stranger(asked.url, asked.token)
        wanted = goals.RATIOS["postgresql" if url else "sqlite"]
        found = _measure(
            Side(ours, [server.process.pid, *asked.own_pid]),
            Side(theirs, asked.pid),
            asked.seconds,
        )
        _write(found, wanted)


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("Install wrk; on Debian: apt-get install wrk")


def options(words: str | None) -> argparse.Namespace:
    """The options of a comparison; ``words``: what it does."""
    parser = argparse.ArgumentParser(description=words)
    parser.add_argument("url", help="of the other server")
    parser.add_argument("token", help="of an Admin there")
    parser.add_argument("--pid", type=int, action="append", default=[], help="of its processes")
    parser.add_argument(
        "--own-pid", type=int, action="append", default=[], help="of PostgreSQL, if it is ours too"
    )
    parser.add_argument("--postgresql", **postgresql.OPTION)
    parser.add_argument("--seconds", type=float, default=5.0, help="of one measurement (5)")
    return parser.parse_args()


def _measure(ours: Side, theirs: Side, seconds: float) -> Iterator[tuple[str, Found, Found]]:
    """Each kind of request with the medians of both sides."""
    yield "create feature", _filling(ours), _filling(theirs)
    for name in ("GET user", "validate 3", "tags 3 (+1 -1)"):
        rates = [
            (
                through_wrk(ours, ours.subject.kinds()[name], seconds),
                through_wrk(theirs, theirs.subject.kinds()[name], seconds),
            )
            for _ in range(ROUNDS)
        ]
        yield name, median_of(own for own, _ in rates), median_of(other for _, other in rates)
    jobs = ours.subject.reading(), theirs.subject.reading()
    for name in jobs[0]:
        rates = [
            (through_wrk(ours, jobs[0][name], seconds), through_wrk(theirs, jobs[1][name], seconds))
            for _ in range(ROUNDS)
        ]
        yield name, median_of(own for own, _ in rates), median_of(other for _, other in rates)
    names = [name for name in ours.subject.bulk() if f" {MOST:,}" in name]
    bulk = [(_in_order(ours, names), _in_order(theirs, names)) for _ in range(ROUNDS)]
    for name in names:
        yield (
            name,
            median_of(own[name] for own, _ in bulk),
            median_of(other[name] for _, other in bulk),
        )


def _filling(side: Side) -> Found:
    before, start = cpu_ms(side.pids), time.perf_counter()
    side.subject.fill(MOST)
    rate = MOST / (time.perf_counter() - start)
    return Found(rate, (cpu_ms(side.pids) - before) / MOST)


def _in_order(side: Side, names: Iterable[str]) -> dict[str, Found]:
    """The ms of single requests, by name."""
    found = {}
    for name in names:
        before = cpu_ms(side.pids)
        load = drive(side.subject.bulk()[name])
        found[name] = Found(load.p50, cpu_ms(side.pids) - before)
    return found


def through_wrk(side: Side, job: Job, seconds: float) -> Found:
    """Requests per second with eight connections."""
    with TemporaryDirectory() as folder:
        script = Path(folder, "request.lua")
        bodies = ", ".join(json.dumps(body) for body in job.bodies)
        script.write_text(LUA.format(bodies=bodies, method=job.method))
        command = [
            "wrk",
            "-t1",
            f"-c{job.connections}",
            f"-d{seconds:.0f}s",
            "--latency",
            "-s",
            str(script),
        ]
        address = job.servers[0] + job.path
        named = {"Authorization": job.token, **dict(job.headers)}
        headers = [part for name, value in named.items() for part in ("-H", f"{name}: {value}")]
        before = cpu_ms(side.pids)
        done = run(
            [*command, *headers, address],
            capture_output=True,
            text=True,
            check=True,
        )
    cpu = cpu_ms(side.pids) - before
    if refused := re.search(r"Non-2xx.*", done.stdout):
        raise SystemExit(f"{job.path}: {refused[0]}")
    [requests] = re.findall(r"(\d+) requests in", done.stdout)
    [rate] = re.findall(r"Requests/sec:\s+([\d.]+)", done.stdout)
    [(p50, unit)] = re.findall(r"50%\s+([\d.]+)(us|ms|s)", done.stdout)
    return Found(float(rate), cpu / int(requests), float(p50) * MS[unit])


def median_of(found: Iterable[Found]) -> Found:
    return Found(*map(median, zip(*map(astuple, found), strict=True)))


def cpu_ms(pids: Iterable[int]) -> float:
    """The ms of CPU time of these processes with their children, dead and alive."""
    total = 0.0
    for pid in pids:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, stat[11:15])) / TICK * 1_000
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        total += cpu_ms(map(int, children))
    return total


def _write(found: Iterable[tuple[str, Found, Found]], wanted: Mapping[str, float]) -> None:
    """A table; a goal is how many times as fast as the other server ours is meant to be."""
    head = ("", "ours", "CPU ms", "theirs", "CPU ms", "times", "goal")
    sys.stdout.write(LINE.format(*head) + "\n")
    for name, ours, theirs in found:
        is_rate = f" {MOST:,}" not in name
        unit = "/s" if is_rate else "ms"
        factor = ours.value / theirs.value if is_rate else theirs.value / ours.value
        goal = goals.said(f"{wanted[name]:g}", is_met=factor >= wanted[name])
        values = (f"{ours.value:,.0f} {unit}", f"{ours.cpu:.2f}", f"{theirs.value:,.0f} {unit}")
        sys.stdout.write(LINE.format(name, *values, f"{theirs.cpu:.2f}", f"{factor:.2f}", goal))
        sys.stdout.write("\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
