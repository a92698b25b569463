"""How fast, how large and how soon ready Flagstaff is, next to bare Flask on this machine."""

import argparse
import os
import platform
import secrets
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

import sqlalchemy as sa

from app.core.config import from_environment
from tests.bench import goals, postgresql, statements, table
from tests.bench.load import Job, Refused
from tests.bench.measure import Start, children_seconds, figures, starts
from tests.bench.subject import LISTED, MOST_TAGGED, Subject, stranger
from tests.bench.table import Row
from tests.support.machines import Machine
from tests.support.processes import ALWAYS, BARE_FLASK, FLAGSTAFF, Server, running

PROCESSES = (1, 2, 4)
DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
BULK_SHARE = 0.1
"""Of the seconds of a measurement: how long bare Flask is asked next to one bulk request."""

start_bare = partial(running, BARE_FLASK, "/")


def main() -> None:
    options = _options()
    if options.processes:
        ALWAYS["PROCESSES"] = options.processes
    try:
        if options.against:
            address, token = options.against
            subject, rows = address, _of_stranger(address, token, options.seconds)
        else:
            with postgresql.chosen(options.postgresql) as url:
                subject, rows = _database(url), _of_own(url, options.seconds)
    except Refused as refused:
        raise SystemExit(f"The measurements ended early: {refused}") from None
    machine = f"Python {platform.python_version()}, {os.cpu_count()} CPUs"
    sys.stdout.write(f"{datetime.now(UTC).date()}, {machine}, {subject}\n\n")
    table.write(rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="of one measurement (1)")
    parser.add_argument("--processes", help="FLAGSTAFF_PROCESSES of every server that is started")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--postgresql", **postgresql.OPTION)
    instead.add_argument(
        "--against",
        metavar=("URL", "TOKEN"),
        nargs=2,
        help="a server that runs and speaks the same paths; what is made there stays",
    )
    return parser.parse_args()


def _of_own(database_url: str, seconds: float) -> list[Row]:
    counts = statements.count()
    wanted = goals.of_requests(goals.POSTGRESQL_PACE if database_url else 1)
    token = secrets.token_urlsafe(40)
    with TemporaryDirectory(prefix="flagstaff-bench-") as home, _log() as log:
        own: dict[str, Any] = {"HOME": home, "BOOTSTRAP_TOKEN": token, "DATABASE_URL": database_url}
        start = partial(running, FLAGSTAFF, "/ready", err=log, **own)
        with start_bare() as bare, start() as server:
            at_rest = _memory("memory at rest", server, bare, most=90)
            subject = Subject((server.address,), token)
            subject.make_project()
            subject.fill(LISTED)
            subject.mark()
            # Lists first, while there are as many features as their names say.
            lists = figures(subject.lists(), bare, seconds)
            plain = {"bare Flask": Job((bare.address,))}  # so its share shows how far to trust all
            kinds = figures(plain | subject.kinds(), bare, seconds)
            bulk = figures(subject.bulk(), bare, seconds * BULK_SHARE)
            after = _memory("memory after the run", server, bare, most=120)
            spread = _spread(subject, start, bare, seconds) if database_url else []
        return [
            *table.rows(table.rate, kinds, counts, wanted),
            *spread,
            *table.rows(table.time, bulk, counts, wanted),
            *table.rows(table.rate, lists, counts),
            at_rest,
            after,
            _start(start),
            _demo(),
        ]


def _of_stranger(address: str, token: str, seconds: float) -> list[Row]:
    subject = stranger(address, token)
    subject.fill(MOST_TAGGED)
    kinds = figures(subject.kinds(), None, seconds)
    bulk = figures(subject.bulk(), None, seconds)
    return [*table.rows(table.rate, kinds), *table.rows(table.time, bulk)]


def _spread(subject: Subject, start: Start, bare: Server, seconds: float) -> list[Row]:
    """The kinds of requests, spread over several processes on one database."""
    with ExitStack() as stack:
        others = [stack.enter_context(start()) for _ in range(max(PROCESSES) - 1)]
        addresses = (*subject.servers, *(server.address for server in others))
        kinds = {count: replace(subject, servers=addresses[:count]).kinds() for count in PROCESSES}
        jobs = {
            f"{name}, {count} process{'es' if count > 1 else ''}": kinds[count][name]
            for name in kinds[1]
            for count in PROCESSES
        }
        return list(table.rows(table.rate, figures(jobs, bare, seconds)))


def _memory(what: str, server: Server, bare: Server, *, most: float) -> Row:
    resident = server.resident()
    goal = goals.said(f"at most {most:.0f} MB", is_met=resident <= most)
    share = table.times(resident / bare.resident())
    return Row(what, f"{resident:.0f} MB", share=share, goal=goal)


def _start(start: Start) -> Row:
    seconds, factor = starts(start, start_bare)
    goal = goals.said("at most 1 s", is_met=seconds <= 1)
    return Row("start to /ready", f"{seconds:.2f} s", share=table.times(factor), goal=goal)


def _demo() -> Row:
    """CPU time of the command that fills an empty instance, beside one that only starts."""
    with TemporaryDirectory(prefix="flagstaff-bench-") as home:
        machine = Machine(Path(home))
        least = children_seconds(lambda: machine.ok("--version"))
        seconds = children_seconds(lambda: machine.ok("demo"))
    goal = goals.said("at most 10 s", is_met=seconds <= 10)
    return Row(f"CPU of the demo, {seconds / least:.0f} x a start", f"{seconds:.1f} s", goal=goal)


@contextmanager
def _log() -> Iterator[IO[bytes]]:
    """Where servers write a line a request; its end is shown when something goes wrong."""
    with TemporaryFile() as log:
        try:
            yield log
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read()[-2_000:].decode(errors="replace"))
            raise


def _database(url: str) -> str:
    """The name of what is run on, with its version; statements are counted on SQLite always."""
    read = from_environment({"FLAGSTAFF_DATABASE_URL": url}).database_url if url else "sqlite://"
    engine = sa.create_engine(read)
    with engine.connect() as connection:
        version = connection.dialect.server_version_info or ()
    engine.dispose()
    name = f"{DATABASES[engine.name]} {'.'.join(map(str, version))}"
    return f"{name} (SQL as counted on SQLite)" if url else name


if __name__ == "__main__":
    main()
