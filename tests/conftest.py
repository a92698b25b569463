"""A test that takes ``app`` runs on SQLite or on a real PostgreSQL; in CI, on both.

Both databases are made once a worker, and put back to what a new instance holds before each test.
"""

import gc
import os
import sys

import pytest
from flask import Flask

from tests.support import compiled, memory, migrated, statements
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.people import People
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
    "tests.support.selection",
    "tests.support.servers",
    "tests.support.sign_in",
    "tests.support.streams",
    "tests.support.unleash",
    "tests.support.webhooks",
    "tests.support.writes",
]
collect_ignore = [] if any("soak" in word for word in sys.argv) else ["soak"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", help="FLAGSTAFF_PROCESSES of every server that is started")


def pytest_configure(config: pytest.Config) -> None:
    if number := config.getoption("--processes"):
        ALWAYS["PROCESSES"] = number
    memory.use(config)
    migrated.replace()
    compiled.keep()
    statements.refuse_stray_tables()


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays to the end: all modules and collected tests."""
    gc.collect()
    gc.freeze()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are processors, unless no server and no browser is awaited."""
    return len(os.sched_getaffinity(0)) + (not config.getoption("--quick"))


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
