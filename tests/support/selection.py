"""Which of the collected tests run: all in CI, fewer where a developer waits for the answer."""

import os
from collections.abc import Iterable, Iterator
from zlib import crc32

import pytest

from tests.support.instances import BACKENDS

REAL = {"postgresql_url", "servers", "start"}
"""Fixtures of tests that need a process beside this one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick",
        action="store_true",
        help="run one case of each test, and only tests that need no PostgreSQL, browser or "
        "server and are not marked slow",
    )
    parser.addoption(
        "--both",
        action="store_true",
        default="CI" in os.environ,
        help="run each case on SQLite and on PostgreSQL, instead of on one of them by turns",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept: Iterable[pytest.Item] = items
    if config.getoption("--quick"):
        kept = _one_of_each(item for item in items if not _is_slow(item))
    elif not config.getoption("--both"):
        kept = _by_turns(items, config.getoption("randomly_seed", 0))
    chosen = list(kept)
    if left_out := set(items) - set(chosen):
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = chosen


def _by_turns(items: list[pytest.Item], seed: int) -> Iterator[pytest.Item]:
    """Each case on one database. Its name decides on which, and the seed reverses that for all."""
    names = {item.nodeid for item in items}
    for item in items:
        cases = [_on(item, backend) for backend in BACKENDS]
        if (
            not names.issuperset(cases)
            or cases[(crc32(cases[0].encode()) + seed) % 2] == item.nodeid
        ):
            yield item


def _on(item: pytest.Item, backend: str) -> str:
    """The name of the same case on this database; its own name if it uses neither."""
    test, bracket, case = item.nodeid.partition("[")
    for other in BACKENDS:
        case = case.replace(other, backend)
    return test + bracket + case


def _one_of_each(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """The first case of each test, which is another in each run."""
    seen = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if test not in seen:
            seen.add(test)
            yield item


def _is_slow(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    return (
        item.get_closest_marker("slow") is not None
        or "journeys" in item.path.parts
        or not REAL.isdisjoint(getattr(item, "fixturenames", ()))
        or (call is not None and "postgresql" in call.params.values())
    )
