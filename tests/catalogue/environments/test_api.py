import pytest

from app.catalogue.environments import service
from app.catalogue.environments.models import Environment, EnvironmentType
from app.core.actor import COMMAND_LINE
from app.core.db import db, unit_of_work
from tests.support.clients import error_of, problems_of

PATH = "/environments"


@pytest.fixture
def staging(app):
    """A deprecated environment between the two others."""
    with app.app_context(), unit_of_work(writes=True):
        type = EnvironmentType.PREPRODUCTION
        service.create(COMMAND_LINE, name="staging", type=type, sort_order=2)
        db.session.get_one(Environment, "staging").deprecated = True
        db.session.get_one(Environment, "production").sort_order = 3


def test_a_new_instance_has_two(viewer):
    found = viewer.ok("GET", PATH)
    assert list(found) == ["version", "environments", "total"]
    assert found == {
        "version": 1,
        "environments": [
            {"name": name, "type": name, "sortOrder": place}
            | {"enabled": True, "protected": False, "deprecated": False}
            for place, name in enumerate(("development", "production"), 1)
        ],
        "total": 2,
    }


def test_they_are_listed_in_their_order(viewer, staging):
    rows = viewer.ok("GET", PATH)["environments"]
    assert [row["name"] for row in rows] == ["development", "staging", "production"]
    assert [row["deprecated"] for row in rows] == [False, True, False]


def test_they_are_listed_in_pages(viewer, staging):
    found = viewer.ok("GET", f"{PATH}?limit=1&offset=2")
    assert [row["name"] for row in found["environments"]] == ["production"]
    assert found["total"] == 3
    assert list(problems_of(viewer.get(f"{PATH}?offset=-1"))) == ["?offset"]


def test_reading_needs_a_token(stranger):
    assert error_of(stranger.get(PATH)) == (401, "AuthenticationRequired")
