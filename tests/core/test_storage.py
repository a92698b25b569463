"""Nothing is confirmed that goes into a deleted file or onto a full disk."""

import errno
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.core import migrations, storage
from app.core.db import db
from app.core.errors import Unavailable
from app.core.files import revisions
from tests.support.clients import ApiClient, error_of
from tests.support.instances import open_instance
from tests.support.people import People
from tests.support.servers import until

FEATURES = "/projects/default/features"
FAILURE_SECONDS = storage.FAILURE_SECONDS


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def instance(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    """Checks at every look, and forgets at once that a write failed."""
    monkeypatch.setattr(storage, "READER_SECONDS", 0)
    monkeypatch.setattr(storage, "FAILURE_SECONDS", 0)
    with open_instance({"FLAGSTAFF_HOME": str(home)}) as app:
        yield app


@pytest.fixture
def admin(instance: Flask) -> ApiClient:
    return People(instance).client("admin", role="Admin")


def is_ready(app: Flask) -> bool:
    status = app.test_client().get("/ready").status_code
    assert status in {200, 503}
    metrics = app.test_client().get("/metrics").text
    assert f"flagstaff_ready {1.0 if status == 200 else 0.0}" in metrics
    return status == 200


def create(client: ApiClient, name: str) -> int:
    return client.post(FEATURES, json={"name": name}).status_code


def put_aside(name: str) -> Callable[[Path], Callable[[], object]]:
    """Moves a file of the home folder away and returns how to move it back."""

    def fault(home: Path) -> Callable[[], object]:
        file, aside = home / name, home.with_name("aside")
        file.rename(aside)
        return lambda: aside.rename(file)

    return fault


def replace(home: Path) -> Callable[[], object]:
    """What a copy put over the file by ``mv`` does, or a restored backup."""
    file, aside = home / "flagstaff.db", home / "aside"
    file.rename(aside)
    shutil.copyfile(aside, file)
    return lambda: aside.replace(file)


def connect_more_often_than_before() -> None:
    with ExitStack() as held:
        for _ in range(10):
            held.enter_context(closing(db.engine.raw_connection()))


FAULTS = {
    "database deleted": put_aside("flagstaff.db"),
    "-wal deleted": put_aside("flagstaff.db-wal"),
    "-shm deleted": put_aside("flagstaff.db-shm"),
    "database replaced": replace,
    "home deleted": put_aside(""),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_without_its_files_it_refuses_everything_until_they_are_back(
    instance, admin, home, caplog, fault
):
    assert create(admin, "before") == 201
    assert is_ready(instance)
    caplog.set_level(logging.ERROR, "flagstaff")
    put_back = FAULTS[fault](home)
    before = sorted(home.glob("*"))
    for _ in range(2):
        assert create(admin, "lost") == 503
        assert admin.get("/user").status_code == 503
        assert not is_ready(instance)
        assert instance.test_client().get("/health").status_code == 200
    with instance.app_context(), pytest.raises(Unavailable):
        connect_more_often_than_before()
    assert sorted(home.glob("*")) == before  # no empty database in its place
    found = [record.getMessage() for record in caplog.records]
    assert sum("was deleted or replaced while it was open" in message for message in found) == 1
    put_back()
    assert is_ready(instance)
    assert create(admin, "after") == 201
    names = {row["name"] for row in admin.get(FEATURES).get_json()["features"]}
    assert names == {"before", "after"}


def test_a_new_wal_file_after_the_last_connection_is_no_fault(tmp_path):
    engine = sa.create_engine(f"sqlite:///{tmp_path}/a.db")
    storage.watch(engine, writes=lambda: True)
    migrations.prepare(engine)
    for number in range(3):
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE TABLE t{number} (id INTEGER)")
            connection.commit()
            assert (tmp_path / "a.db-wal").exists()
            connection.invalidate()
        assert not (tmp_path / "a.db-wal").exists()


def test_another_process_that_comes_and_goes_is_no_fault(instance, admin, home):
    other = sa.create_engine(f"sqlite:///{home}/flagstaff.db")
    for name in ("one", "two"):
        with other.begin() as connection:
            connection.execute(sa.text("UPDATE projects SET description = :name"), {"name": name})
        other.dispose()
        assert create(admin, name) == 201
    assert is_ready(instance)


def set_revision(app: Flask, revision: str) -> None:
    with app.app_context(), db.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE alembic_version SET version_num = :to"), {"to": revision}
        )


def test_once_a_newer_version_has_migrated_its_database_it_writes_nothing_more(
    app, people, monkeypatch
):
    monkeypatch.setattr(storage, "SCHEMA_SECONDS", 0)
    admin = people.client("admin", role="Admin")
    assert create(admin, "before") == 201
    set_revision(app, "9999")
    try:
        answer = admin.post(FEATURES, {"name": "lost"})
        assert error_of(answer) == (503, "UnavailableError")
        assert answer.json["message"] == (
            "A newer version of Flagstaff has migrated the database, so this server no longer "
            "writes. Nothing was saved. Try again in a moment."
        )
        assert answer.headers["Retry-After"]
        assert not is_ready(app)
    finally:
        set_revision(app, revisions()[-1])
    assert create(admin, "after") == 201
    assert {row["name"] for row in admin.get(FEATURES).json["features"]} == {"before", "after"}


def test_a_disk_without_space_is_not_ready_and_still_read(instance, admin, monkeypatch):
    free = storage.MIN_FREE_BYTES
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free - 1))
    assert not is_ready(instance)
    assert admin.get("/user").status_code == 200
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))
    assert is_ready(instance)


@pytest.mark.slow
def test_a_write_that_failed_makes_it_not_ready_for_a_moment(instance, admin, monkeypatch):
    monkeypatch.setattr(storage, "FAILURE_SECONDS", FAILURE_SECONDS)
    assert create(admin, "before") == 201
    with instance.app_context(), db.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")  # as if the disk were full
        with pytest.raises(OperationalError, match="full"):
            connection.exec_driver_sql("CREATE TABLE large AS SELECT zeroblob(1000000) AS x")
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    assert not is_ready(instance)
    until(lambda: instance.test_client().get("/ready").status_code == 200, 5)


def test_a_change_is_on_the_disk_before_it_is_acknowledged(admin, home, tmp_path, monkeypatch):
    sync, log = storage._sync, home / "flagstaff.db-wal"
    synced = [b""]

    def noting(handle: int) -> None:
        sync(handle)
        synced.append(log.read_bytes())

    monkeypatch.setattr(storage, "_sync", noting)
    assert create(admin, "kept") == 201
    left = tmp_path / "left.db"
    shutil.copyfile(home / "flagstaff.db", left)
    left.with_name("left.db-wal").write_bytes(synced[-1])
    with closing(sqlite3.connect(left)) as connection:
        assert connection.execute("SELECT name FROM features").fetchall() == [("kept",)]


def fail(_handle: int) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_change_that_the_log_can_not_keep_is_copied_into_the_database(
    admin, home, tmp_path, monkeypatch
):
    monkeypatch.setattr(storage, "_sync", fail)
    assert create(admin, "kept") == 201
    left = tmp_path / "left.db"
    shutil.copyfile(home / "flagstaff.db", left)
    with closing(sqlite3.connect(left)) as connection:
        assert connection.execute("SELECT name FROM features").fetchall() == [("kept",)]


def test_until_the_disk_has_all_again_no_change_is_acknowledged(admin, home, monkeypatch):
    monkeypatch.setattr(storage, "COPY_SECONDS", 0)
    with closing(sqlite3.connect(home / "flagstaff.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT 1 FROM features").fetchall()
        with monkeypatch.context() as broken:
            broken.setattr(storage, "_sync", fail)
            answer = admin.post(FEATURES, json={"name": "unsure"})
            assert error_of(answer) == (503, "UnavailableError")
            assert answer.json["message"] == f"{storage.UNCONFIRMED} {storage.MAY_BE_LOST}"
        assert create(admin, "after") == 503
    assert create(admin, "sure") == 201
