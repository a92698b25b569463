"""Which of the collected tests run: all in CI, fewer where a developer waits for the answer."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

import pytest

from tests.support.instances import BACKENDS

LONG = {"browser", "demo_home", "machine", "postgresql_url", "servers", "start", "visitor"}
"""Fixtures for pages and commands, and those that start a process or fill a whole instance."""
PAIRS = (BACKENDS, ("scripts", "no-scripts"))
"""Parameters of fixtures. Outside CI, a case runs with one of the two."""

Choose = Callable[[Sequence[Any]], Sequence[Any]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick",
        action="store_true",
        help="run one case of each test, and only tests that need no PostgreSQL, page, command, "
        "server or browser and are not marked slow",
    )
    parser.addoption(
        "--all-cases",
        action="store_true",
        default="CI" in os.environ,
        help="run each case on SQLite and on PostgreSQL, with scripts and without, instead of "
        "with one of them by turns",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept: Iterable[pytest.Item] = items
    if config.getoption("--quick"):
        kept = _one_of_each(item for item in items if not _is_slow(item))
    elif not config.getoption("--all-cases"):
        kept = _every_nth(list(_one_of_each_pair(items)))
    chosen = list(kept)
    if left_out := set(items) - set(chosen):
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = chosen


@pytest.fixture
def by_turns(request: pytest.FixtureRequest) -> Choose:
    """Chooses one of several ways to do the same, another one with the next seed; in CI, all."""
    if request.config.getoption("--all-cases"):
        return lambda ways: ways
    turn = _turn(request.config, request.node.nodeid)
    return lambda ways: [ways[turn % len(ways)]]


def _turn(config: pytest.Config, name: str) -> int:
    seed: int = config.getoption("randomly_seed", 0)
    return crc32(name.encode()) + seed


def _one_of_each_pair(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    names = {item.nodeid for item in items}
    for item in items:
        pair = _pair_of(item)
        if not names.issuperset(pair) or pair[_turn(item.config, pair[0]) % 2] == item.nodeid:
            yield item


def _every_nth(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Of the cases of a test that is marked ``one_in``, as many; others with the next seed."""
    names = {item: _pair_of(item)[0] for item in items}
    places = {name: place for place, name in enumerate(sorted(names.values()))}
    for item in items:
        marker = item.get_closest_marker("one_in")
        turn = places[names[item]] + _turn(item.config, item.nodeid.partition("[")[0])
        if marker is None or turn % marker.args[0] == 0:
            yield item


def _pair_of(item: pytest.Item) -> tuple[str, str]:
    """The names of this case and of the other, in the order of PAIRS; twice its own if none."""
    call = getattr(item, "callspec", None)
    values = [value for value in call.params.values() if isinstance(value, str)] if call else []
    for first, second in PAIRS:
        for own in {first, second}.intersection(values):
            test, bracket, case = item.nodeid.partition("[")
            cases = [case.replace(own, one, 1) for one in (first, second)]
            return f"{test}{bracket}{cases[0]}", f"{test}{bracket}{cases[1]}"
    return item.nodeid, item.nodeid


def _one_of_each(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """The first case of each test, which is another one in each run."""
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
        or "pages" in item.path.stem
        or not LONG.isdisjoint(getattr(item, "fixturenames", ()))
        or (call is not None and "postgresql" in call.params.values())
    )
