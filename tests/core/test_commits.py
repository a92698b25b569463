"""What was read is remembered only while the database is as it was."""

from itertools import count

import pytest

from app.accounts import service as accounts
from app.catalogue.tags.models import TagType
from app.core.commits import CommitCache
from app.core.db import db, unit_of_work


@pytest.fixture
def reads(app):
    """Answers of a cache for one key, counted: each reading of the database gives the next one."""
    cache: CommitCache[list[int]] = CommitCache()
    numbers = count(1)

    def ask() -> int:
        with app.app_context():
            return cache.get(b"key", lambda: [next(numbers)])[0]

    return ask


def commit_something(app):
    with app.app_context(), unit_of_work(writes=True):
        db.session.add(TagType(name="new"))


def is_sqlite(app) -> bool:
    with app.app_context():
        return db.engine.dialect.name == "sqlite"


def test_while_nothing_is_committed_sqlite_is_read_once(app, reads):
    assert [reads() for _ in range(3)] == ([1, 1, 1] if is_sqlite(app) else [1, 2, 3])


def test_after_a_commit_it_is_read_again(app, reads):
    reads()
    before = reads()
    commit_something(app)
    assert reads() == before + 1


def test_what_was_committed_while_reading_counts(app):
    cache: CommitCache[str] = CommitCache()

    def read() -> str:
        commit_something(app)
        return "old"

    with app.app_context():
        assert cache.get(b"key", read) == "old"
        assert cache.get(b"key", lambda: "new") == "new"


def test_what_was_not_found_is_looked_for_again(app):
    cache: CommitCache[list[int]] = CommitCache()
    with app.app_context():
        assert cache.get(b"key", list) == []
        assert cache.get(b"key", lambda: [1]) == [1]


def test_nothing_is_remembered_beyond_the_connections(app, reads):
    before = reads()
    with app.app_context():
        db.engine.dispose()
    assert reads() == before + 1


def test_an_account_to_change_is_as_it_is_now_even_if_it_was_read_before(app, people):
    id = people.person("grace")
    with app.app_context():
        with unit_of_work(writes=False):
            before = accounts.get(id)
        with app.app_context(), unit_of_work(writes=True):
            accounts.get_for_change(id).name = "Grace H."
        with unit_of_work(writes=True):
            assert accounts.get_for_change(id).name == "Grace H."
        assert before.name == "Grace H."
