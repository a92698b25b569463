"""What people opened last."""

import pytest
import sqlalchemy as sa

from app.catalogue.visits import service
from app.catalogue.visits.models import Visit
from app.catalogue.visits.pending import AGAIN, PendingVisits
from app.core.actor import Actor
from app.core.db import db, unit_of_work
from app.core.permissions import Role
from tests.support.browser import Browser
from tests.support.statements import statements


@pytest.fixture(autouse=True)
def nothing_remembered(app):
    app.extensions["flagstaff.visits"] = PendingVisits(seconds=0)


@pytest.fixture
def reader(app, people) -> tuple[Browser, int]:
    id = people.person("reader")
    return Browser(app).sign_in("reader"), id


def recent(app, account_id: int, limit: int = 50, **roles: Role) -> list[tuple[str, str | None]]:
    actor = Actor(account_id, "reader", Role.VIEWER, project_roles=roles)
    with app.app_context(), unit_of_work(writes=False):
        return [(one.project_id, one.feature) for one in service.recent(actor, limit)]


def make(admin, *names: str) -> None:
    for name in names:
        admin.ok("POST", "/projects/default/features", {"name": name})


def test_the_latest_comes_first_and_each_once(app, admin, reader):
    browser, id = reader
    make(admin, "a", "b")
    for path in ("/features/a", "", "/features/b", "/features/a"):
        assert browser.get(f"/projects/default{path}").status == 200
    assert recent(app, id) == [("default", "a"), ("default", "b"), ("default", None)]
    assert recent(app, id, 1) == [("default", "a")]


def test_everyone_has_their_own(app, admin, reader, people):
    browser, id = reader
    browser.get("/projects/default")
    other = people.person("other")
    assert (recent(app, id), recent(app, other)) == ([("default", None)], [])


def test_only_pages_that_were_shown_count(app, admin, reader):
    browser, id = reader
    make(admin, "a")
    admin.ok("POST", "/projects", {"id": "hidden", "name": "Hidden", "mode": "private"})
    for path in ("/hidden", "/nowhere", "/default/features/none", "/default?format=csv"):
        browser.get(f"/projects{path}")
    admin.get("/projects/default/features/a")
    assert recent(app, id) == []


def test_what_someone_can_no_longer_see_is_left_out(app, admin, reader):
    browser, id = reader
    admin.ok("POST", "/projects", {"id": "closing", "name": "Closing"})
    browser.get("/projects/closing")
    admin.ok("PUT", "/projects/closing", {"name": "Closing", "mode": "private"})
    assert recent(app, id) == []
    assert recent(app, id, closing=Role.MEMBER) == [("closing", None)]


def test_an_archived_feature_says_so(app, admin, reader):
    browser, id = reader
    make(admin, "a")
    browser.get("/projects/default/features/a")
    admin.ok("POST", "/projects/default/archive", {"features": ["a"]})
    with app.app_context(), unit_of_work(writes=False):
        [visited] = service.recent(Actor(id, "reader", Role.VIEWER), 5)
    assert (visited.feature, visited.is_archived) == ("a", True)


@pytest.mark.slow
def test_only_the_latest_are_kept(app, admin, reader):
    browser, id = reader
    names = [f"f{number}" for number in range(service.MAX_VISITS + 3)]
    make(admin, *names)
    for name in names:
        browser.get(f"/projects/default/features/{name}")
    with app.app_context(), unit_of_work(writes=False):
        assert db.session.scalar(sa.select(sa.func.count(Visit.at))) == service.MAX_VISITS
    assert recent(app, id)[0] == ("default", names[-1])
    assert ("default", names[2]) not in recent(app, id)


def test_opening_the_same_place_again_writes_nothing(app, admin, reader):
    browser, _ = reader
    for _ in range(2):  # the first notes the visit, and the use of the session
        with statements(app) as run:
            browser.get("/projects/default")
    assert AGAIN.total_seconds() == 60
    assert not [one for one in run if "visits" in one]


def test_visits_are_written_together(app, admin, reader):
    browser, id = reader
    waiting = app.extensions["flagstaff.visits"]
    make(admin, "a", "b")
    browser.get("/projects/default")
    waiting.seconds = 1_000
    waiting._not_before = float("inf")
    for name in ("a", "b"):
        browser.get(f"/projects/default/features/{name}")
    assert recent(app, id) == [("default", None)]
    with app.app_context(), statements(app) as run:
        waiting.write()
    assert len([one for one in run if "visits" in one]) == 2
    assert recent(app, id) == [("default", "b"), ("default", "a"), ("default", None)]


def test_a_visit_that_can_not_be_written_hurts_no_one(app, admin, reader, caplog):
    browser, id = reader
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.text("ALTER TABLE visits RENAME TO visits_gone"))
    try:
        assert browser.get("/projects/default").status == 200
    finally:
        with app.app_context(), unit_of_work(writes=True):
            db.session.execute(sa.text("ALTER TABLE visits_gone RENAME TO visits"))
    assert "visits were not recorded" in caplog.text
    browser.get("/projects/default/members")
    assert recent(app, id) == []
