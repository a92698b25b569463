"""PostgreSQL goes away, comes back, is locked: 503 until then, nothing lost, nothing to repair."""

import os
import time
from urllib.parse import quote

import psycopg
import pytest

from tests.soak.load import PROJECT, Load, can_write, features, wait_until
from tests.support.servers import TOKEN

ENDED_FOR = 15.0
"""Seconds for which the database's side of every connection is ended again and again."""
ABSENT_FOR = 20.0
RESTARTS = 5


def test_postgresql_that_ends_every_connection_costs_503s_alone(machine, start, empty_postgresql):
    here, there = (start(DATABASE_URL=empty_postgresql) for _ in range(2))
    admin = empty_postgresql.replace("/empty", "/postgres")
    with Load(here, there) as load:
        deadline = time.monotonic() + ENDED_FOR
        with psycopg.connect(admin, autocommit=True) as connection:
            while time.monotonic() < deadline:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'flagstaff'"
                )
                time.sleep(1)
    print(f"\nconnections ended for {ENDED_FOR:.0f} s: {dict(load.statuses)}")
    assert set(load.statuses) <= {201, 503}, load.statuses
    assert load.statuses[201] > 100
    assert load.broken == []
    assert wait_until(lambda: can_write(here, "after"), 10) < 2
    assert load.made <= features(there)


def test_a_locked_table_costs_503s_where_it_is_needed_and_nothing_elsewhere(
    machine, start, empty_postgresql
):
    server = start(DATABASE_URL=empty_postgresql)
    with psycopg.connect(empty_postgresql) as connection:
        connection.execute("LOCK TABLE features IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()
        assert server.call("POST", f"{PROJECT}/features", {"name": "no"}).status == 503
        assert time.monotonic() - began < 8
        assert server.call("GET", "/api/admin/user").status == 200
        connection.rollback()
    assert can_write(server, "after")


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_postgresql_restarted_under_load_loses_nothing_that_was_acknowledged(
    machine, start, database, mode
):
    servers = [start(DATABASE_URL=database.url) for _ in range(2)]
    with Load(*servers) as load:
        slowest = 0.0
        for _ in range(RESTARTS):
            time.sleep(1)
            database.stop(mode)
            time.sleep(0.5)
            database.start()
            recovered = [wait_until(lambda s=s: can_write(s, "after"), 10) for s in servers]
            slowest = max(slowest, *recovered)
        assert all(server.call("GET", "/ready", token=None).status == 200 for server in servers)
    print(f"\n{RESTARTS} x {mode}: {dict(load.statuses)}, writing again after {slowest:.2f} s")
    assert set(load.statuses) == {201, 503}
    assert load.broken == []
    assert slowest < 2
    assert load.made <= features(servers[0])
    assert "intact" in machine.ok("events", "verify", DATABASE_URL=database.url)


def test_while_postgresql_is_absent_it_runs_says_so_and_recovers(machine, start, database):
    server = start(DATABASE_URL=database.url)
    assert can_write(server, "before")
    database.stop()
    deadline = time.monotonic() + ABSENT_FOR
    asked = 0
    while time.monotonic() < deadline:
        began = time.monotonic()
        assert server.call("GET", "/health", token=None).status == 200
        assert server.call("GET", "/ready", token=None).status == 503
        refused = server.call("GET", "/api/admin/user")
        assert (refused.status, refused.json["name"]) == (503, "UnavailableError")
        assert refused.headers["Retry-After"]
        page = server.call("GET", "/sign-in", token=None)
        assert page.status in {200, 503}
        assert b"postgres" not in page.data.lower()
        assert time.monotonic() - began < 4
        asked += 1
        time.sleep(0.2)
    database.start()
    took = wait_until(lambda: can_write(server, "after"), 10)
    print(f"\nabsent for {ABSENT_FOR:.0f} s, asked {asked} times, writing after {took:.2f} s")
    assert took < 2
    assert server.process.poll() is None
    assert "Traceback" not in server.log.read_text()
    assert server.end() == 0


def test_a_database_that_takes_no_changes_can_still_be_read(machine, start, database):
    server = start(DATABASE_URL=database.url)
    assert can_write(server, "before")
    read_only = "ALTER SYSTEM SET default_transaction_read_only = {}; SELECT pg_reload_conf();"
    database.sql(read_only.format("on"))
    wait_until(lambda: not can_write(server, "no"), 10)
    refused = server.call("POST", f"{PROJECT}/features", {"name": "no"})
    assert (refused.status, refused.json["name"]) == (503, "UnavailableError")
    assert features(server) >= {"before"}
    database.sql("SET default_transaction_read_only = off; " + read_only.format("off"))
    assert wait_until(lambda: can_write(server, "after"), 10) < 2


def test_without_postgresql_it_does_not_start_and_says_so_once(machine, start, database):
    database.stop()
    began = time.monotonic()
    said = machine.refused("serve", DATABASE_URL=database.url, BOOTSTRAP_TOKEN=TOKEN)
    print(f"\nrefused after {time.monotonic() - began:.2f} s: {said}")
    assert said.startswith("The database can't be used: ")
    database.start()
    assert can_write(start(DATABASE_URL=database.url), "after")


def test_a_wrong_password_is_reported_without_being_repeated_and_causes_only_503(
    machine, start, database
):
    database.sql("CREATE ROLE flags LOGIN PASSWORD 'right-one'; CREATE DATABASE flags OWNER flags;")
    rules = database.folder / "pg_hba.conf"
    rules.write_text(f"local flags flags scram-sha-256\n{rules.read_text()}")
    database.sql("SELECT pg_reload_conf();")
    place = f"/flags?host={quote(os.fspath(database.folder), safe='')}"
    wrong, right = (f"postgresql://flags:{word}@{place}" for word in ("wrong-one", "right-one"))

    said = machine.refused("serve", DATABASE_URL=wrong, BOOTSTRAP_TOKEN=TOKEN)
    assert said.startswith("The database can't be used: ")
    assert "wrong-one" not in said

    server = start(DATABASE_URL=right)
    assert can_write(server, "before")
    database.sql("ALTER ROLE flags PASSWORD 'another-one';")
    database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'flags';")
    statuses = [server.call("GET", "/api/admin/user").status for _ in range(20)]
    assert set(statuses) == {503}
    assert server.call("GET", "/health", token=None).status == 200
    assert server.call("GET", "/ready", token=None).status == 503
    database.sql("ALTER ROLE flags PASSWORD 'right-one';")
    assert wait_until(lambda: can_write(server, "after"), 10) < 2
    assert "-one" not in server.log.read_text()
