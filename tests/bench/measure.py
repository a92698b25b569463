"""Measurements, each next to one of bare Flask: other work on the machine affects both."""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, replace
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from tests.bench.load import Job, Refused, drive
from tests.support.processes import Server

ROUNDS = 5

Start = Callable[[], AbstractContextManager[Server]]


@dataclass(frozen=True, slots=True)
class Figure:
    """Requests/s, milliseconds, and the rate as a part of bare Flask's, NaN where there is none."""

    rate: float
    p50: float
    p99: float
    share: float


Figures = dict[str, Figure | Refused]


def figures(jobs: Mapping[str, Job], bare: Server | None, seconds: float) -> Figures:
    """The medians of some rounds through all jobs, each driven for so long."""
    found: dict[str, list[Figure]] = {name: [] for name in jobs}
    refused: dict[str, Refused] = {}
    for turn in range(1 + ROUNDS):  # the first is to warm up
        for name, job in jobs.items():
            if name in refused:
                continue
            try:
                now = replace(job, first=turn * 1_000_000, seconds=seconds)
                found[name].append(_next_to(bare, now))
            except Refused as refusal:
                refused[name] = refusal
    return {name: refused.get(name) or _median(found[name][1:]) for name in jobs}


def starts(start: Start, start_bare: Start) -> tuple[float, float]:
    """Seconds from the start until it answers, and how many times bare Flask's they are."""
    own, bare = [], []
    for _ in range(ROUNDS):
        with start() as server:
            own.append(server.started_in)
        with start_bare() as server:
            bare.append(server.started_in)
    return median(own), median(own) / median(bare)


def children_seconds(run: Callable[[], object]) -> float:
    """CPU time of the processes that ``run`` starts and waits for."""
    before = getrusage(RUSAGE_CHILDREN)
    run()
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _next_to(bare: Server | None, job: Job) -> Figure:
    plain = math.nan
    if bare is not None:
        plain = drive(Job((bare.address,), connections=job.connections, seconds=job.seconds)).rate
    load = drive(job)
    return Figure(load.rate, load.p50, load.p99, load.rate / plain)


def _median(found: list[Figure]) -> Figure:
    return Figure(*map(median, zip(*map(astuple, found), strict=True)))
