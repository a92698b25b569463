"""How fast, how large and how soon ready Flagstaff is, next to bare Flask on this machine."""

import argparse
import json
import secrets
import sys
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench.load import Job, drive
from tests.bench.servers import BARE_FLASK, FLAGSTAFF, Server, running

ROUNDS = 5
FEATURES = 5_000
PROJECT = "/api/admin/projects/bench"

Row = tuple[str, str, str, str]
"""What, measured, as a share of bare Flask, the goal and whether it was met."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of one measurement (2)")
    parser.add_argument(
        "--postgresql", metavar="URL", default="", help="an empty database, instead of SQLite"
    )
    options = parser.parse_args()
    token = secrets.token_urlsafe(40)
    with TemporaryDirectory(prefix="flagstaff-bench-") as home:
        own = {"HOME": home, "BOOTSTRAP_TOKEN": token, "DATABASE_URL": options.postgresql}
        with running(FLAGSTAFF, "/ready", **own) as server, running(BARE_FLASK, "/") as bare:
            at_rest = server.resident()
            _fill(server, token)
            rows = [*_rates(server, bare, token, options.seconds), *_bulk(server, token)]
            after = server.resident()
        times = []
        for _ in range(ROUNDS):
            with running(FLAGSTAFF, "/ready", **own) as server:
                times.append(server.started_in)
    ready = median(times)
    rows += [
        ("start to /ready", f"{ready:.2f} s", "", _goal("at most 1 s", met=ready <= 1)),
        ("memory at rest", f"{at_rest:.0f} MB", "", _goal("at most 90 MB", met=at_rest <= 90)),
        ("memory after all this", f"{after:.0f} MB", "", ""),
    ]
    _print([("what", "measured", "of bare", "goal"), *rows])


def _fill(server: Server, token: str) -> None:
    project, features = ('{"id": "bench", "name": "Bench"}',), ('{"name": "f@N@"}',)
    job = Job(server.port, "POST", "/api/admin/projects", token, project, requests=1)
    drive(job)
    drive(replace(job, path=f"{PROJECT}/features", bodies=features, requests=FEATURES))


def _rates(server: Server, bare: Server, token: str, seconds: float) -> Iterator[Row]:
    """Requests/s of each kind, every measurement next to one of bare Flask."""
    three = '{"features": ["f1", "f2", "f3"]'
    swap = ', "tags": {"addedTags": [{"value": "%s"}], "removedTags": [{"value": "%s"}]}}'
    swaps = (three + swap % ("a", "b"), three + swap % ("b", "a"))
    get = Job(server.port, "GET", "/api/admin/user", token, seconds=seconds)
    post = replace(get, method="POST", path=f"{PROJECT}/features", bodies=('{"name": "@N@"}',))
    jobs = {
        "GET user": get,
        "validate 3": replace(post, path=f"{PROJECT}/archive/validate", bodies=(three + "}",)),
        "tags 3 (+1 -1)": replace(get, method="PUT", path=f"{PROJECT}/tags", bodies=swaps),
        "create feature": post,
    }
    plain: list[float] = []
    rates: dict[str, list[float]] = {name: [] for name in jobs}
    shares: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(ROUNDS + 1):
        for name, job in jobs.items():
            plain.append(drive(Job(bare.port, "GET", "/", seconds=seconds)))
            rates[name].append(drive(replace(job, first=turn * 1_000_000)))
            shares[name].append(100 * rates[name][-1] / plain[-1])
    yield "bare Flask", f"{median(plain):,.0f} /s", "100 %", ""
    for name in jobs:  # the first turn was to warm up
        share = median(shares[name][1:])
        goal = _goal("at least 40 %", met=share >= 40) if name == "GET user" else ""
        yield name, f"{median(rates[name][1:]):,.0f} /s", f"{share:.0f} %", goal


def _bulk(server: Server, token: str) -> Iterator[Row]:
    """Milliseconds of requests that tag thousands of features."""
    for features, tags in ((3_000, 5), (FEATURES, 20)):
        names = [f"f{number}" for number in range(features)]
        named = [{"value": f"bulk{number}"} for number in range(tags)]
        add = {"features": names, "tags": {"addedTags": named, "removedTags": []}}
        remove = {"features": names, "tags": {"addedTags": [], "removedTags": named}}
        took: dict[str, list[float]] = {"add": [], "add again": [], "remove": []}
        for _ in range(ROUNDS):
            for kind, body in zip(took, (add, add, remove), strict=True):
                sent = (json.dumps(body),)
                job = Job(server.port, "PUT", f"{PROJECT}/tags", token, sent, requests=1)
                took[kind].append(1_000 / drive(job))
        for kind, times in took.items():
            ms = median(times)
            has_goal = (features, kind) == (3_000, "add")
            goal = _goal("at most 150 ms", met=ms <= 150) if has_goal else ""
            yield f"tags {features:,} x {tags}, {kind}", f"{ms:,.0f} ms", "", goal


def _goal(words: str, *, met: bool) -> str:
    return f"{words}: {'met' if met else 'missed'}"


def _print(rows: list[Row]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for what, measured, share, goal in rows:
        line = f"{what:<{widths[0]}}  {measured:>{widths[1]}}  {share:>{widths[2]}}  {goal}"
        sys.stdout.write(line.rstrip() + "\n")


if __name__ == "__main__":
    main()
