from collections.abc import Callable

import pytest
from flask import Flask

from tests.conftest import BACKENDS, reset_database
from tests.core.test_rehearsal import root, world

__all__ = ["root", "world"]  # fixtures


@pytest.fixture
def twins(request: pytest.FixtureRequest, instances: Callable[..., Flask]) -> list[Flask]:
    """The application on each of the databases, as the first start leaves it."""
    apps = [instances(backend, request) for backend in BACKENDS]
    for app in apps:
        with app.app_context():
            reset_database()
    return apps
