"""What one process changes, all deliver; and what was reported to any of them is counted once."""

import http.client
import json
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from app.core.clock import utcnow
from tests.support.machines import Machine
from tests.support.servers import SECRET_KEY, Server, serving_with, until

pytestmark = pytest.mark.one_in(2)

FEATURES = "/api/admin/projects/default/features"
CLIENT = "/api/client/features"
LISTENERS = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'"
USAGE = sa.text("SELECT sum(yes), sum(no) FROM feature_usage WHERE span = 'hour'")


def new_token(server, name="web"):
    body = {"tokenName": name, "type": "client", "environment": "production"}
    return server.call("POST", "/api/admin/api-tokens", body).json["secret"]


def is_on(server, token):
    [feature] = server.call("GET", CLIENT, token=token).json["features"]
    return feature["enabled"]


def switch(server, way):
    path = f"{FEATURES}/cart/environments/production/{way}"
    assert server.call("POST", path).status == 200


def metrics(yes):
    bucket = {"stop": utcnow().isoformat(), "toggles": {"cart": {"yes": yes, "no": 1}}}
    return {"appName": "shop", "instanceId": "1", "bucket": bucket}


@pytest.fixture
def server(start) -> Server:
    server = start(PROCESSES="4")
    server.call("POST", FEATURES, {"name": "cart"})
    return server


def counted(url):
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = tuple(connection.execute(USAGE).one())
    engine.dispose()
    return found


def test_four_processes_on_sqlite_deliver_a_change_at_once(server):
    token = new_token(server)
    for way in ("on", "off") * 3:
        switch(server, way)
        assert {is_on(server, token) for _ in range(12)} == {way == "on"}


def test_a_token_is_known_and_revoked_at_once_in_four_processes(server):
    for number in range(3):
        token = new_token(server, f"web {number}")
        assert {server.call("GET", CLIENT, token=token).status for _ in range(8)} == {200}
        found = server.call("GET", "/api/admin/api-tokens").json["tokens"]
        server.call("DELETE", f"/api/admin/api-tokens/{found[0]['id']}")
        assert {server.call("GET", CLIENT, token=token).status for _ in range(8)} == {401}


@pytest.fixture
def listeners(empty_postgresql):
    """A connection to a database, on which ``LISTENERS`` are those of the servers."""
    url = empty_postgresql.replace("postgresql://", "postgresql+psycopg://")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def listening(machine, start, empty_postgresql, listeners):
    """Two servers on one PostgreSQL that ask it for changes only when they hear of some."""
    machine.settings |= {"DATABASE_URL": empty_postgresql, "SECRET_KEY": SECRET_KEY}
    machine.settings["PROCESSES"] = "1"  # so that the one that is asked is the one that wrote
    command = serving_with("app.core.commits", LISTENING_POLL_SECONDS=1e9)
    servers = [start(command=command), start(command=command)]
    wait_for_two(listeners)
    return servers


def wait_for_two(listeners):
    until(lambda: listeners.scalar(sa.text(f"SELECT count(*) {LISTENERS}")) == 2)


def test_two_servers_on_one_postgresql_tell_each_other_of_changes(listening):
    here, there = listening
    here.call("POST", FEATURES, {"name": "cart"})
    token = new_token(here)
    assert not is_on(there, token)
    for way in ("on", "off", "on"):
        switch(here, way)
        assert is_on(here, token) is (way == "on")
        until(lambda way=way: is_on(there, token) is (way == "on"))


def test_changes_that_a_server_missed_while_its_connection_was_cut_arrive(listening, listeners):
    here, there = listening
    here.call("POST", FEATURES, {"name": "cart"})
    token = new_token(here)
    for way in ("on", "off", "on"):
        listeners.execute(sa.text(f"SELECT pg_terminate_backend(pid) {LISTENERS}"))
        switch(here, way)
        until(lambda way=way: is_on(there, token) is (way == "on"))
        wait_for_two(listeners)


def test_sigterm_loses_no_counts(machine, server):
    token = new_token(server)
    for _ in range(3):  # also those that come just after others were written
        for _ in range(20):
            assert server.call("POST", "/api/client/metrics", metrics(2), token=token).status == 202
        time.sleep(1.2)
    assert server.end() == 0
    assert counted(f"sqlite:///{machine.home}/flagstaff.db") == (120, 60)


def test_a_kill_loses_at_most_five_seconds_of_counts(machine, server):
    token = new_token(server)
    server.call("POST", "/api/client/metrics", metrics(2), token=token)
    time.sleep(5.5)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait(30)
    assert counted(f"sqlite:///{machine.home}/flagstaff.db") == (2, 1)


def test_two_servers_that_count_the_same_hour_lose_nothing(empty_postgresql, servers):
    here, there = servers(2)
    here.call("POST", FEATURES, {"name": "cart"})
    token = new_token(here)
    statuses = set()

    def report(server):
        for _ in range(30):
            answer = server.call("POST", "/api/client/metrics", metrics(3), token=token)
            statuses.add(answer.status)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(report, (here, there, here, there)))
    assert statuses == {202}
    assert (here.end(), there.end()) == (0, 0)
    url = empty_postgresql.replace("postgresql://", "postgresql+psycopg://")
    assert counted(url) == (360, 120)


def test_a_restored_backup_delivers_what_it_had_with_the_same_etag(machine, start, tmp_path):
    server = start()
    server.call("POST", FEATURES, {"name": "cart"})
    switch(server, "on")
    token = new_token(server)
    before = server.call("GET", CLIENT, token=token)
    machine.ok("backup", str(tmp_path / "backup.zip"))
    switch(server, "off")
    changed = server.call("GET", CLIENT, token=token)
    assert changed.headers["ETag"] != before.headers["ETag"]
    server.end()
    elsewhere = Machine(tmp_path / "elsewhere")
    elsewhere.ok("restore", str(tmp_path / "backup.zip"), "--yes")
    after = start(on=elsewhere).call("GET", CLIENT, token=token)
    assert (after.headers["ETag"], after.data) == (before.headers["ETag"], before.data)


def test_a_moved_database_delivers_the_same_with_the_same_etag(machine, start, empty_postgresql):
    server = start()
    server.call("POST", FEATURES, {"name": "cart"})
    switch(server, "on")
    token = new_token(server)
    before = server.call("GET", CLIENT, token=token)
    server.end()
    machine.ok("db", "move", "--to", empty_postgresql)
    after = start(DATABASE_URL=empty_postgresql).call("GET", CLIENT, token=token)
    assert (after.headers["ETag"], after.data) == (before.headers["ETag"], before.data)


def test_many_who_ask_after_a_change_are_answered_from_one_state(server):
    """Whatever number of programs ask at once, none is refused and all get the same."""
    token = new_token(server)
    switch(server, "on")
    barrier = threading.Barrier(16)

    def ask(_):
        barrier.wait()
        answer = server.call("GET", CLIENT, token=token)
        return answer.status, answer.headers["ETag"], json.dumps(answer.json)

    with ThreadPoolExecutor(16) as threads:
        assert len(set(threads.map(ask, range(16)))) == 1


def test_a_connection_stays_open_after_answers_without_a_body(server):
    token = new_token(server)
    etag = server.call("GET", CLIENT, token=token).headers["ETag"]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.connect()
    socket = connection.sock
    headers = {"Authorization": token, "If-None-Match": etag}
    for method, path, body, status in (
        ("GET", CLIENT, None, 304),
        ("POST", "/api/client/metrics", json.dumps(metrics(1)), 202),
        ("GET", CLIENT, None, 304),
    ):
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        assert (answer.status, answer.read(), connection.sock) == (status, b"", socket)
    connection.close()
