"""The doctor finds what was broken on purpose, and names the remedy."""

import http.client
import json
import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree

import pytest

from app.core.config import from_environment
from app.operations.upkeep.doctor import machine as checks
from app.operations.upkeep.doctor.proxy import STREAM_SECONDS
from tests.support.instances import open_instance
from tests.support.machines import Machine, Within
from tests.support.people import People
from tests.support.servers import Server

pytestmark = pytest.mark.slow

ALL_IS_WELL = "0 wrong, 0 warnings"


@pytest.fixture(scope="module")
def healthy_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an instance that has two Admins and a backup."""
    machine = Within(tmp_path_factory.mktemp("healthy") / "home")
    machine.home.mkdir(mode=0o700)
    with open_instance(machine.environ()) as app:
        people = People(app)
        for name in ("ada", "grace"):
            people.person(name, role="Admin")
        people.token(people.service_account("robot"), "nightly")
    sql(machine, "UPDATE accounts SET password_hash = 'x'")
    for file in machine.home.iterdir():
        file.chmod(0o600)
    machine.ok("backup", str(machine.home.parent / "backup"))
    return machine.home


@pytest.fixture
def healthy(machine: Machine, healthy_home: Path) -> Machine:
    copytree(healthy_home, machine.home)
    return machine


def sql(machine: Machine, *statements: str) -> None:
    connection = sqlite3.connect(machine.home / "flagstaff.db")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_it_has_nothing_to_say_about_a_healthy_instance(healthy):
    said = healthy.ok("doctor")
    assert said.splitlines()[-1] == ALL_IS_WELL
    assert "->" not in said


def write_down_the_end(machine: Machine) -> None:
    """As the server does every hour."""
    connection = sqlite3.connect(machine.home / "flagstaff.db")
    [(number, digest)] = connection.execute("SELECT last_id, digest FROM event_heads")
    connection.close()
    file = machine.home / "event_heads.jsonl"
    file.write_text(json.dumps({"id": number, "digest": digest.hex()}) + "\n")
    file.chmod(0o600)


def test_a_log_that_ends_as_it_was_written_down_is_fine(healthy):
    write_down_the_end(healthy)
    assert healthy.ok("doctor").splitlines()[-1] == ALL_IS_WELL
    healthy.ok("user", "update", "ada", "--name", "Ada")
    assert healthy.ok("doctor").splitlines()[-1] == ALL_IS_WELL


def test_an_end_that_was_pruned_since_is_not_missed(healthy):
    write_down_the_end(healthy)
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d")
    healthy.ok("events", "prune", "--before", tomorrow)
    assert healthy.ok("doctor").splitlines()[-1] == ALL_IS_WELL


def move_away(machine: Machine) -> None:
    for file in machine.home.glob("flagstaff.db*"):
        file.unlink()
    (machine.home / "event_heads.jsonl").write_text('{"id": 1, "digest": "00"}\n')


def damage(machine: Machine) -> None:
    """Overwrite where the table of webhooks begins."""
    path = machine.home / "flagstaff.db"
    with closing(sqlite3.connect(path)) as database:
        [(page,)] = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'webhooks'")
        [(size,)] = database.execute("PRAGMA page_size")
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def age_the_backup(machine: Machine) -> None:
    file = machine.home / "last_backup.json"
    made = json.loads(file.read_text())
    made["createdAt"] = (datetime.now(UTC) - timedelta(days=8)).isoformat()
    file.write_text(json.dumps(made))


def say_that_the_log_ended_elsewhere(machine: Machine) -> None:
    file = machine.home / "event_heads.jsonl"
    file.write_text(json.dumps({"id": 1, "digest": "00" * 32}) + "\n")


def chmod(name: str, mode: int) -> Callable[[Machine], None]:
    return lambda machine: (machine.home / name).chmod(mode)


def statements(*words: str) -> Callable[[Machine], None]:
    return lambda machine: sql(machine, *words)


SOON = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%d %H:%M:%S.000000")


def approvals(number: int) -> Callable[[Machine], None]:
    return lambda machine: sql(
        machine, f"INSERT INTO project_approvals VALUES ('default', 'production', {number})"
    )


FAULTS = {
    "too few people can approve": (
        approvals(3),
        *(0, "need 3 approvals, and 2 people can approve there. No change request", "Add members"),
    ),
    "just as many people can approve as have to": (
        approvals(2),
        *(0, "What one of them proposes can’t be approved", "Add members"),
    ),
    "open folder": (chmod("", 0o750), 1, "have access to", "chmod 700"),
    "open key": (chmod("secret_key", 0o644), 1, "secret_key (mode 644)", "chmod 600"),
    "locked file": (chmod("flagstaff.db", 0o400), 1, "isn't writable", "chmod u+w"),
    "older schema": (
        statements("UPDATE alembic_version SET version_num = '0007'"),
        *(1, "at revision 0007, but this version needs", "flagstaff db upgrade"),
    ),
    "newer schema": (
        statements("UPDATE alembic_version SET version_num = '9999'"),
        *(
            1,
            "at revision 9999, which this version",
            "Install the version of Flagstaff that created it",
        ),
    ),
    "empty": (move_away, 1, "is empty, but an instance has been served", "flagstaff restore FILE"),
    "damaged": (damage, 1, "is damaged", "restore the last backup"),
    "clock": (
        statements(
            "DROP TRIGGER events_stay_as_they_are",
            "UPDATE events SET created_at = '2999-01-01 00:00:00.000000'",
        ),
        *(1, "The last event is dated 2999-01-01 00:00 UTC", "timedatectl set-ntp true"),
    ),
    "another log": (
        say_that_the_log_ended_elsewhere,
        *(1, "Event 1 is not the one that was recorded", "flagstaff events verify"),
    ),
    "one Admin": (
        statements("UPDATE accounts SET password_hash = NULL WHERE id = 1"),
        *(0, "Only one Admin can sign in", "Make another person an Admin"),
    ),
    "no Admin": (
        statements("UPDATE accounts SET password_hash = NULL"),
        *(0, "No Admin can sign in", "flagstaff user create --role Admin"),
    ),
    "token that ends": (
        statements(f"UPDATE tokens SET expires_at = '{SOON}'"),
        *(0, f"The token 'nightly' of robot expires on {SOON[:10]}", "Rotate it"),
    ),
    "old backup": (age_the_backup, 0, "The last backup was on", "flagstaff backup FILE"),
    "no backup": (
        lambda machine: (machine.home / "last_backup.json").unlink(),
        *(0, "No backup found", "flagstaff backup FILE"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_finds_what_is_wrong_and_says_what_to_do(healthy, fault):
    inject, status, says, remedy = FAULTS[fault]
    inject(healthy)
    done = healthy.run("doctor", "--json")
    assert (done.returncode, done.stderr) == (status, "")
    found = [
        finding for finding in json.loads(done.stdout)["findings"] if finding["state"] != "fine"
    ]
    state = "wrong" if status else "warning"
    assert any(
        says in finding["says"] and remedy in finding["remedy"] and finding["state"] == state
        for finding in found
    ), found


SETTINGS = {
    "unencrypted": (
        {"HOST": "0.0.0.0", "BASE_URL": "http://flags.example.org"},
        *(1, "are sent unencrypted", "Put a reverse proxy with TLS in front"),
    ),
    "untrusted proxy": (
        {"BASE_URL": "https://flags.example.org"},
        *(0, "seem to come from the proxy", "Set FLAGSTAFF_TRUSTED_PROXY"),
    ),
    "another port": (
        {"PORT": "4300", "BASE_URL": "http://127.0.0.1:4242"},
        *(1, "Links lead to port 4242", "http://127.0.0.1:4300"),
    ),
    "short passwords": (
        {"PASSWORD_MIN": "8"},
        *(0, "Passwords can be as short as 8 characters", "Set FLAGSTAFF_PASSWORD_MIN to 15"),
    ),
    "bootstrap token": (
        {"BOOTSTRAP_TOKEN": "b" * 40},
        *(0, "FLAGSTAFF_BOOTSTRAP_TOKEN is still set", "Remove it from the environment"),
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_it_finds_settings_that_are_not_safe_or_do_not_fit(healthy, name):
    chosen, status, says, remedy = SETTINGS[name]
    done = healthy.run("doctor", **chosen)
    assert (done.returncode, done.stderr) == (status, "")
    assert says in done.stdout
    assert remedy in done.stdout


def test_it_finds_a_database_that_does_not_answer(machine):
    url = "postgresql://flagstaff:hidden@127.0.0.1:9/flagstaff"
    done = machine.run("doctor", DATABASE_URL=url)
    assert (done.returncode, done.stderr) == (1, "")
    assert "flagstaff:***@127.0.0.1:9/flagstaff does not answer: " in done.stdout
    assert "Check that PostgreSQL is running" in done.stdout
    assert "hidden" not in done.stdout


def test_it_finds_a_postgresql_that_does_not_wait_for_its_disk(machine, empty_postgresql):
    machine.ok("db", "upgrade", DATABASE_URL=empty_postgresql)
    said = machine.run("doctor", DATABASE_URL=empty_postgresql).stdout
    assert "PostgreSQL has fsync off" in said
    assert "ALTER SYSTEM SET fsync = on" in said
    assert "other servers on this database would not accept its sessions" in said


def test_it_finds_a_database_far_away_that_is_not_encrypted(machine):
    url = "postgresql://flagstaff@database.invalid/flagstaff"
    said = machine.run("doctor", DATABASE_URL=url).stdout
    assert "The connection to the database at database.invalid might not be encrypted" in said
    assert "sslmode=verify-full" in said
    said = machine.run("doctor", DATABASE_URL=f"{url}?sslmode=verify-full").stdout
    assert "encrypted" not in said


def test_it_says_that_a_new_instance_is_empty(machine):
    done = machine.run("doctor")
    assert done.returncode == 0
    assert "is empty.\n" in done.stdout
    assert "flagstaff serve" in done.stdout


def test_it_finds_a_disk_without_room(tmp_path):
    settings = replace(from_environment({}), home=Path("/proc"))
    [finding] = checks.check_disk(settings)
    assert (finding.state, finding.says) == ("wrong", "0 of 0 MB free.")
    assert finding.remedy == "Free up space on the disk of /proc now."
    [finding] = checks.check_disk(replace(settings, home=tmp_path))
    assert finding.state in {"fine", "warning"}


AS_ROOT = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="gives files away")


@AS_ROOT
def test_it_finds_a_file_that_a_command_left_behind_as_another_user(healthy):
    os.chown(healthy.home / "flagstaff.db", 12345, -1)
    done = healthy.run("doctor")
    assert done.returncode == 1
    assert "flagstaff.db belongs to user id 12345, not to the owner of the folder." in done.stdout
    assert "chown 0 " in done.stdout


@AS_ROOT
def test_root_may_examine_the_instance_of_another_user(healthy):
    for path in (healthy.home, *healthy.home.iterdir()):
        os.chown(path, 12345, -1)
    assert healthy.ok("doctor").splitlines()[-1] == ALL_IS_WELL


def test_looking_changes_nothing(healthy):
    before = {file: file.read_bytes() for file in healthy.home.iterdir()}
    healthy.ok("doctor")
    assert {file: file.read_bytes() for file in healthy.home.iterdir()} == before


def base(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}"


def through(machine: Machine, url: str, **settings: str) -> list[dict[str, str]]:
    """What it finds about the way through ``url``."""
    done = machine.run("doctor", "--json", "--proxy", url, **settings)
    assert done.stderr == ""
    return [found for found in json.loads(done.stdout)["findings"] if found["about"] == "proxy"]


def test_a_way_on_which_all_arrives_is_fine(machine, start):
    server = start()
    [found] = through(machine, base(server), PORT=str(server.port), BASE_URL=base(server))
    assert found["state"] == "fine"


PROXIED = {"TRUSTED_PROXY": "127.0.0.1"}
ON_THE_WAY = {
    "links": ({}, {"BASE_URL": "https://flags.example.org"}, "Links lead to", "FLAGSTAFF_BASE_URL"),
    "size": (
        {"MAX_REQUEST_BYTES": "4096"},
        {},
        "of 2,097,152 bytes don't arrive",
        "client_max_body_size",
    ),
    "authorization": ({}, {"SECRET_KEY": "k" * 40}, "answered 404", "pass on Authorization"),
    "pretended": (
        PROXIED,
        {},
        "passes on X-Forwarded-For as clients send it",
        "$proxy_add_x_forwarded_for (nginx)",
    ),
    "prefix": ({"URL_PREFIX": "/flags"}, {}, "with the prefix /flags", "FLAGSTAFF_URL_PREFIX to"),
    "not told": (
        {},
        PROXIED,
        "doesn't pass on the client's address",
        "Let it send X-Forwarded-For",
    ),
}


@pytest.mark.parametrize("fault", ON_THE_WAY)
def test_it_finds_what_is_wrong_on_the_way(machine, start, fault):
    served, asked, says, remedy = ON_THE_WAY[fault]
    server = start(**served)
    found = through(machine, base(server), **({"BASE_URL": base(server)} | asked))
    assert any(says in one["says"] and remedy in one["remedy"] for one in found), found


class _Buffering(BaseHTTPRequestHandler):
    """A proxy that waits for the end of each response before it passes it on."""

    port: int

    def do_POST(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2 * STREAM_SECONDS)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection.request(self.command, self.path, body, dict(self.headers.items()))
        with closing(connection), suppress(OSError):
            answer = connection.getresponse()
            whole = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(whole)


def test_it_finds_that_streams_are_held_back(machine, start):
    server = start()
    handler = type("Buffering", (_Buffering,), {"port": server.port})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
        proxy.daemon_threads = True
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{proxy.server_port}"
        [found] = through(machine, url, BASE_URL=url)
        proxy.shutdown()
    assert "Event streams don't arrive while they are open" in found["says"]
    assert "proxy_buffering off; (nginx)" in found["remedy"]


def test_it_finds_that_nothing_answers(machine):
    found = through(machine, "http://127.0.0.1:9")
    assert "does not lead to Flagstaff" in found[-1]["says"]
    assert "Check that proxy and server are running" in found[-1]["remedy"]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"groupId": 'a"b', "rollout": "50"}, "the engine can't evaluate checkout"),
        ({"groupId": "a", "rollout": 50}, "refuses all features of development because of"),
    ],
)
def test_it_finds_features_that_the_engine_cannot_evaluate(healthy, parameters, said):
    sql(
        healthy,
        "INSERT INTO features (id, name, project_id, type, stale, impression_data, created_at)"
        " VALUES (1, 'checkout', 'default', 'release', 0, 0, '2026-01-01')",
        "INSERT INTO feature_states (feature_id, environment, enabled, variants, changed_at)"
        " VALUES (1, 'development', 1, '[]', '2026-01-01')",
        "INSERT INTO strategies (id, feature_id, environment, name, parameters, constraints,"
        " variants, disabled, sort_order, created_at) VALUES ('x', 1, 'development',"
        f" 'flexibleRollout', '{json.dumps(parameters)}', '[]', '[]', 0, 0, '2026-01-01')",
    )
    found = healthy.run("doctor")
    assert said in found.stdout
    assert "checkout" in found.stdout
