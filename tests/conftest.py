"""Every test that takes ``app`` runs twice: on SQLite and on a real PostgreSQL.

Both databases are made once a worker, migrated by the real migrations, and put back to what a
new instance holds before each test.
"""

import os
import sys

import pytest
from flask import Flask

from tests.browser import Browser
from tests.clients import ApiClient
from tests.people import People
from tests.support.processes import ALWAYS

pytest_plugins = [
    "tests.input.paths",
    "tests.support.access",
    "tests.support.chromium",
    "tests.support.instances",
    "tests.support.machines",
    "tests.support.oidc",
    "tests.support.postgresql",
    "tests.support.programs",
    "tests.support.sdks",
    "tests.support.security_log",
    "tests.support.servers",
    "tests.support.sign_in",
    "tests.support.unleash",
    "tests.support.webhooks",
    "tests.support.writes",
]
collect_ignore = [] if any("soak" in word for word in sys.argv) else ["soak"]

REAL = {"postgresql_url", "servers", "start"}
"""Fixtures of tests that need a process beside this one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick",
        action="store_true",
        help="leave out what needs PostgreSQL, a browser or a server, and what is marked slow",
    )
    parser.addoption("--processes", help="FLAGSTAFF_PROCESSES of every server that is started")


def pytest_configure(config: pytest.Config) -> None:
    if number := config.getoption("--processes"):
        ALWAYS["PROCESSES"] = number


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are processors: much of the time a server or a browser is awaited."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        slow = [item for item in items if is_slow(item)]
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=slow)


def is_slow(item: pytest.Item) -> bool:
    """Whether it is marked so, or needs a browser, a server or PostgreSQL."""
    call = getattr(item, "callspec", None)
    return (
        item.get_closest_marker("slow") is not None
        or "journeys" in item.path.parts
        or not REAL.isdisjoint(getattr(item, "fixturenames", ()))
        or (call is not None and "postgresql" in call.params.values())
    )


@pytest.fixture
def people(app: Flask) -> People:
    return People(app)


@pytest.fixture
def admin(people: People) -> ApiClient:
    """A client with the token of an Admin, a person."""
    return people.client("admin", role="Admin")


@pytest.fixture
def editor(people: People) -> ApiClient:
    return people.client("editor", role="Editor")


@pytest.fixture
def viewer(people: People) -> ApiClient:
    return people.client("viewer", role="Viewer")


@pytest.fixture
def stranger(app: Flask) -> ApiClient:
    """A client without a token."""
    return ApiClient(app, token=None)


@pytest.fixture
def browser(app: Flask, people: People) -> Browser:
    """A browser in which an Admin is signed in."""
    people.person("boss", role="Admin")
    return Browser(app).sign_in("boss")


@pytest.fixture
def visitor(app: Flask) -> Browser:
    """A browser in which no one is signed in."""
    return Browser(app)
