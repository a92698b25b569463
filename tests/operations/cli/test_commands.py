"""The command ``flagstaff`` from outside: what it does, and how it says that it can't."""

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import click
import pytest
import sqlalchemy as sa
import time_machine
from flask import Flask

from app.access.auth.models import SecondFactor
from app.accounts.tokens.models import Token
from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.files import revisions
from app.operations.cli import cli
from app.portal.help.examples import EXAMPLES
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.instances import open_instance
from tests.support.machines import Machine
from tests.support.people import People
from tests.support.preloaded import ROOT

NEWEST = revisions()[-1]


@pytest.fixture
def instance(machine: Machine) -> Iterator[Flask]:
    """The application on the machine's database."""
    machine.home.mkdir()
    with open_instance(machine.environ()) as app:
        yield app


def every_command(
    group: click.Group = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    yield path
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from every_command(command, (*path, name))
        else:
            yield (*path, name)


def test_every_command_explains_itself(machine, subtests):
    for words in every_command():
        with subtests.test(words=" ".join(words)):
            said = machine.ok(*words, "--help")
            usage, _, about, *_ = said.splitlines()
            assert usage.startswith(" ".join(("Usage: flagstaff", *words, "[OPTIONS]")))
            assert about.startswith("  ")
            assert not machine.home.exists()


def test_an_example_is_printed_and_nothing_created(machine, subtests):
    for name in EXAMPLES:
        with subtests.test(name=name):
            assert len(machine.ok("example", name).splitlines()) > 5
            assert not machine.home.exists()


def test_an_example_has_the_address_that_people_use(machine):
    shown = machine.ok("example", "nginx", BASE_URL="https://flags.example.org/tools")
    assert "FLAGSTAFF_BASE_URL=https://flags.example.org/tools " in shown
    assert "    location /tools {\n" in shown


def test_the_short_option_explains_the_same(machine):
    assert machine.ok("db", "-h") == machine.ok("db", "--help")


def test_a_process_that_documented_the_commands_knows_the_short_option(machine):
    steps = """
from app.operations.cli import main
from app.portal.help.commands import groups

groups()
main(["db", "-h"])
"""
    done = subprocess.run(
        [sys.executable, "-c", steps],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Usage: flagstaff db [OPTIONS]")


def test_it_tells_its_version(machine):
    newest = re.search(r"^## \[(.+)\] - ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert machine.ok("--version") == f"flagstaff, version {newest}"


def test_a_group_alone_shows_its_help_and_fails(machine):
    for words in ((), ("user",), ("token",), ("db",)):
        done = machine.run(*words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr.startswith("Usage: flagstaff"), words


def test_user_create_makes_a_person(machine, instance):
    said = machine.ok(
        *("user", "create", "--username", "ada", "--email", "ada@example.org"),
        *("--name", "Ada Lindqvist", "--role", "editor"),
    )
    first, link = said.splitlines()
    assert first == "Created ada with the id 1 as Editor."
    assert instance.test_client().get(link.rpartition(" ")[2]).status_code == 200
    admin = ApiClient(instance, People(instance).token(People(instance).person("a", role="Admin")))
    user = admin.ok("GET", "/user-admin/1")
    assert (user["username"], user["email"], user["name"], user["rootRole"]) == (
        "ada",
        "ada@example.org",
        "Ada Lindqvist",
        2,
    )
    [event] = admin.ok("GET", "/events?type=user-created")["events"][1:]
    assert (event["createdBy"], event["createdByUserId"]) == (COMMAND_LINE.username, None)


def test_a_person_needs_no_more_than_an_email_and_is_a_viewer(machine):
    said = machine.ok("user", "create", "--email", "ada@example.org")
    assert said.startswith("Created ada@example.org with the id 1 as Viewer.\n")


def test_a_token_that_was_printed_works(machine, instance):
    machine.ok("user", "create", "--username", "ada", "--role", "Admin")
    secret = machine.ok("token", "create", "ADA", "--description", "first")
    assert secret.startswith("fst_pat_")
    user = ApiClient(instance, secret).ok("GET", "/user")
    assert user["user"]["username"] == "ada"
    assert user["permissions"] == [{"permission": "ADMIN"}]


def test_a_token_of_a_service_account_is_of_that_kind(machine, instance):
    People(instance).service_account("robot", role="Editor")
    secret = machine.ok("token", "create", "robot", "--description", "first", "--days", "30")
    assert secret.startswith("fst_sa_")
    account = ApiClient(instance, secret).ok("GET", "/user")["user"]
    assert account["accountType"] == "Service Account"
    with instance.app_context():
        token = db.session.scalars(sa.select(Token)).one()
        left = token.expires_at - datetime.now(UTC)
    assert timedelta(days=29, hours=23) < left <= timedelta(days=30)


def test_db_upgrade_and_current(machine):
    machine.home.mkdir()
    assert machine.ok("db", "current") == f"empty (needs {NEWEST}; run: flagstaff db upgrade)"
    assert machine.ok("db", "upgrade") == f"empty -> {NEWEST}"
    assert machine.ok("db", "current") == f"{NEWEST} (up to date)"
    assert machine.ok("db", "upgrade") == f"{NEWEST} -> {NEWEST}"


def test_a_database_of_a_newer_version_is_left_alone(machine):
    machine.ok("db", "upgrade")
    file = machine.home / "flagstaff.db"
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    for words in (("db", "upgrade"), ("user", "create", "--username", "ada"), ("serve",)):
        assert machine.refused(*words) == (
            "The database is at revision 9999, but this version of Flagstaff knows revisions up "
            f"to {NEWEST}. Install the version that created it, or a newer one."
        )
    connection = sqlite3.connect(file)
    assert connection.execute("SELECT count(*) FROM accounts").fetchone() == (0,)
    connection.close()


def test_what_is_wrong_is_said_in_one_line(machine, subtests):
    for words, line in (
        ("nonsense", "No such command 'nonsense'. Try: flagstaff --help"),
        ("--nonsense", "No such option '--nonsense'. Try: flagstaff --help"),
        ("db nonsense", "No such command 'nonsense'. Try: flagstaff db --help"),
        ("user create", "Give a username, an email, or both."),
        ("user create --username", "Option '--username' requires an argument."),
        ("user create --username a --role Owner", "'Owner' is not one of 'admin', 'editor'"),
        ("user create --email a", "Invalid value for --email: Not a valid email address."),
        (f"user create --username {'a' * 256}", "--username: Enter 1 to 255 characters."),
        ("token create", "Missing argument 'NAME'."),
        ("token create ada", "Missing option '--description'."),
        ("token create ada --description x", "No account matches 'ada'."),
        ("token create ada --description x --days 0", "0 is not in the range 1<=x<=3650."),
        ("serve now", "Got unexpected extra argument (now)"),
    ):
        with subtests.test(words=words, line=line):
            assert line in machine.refused(*words.split(" "))


def test_what_is_taken_is_refused(machine):
    machine.ok("user", "create", "--username", "ada", "--email", "ada@example.org")
    machine.ok("token", "create", "ada", "--description", "first")
    for words, line in (
        (("user", "create", "--username", "ADA"), "The username 'ADA' is taken. Choose another."),
        (
            ("user", "create", "--email", "Ada@example.org"),
            "The email 'Ada@example.org' belongs to another user.",
        ),
        (
            ("token", "create", "ada", "--description", "first"),
            "This account already has a token described 'first'.",
        ),
    ):
        assert machine.refused(*words) == line


def test_a_wrong_setting_stops_every_command(machine):
    for words in ("serve", "demo", "db current", "db upgrade", "user create"):
        assert machine.refused(*words.split(), PORT="http") == (
            "FLAGSTAFF_PORT is 'http'. It must be a whole number from 1 to 65535."
        ), words
    assert not machine.home.exists()


def test_a_database_that_is_none_is_named_so(machine, tmp_path):
    file = tmp_path / "letter.txt"
    file.write_text("Dear Sir or Madam, this is not a database.")
    said = machine.refused("db", "upgrade", DATABASE_URL=f"sqlite:///{file}")
    assert said.startswith("The database can't be used: ")
    assert "file is not a database" in said
    assert file.read_text() == "Dear Sir or Madam, this is not a database."


def test_a_database_that_does_not_answer_is_named_so_without_its_password(machine):
    url = "postgresql://someone:correct-horse@127.0.0.1:1/flags"
    said = machine.refused("db", "upgrade", DATABASE_URL=url)
    assert said.startswith("The database can't be used: ")
    assert "correct-horse" not in said


@pytest.mark.parametrize("below", ["", "/flags"])
def test_a_home_that_is_a_file_is_named_so(machine, below):
    machine.home.write_text("")
    home = f"{machine.home}{below}"
    assert machine.refused("db", "upgrade", HOME=home) == (
        f"FLAGSTAFF_HOME is '{home}'. It must be a folder that this user can write to, or can make."
    )


def test_what_it_makes_is_for_its_user_alone(machine):
    machine.ok("db", "upgrade")
    found = [machine.home, *machine.home.iterdir()]
    assert [path.name for path in found if path.stat().st_mode & 0o077] == []


def test_user_list_names_everyone(machine, instance):
    seen = datetime.now(UTC) - timedelta(days=3)
    with time_machine.travel(seen, tick=False):
        People(instance).person("ada", role="Admin", away_days=0)
    People(instance).person("kim")
    headings, ada, kim = machine.ok("user", "list").splitlines()
    assert headings.split() == ["ID", "ROLE", "LAST", "SIGN-IN", "NAME"]
    assert ada.split() == ["1", "Admin", f"{seen:%Y-%m-%d}", "ada"]
    assert kim.split() == ["2", "Viewer", "never", "kim"]


def test_reset_password_gives_a_link_that_works_once(machine, instance):
    People(instance).person("ada")
    link = machine.ok("user", "reset-password", "ada")
    browser = Browser(instance)
    password = {"new_password": "four words no one guesses"}
    page = browser.post(urlsplit(link).path, password)
    assert browser.follow(page).h1 == "Home"
    assert browser.post(urlsplit(link).path, password).status == 404


def test_reset_password_records_who_made_the_link_and_why(machine, instance):
    ada = People(instance).person("ada")
    machine.ok("user", "reset-password", "ada", "--reason", "forgot it")
    with instance.app_context():
        query = sa.select(Event).where(Event.type == EventType.SETUP_LINK_CREATED)
        event = db.session.scalars(query).one()
    assert (event.created_by, event.reason) == (COMMAND_LINE.username, "forgot it")
    assert event.data["id"] == ada


def test_reset_second_step_lets_the_password_be_enough_again(machine, instance):
    ada = People(instance).person("ada")
    assert "already off" in machine.refused("user", "reset-second-step", "ada")
    with instance.app_context(), unit_of_work(writes=True):
        db.session.add(
            SecondFactor(account_id=ada, salt=b"salt", last_step=0, confirmed_at=utcnow())
        )
    assert machine.ok("user", "reset-second-step", "ada") == "Two-step sign-in turned off for ada."
    assert "already off" in machine.refused("user", "reset-second-step", "ada")


def test_a_service_account_has_no_password_to_reset(machine, instance):
    People(instance).service_account("ci")
    assert "service account" in machine.refused("user", "reset-password", "ci")
