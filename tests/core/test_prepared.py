"""Statements that are compiled once say what SQLAlchemy would say, whatever they are given."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from app.catalogue.features.models import Feature, FeatureType
from app.catalogue.projects.models import Project
from app.core.clock import utcnow
from app.core.db import db, has_one_writer, insert_all, unit_of_work
from app.core.statements import OnList, Prepared, shared_alias
from tests.support.statements import reads

BY_NAME = OnList(
    lambda is_among: (
        sa.select(Feature.name, Feature.type, Feature.created_at, Feature.stale)
        .where(is_among(Feature.name), is_among(Feature.type, "types"))
        .order_by(Feature.name)
    ),
    "types",
)
ADD = Prepared(sa.insert(Project.__table__).values(id=sa.bindparam("new"), name="New"))
STRANGE = ['a"b', "a\\b", "{a,b}", "a'b", "a,b", "ü"]


@pytest.fixture
def names(app):
    """Names of 300 features. Some of them are possible in the database only."""
    found = sorted([*STRANGE, *(f"f{number}" for number in range(294))])
    common = {"project_id": "default", "type": FeatureType.RELEASE, "created_at": utcnow()}
    rest = {"stale": False, "impression_data": False}
    with app.app_context(), unit_of_work(writes=True):
        insert_all([{"name": name} | common | rest for name in found], Feature)
    return found


@pytest.mark.parametrize("number", [0, 1, 2, 3, 16, 17, 300])
def test_a_list_of_any_length_finds_all_of_it_and_nothing_else(app, names, number):
    wanted = names[:number]
    with app.app_context(), unit_of_work(writes=False):
        found = BY_NAME.run([*wanted, "unknown"], types=[FeatureType.RELEASE.value])
        assert not BY_NAME.run(wanted, types=[FeatureType.EXPERIMENT.value])
        query = sa.select(Feature.name, Feature.type, Feature.created_at, Feature.stale)
        same = db.session.execute(query.where(Feature.name.in_(wanted)).order_by(Feature.name))
        assert [tuple(row) for row in found] == [tuple(row) for row in same]
    assert [row.name for row in found] == sorted(wanted)


def test_a_long_list_is_looked_up_by_the_index(app, names):
    with app.app_context():
        if not has_one_writer():
            return  # PostgreSQL chooses by its statistics
        with reads(app) as counts, unit_of_work(writes=False):
            BY_NAME.run(names, types=[FeatureType.RELEASE.value])
        [(_, text, _)] = counts
        with unit_of_work(writes=False):
            connection = db.session.connection()
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", ("[]", "[]")).all()
        assert not [step for *_, step in plan if step.startswith("SCAN features")]


def test_a_refused_change_is_the_error_that_sqlalchemy_raises(app):
    with app.app_context(), pytest.raises(IntegrityError) as raised, unit_of_work(writes=True):
        ADD.run(new="default")
    assert not raised.value.connection_invalidated


def test_a_connection_that_was_closed_is_reported_as_lost_and_replaced(app):
    def ask(*, closed):
        with app.app_context(), unit_of_work(writes=False):
            if closed:
                db.session.connection().connection.dbapi_connection.close()
            return BY_NAME.run(["cart"], types=[FeatureType.RELEASE.value])

    with pytest.raises(DBAPIError) as raised:
        ask(closed=True)
    assert raised.value.connection_invalidated
    assert not ask(closed=False)


@pytest.fixture
def hasty_threads():
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_can_use_an_alias_for_the_first_time_together():
    for _ in range(20):
        other, all_there = shared_alias(Feature, "other"), Barrier(4)

        def text(_number, other=other, all_there=all_there):
            all_there.wait()
            query = sa.select(Feature.name, other.name, Project.name)
            return str(query.join(other, other.id == Feature.id).join(Project))

        with ThreadPoolExecutor(4) as threads:
            assert len(set(threads.map(text, range(4)))) == 1
