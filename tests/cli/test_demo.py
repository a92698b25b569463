"""``flagstaff demo``: exactly what it promises, the same every time, on an empty instance only."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.db import Model, db
from tests.cli.conftest import Machine
from tests.clients import ApiClient
from tests.conftest import new_instance
from tests.people import People

ADMIN = "ada.lindqvist"


class Shop(NamedTuple):
    """An instance that the demo has filled, what it said, and how long it took."""

    app: Flask
    machine: Machine
    said: str
    seconds: float


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """An instance of the machine's own, only to be read."""
    machine = Machine(tmp_path_factory.mktemp("shop") / "home")
    began = time.monotonic()
    said = machine.ok("demo")
    seconds = time.monotonic() - began
    app = new_instance({"FLAGSTAFF_HOME": str(machine.home)})
    yield Shop(app, machine, said, seconds)
    with app.app_context():
        db.engine.dispose()


@pytest.fixture(scope="module")
def visitor(shop: Shop) -> ApiClient:
    """A client of the Admin whom the command names, with the token it says to make."""
    return first_look(shop.app, shop.machine)


@pytest.fixture
def on_app(app: Flask, machine: Machine) -> Machine:
    """The command working on the database that ``app`` has."""
    machine.settings["DATABASE_URL"] = app.config["SETTINGS"].database_url
    return machine


def test_the_counts_are_those_that_are_promised(shop):
    app = shop.app
    assert {
        "projects": count(app, "SELECT count(*) FROM projects"),
        "features": count(app, "SELECT count(*) FROM features"),
        "dependencies": count(app, "SELECT count(*) FROM feature_dependencies"),
        "tags": count(app, "SELECT count(*) FROM tags"),
        "people": count(app, "SELECT count(*) FROM accounts WHERE kind = 'person'"),
        "service accounts": count(app, "SELECT count(*) FROM accounts WHERE kind = 'service'"),
    } == {
        "projects": 6,
        "features": 250,
        "dependencies": 40,
        "tags": 60,
        "people": 45,
        "service accounts": 8,
    }


def test_it_says_what_it_made_and_what_to_do_next(shop):
    assert re.findall(r"\d+", shop.said) == ["6", "250", "40", "60", "45", "12", "8"]
    assert f"flagstaff token create {ADMIN}" in shop.said
    assert "flagstaff serve" in shop.said


def test_it_takes_less_than_ten_seconds(shop):
    assert shop.seconds < 10


def test_the_projects_differ_in_mode_approvals_and_members(visitor):
    projects = visitor.ok("GET", "/projects")["projects"]
    details = [visitor.ok("GET", f"/projects/{project['id']}") for project in projects]
    assert {project["mode"] for project in details} == {"open", "protected", "private"}
    approvals = [
        tuple((rule["name"], rule["requiredApprovals"]) for rule in d["changeRequestEnvironments"])
        for d in details
    ]
    assert set(approvals) == {(), *((("production", n),) for n in (1, 2, 3))}
    assert len({project["memberCount"] for project in projects}) > 1


def test_every_project_has_owners_and_members(shop):
    rows = ask(shop.app, "SELECT project_id, role FROM project_members")
    roles = {project: Counter(r for p, r in rows if p == project) for project, _ in rows}
    assert len(roles) == 6
    assert all(counts[4] == 2 and counts[5] >= 4 for counts in roles.values()), roles


def test_features_are_of_every_type_and_some_stale_some_archived(shop):
    types = dict(ask(shop.app, "SELECT type, count(*) FROM features GROUP BY type"))
    assert set(types) == {"release", "experiment", "operational", "kill-switch", "permission"}
    assert 10 <= count(shop.app, "SELECT count(*) FROM features WHERE stale") <= 125
    assert count(shop.app, "SELECT count(*) FROM features WHERE archived_at IS NOT NULL") == 12
    assert count(shop.app, "SELECT count(*) FROM features WHERE description IS NULL") == 0
    assert count(shop.app, "SELECT count(*) FROM events WHERE type = 'feature-archived'") == 12


def test_dependencies_tie_active_features_of_one_project(shop):
    rows = ask(
        shop.app,
        "SELECT c.project_id, p.project_id, c.archived_at, p.archived_at, p.id"
        " FROM feature_dependencies d JOIN features c ON c.id = d.child_id"
        " JOIN features p ON p.id = d.parent_id",
    )
    assert all(row[0] == row[1] and row[2] is None and row[3] is None for row in rows)
    assert max(Counter(row[4] for row in rows).values()) > 1  # a parent of several
    assert (
        count(
            shop.app,
            "SELECT count(*) FROM feature_dependencies d"
            " JOIN feature_dependencies up ON up.child_id = d.parent_id",
        )
        == 0
    )


def test_every_tag_is_carried_and_the_types_have_their_share(shop):
    assert dict(ask(shop.app, "SELECT type, count(*) FROM tags GROUP BY type")) == {
        "simple": 15,
        "team": 12,
        "ticket": 30,
        "risk": 3,
    }
    unused = "SELECT count(*) FROM tags WHERE id NOT IN (SELECT tag_id FROM feature_tags)"
    assert count(shop.app, unused) == 0


def test_nothing_is_older_than_what_it_belongs_to_nor_later_than_now(shop):
    assert [
        count(shop.app, f"SELECT count(*) FROM {question}")
        for question in (
            "features f JOIN projects p ON p.id = f.project_id WHERE f.created_at < p.created_at",
            "accounts WHERE last_sign_in_at < created_at",
            "tokens t JOIN accounts a ON a.id = t.account_id WHERE t.created_at < a.created_at",
            "tokens WHERE last_seen_at < created_at",
            "accounts WHERE created_at > CURRENT_TIMESTAMP OR last_sign_in_at > CURRENT_TIMESTAMP",
            "features WHERE created_at > CURRENT_TIMESTAMP",
        )
    ] == [0] * 6


def test_service_account_tokens_are_in_different_states(shop):
    tokens = ask(
        shop.app,
        "SELECT CASE WHEN expires_at IS NULL THEN 'for ever'"
        " WHEN expires_at > CURRENT_TIMESTAMP THEN 'runs out' ELSE 'ran out' END,"
        " last_seen_at IS NOT NULL FROM tokens t JOIN accounts a ON a.id = t.account_id"
        " WHERE a.kind = 'service'",
    )
    states = {(state, bool(used)) for state, used in tokens}
    assert states == {
        ("for ever", True),
        ("for ever", False),
        ("runs out", True),
        ("ran out", True),
    }


def test_exactly_twelve_are_inactive_and_no_admin_is(visitor):
    listed = visitor.ok("GET", "/user-admin/inactive")
    assert listed["total"] == len(listed["inactiveUsers"]) == 12
    assert sum(user["seenAt"] is None for user in listed["inactiveUsers"]) == 3
    assert sum(user["patSeenAt"] is not None for user in listed["inactiveUsers"]) == 1
    roles = {user["id"]: user["rootRole"] for user in everybody(visitor)}
    assert 1 not in {roles[user["id"]] for user in listed["inactiveUsers"]}


def test_some_are_active_by_their_token_alone(shop):
    away = count(
        shop.app,
        "SELECT count(*) FROM accounts WHERE kind = 'person'"
        " AND coalesce(last_sign_in_at, created_at) < datetime('now', '-180 days')",
    )
    assert away == 12 + 3


def test_deleting_some_inactive_some_active_and_oneself_deletes_the_inactive(app, on_app):
    on_app.ok("demo")
    ada = first_look(app, on_app)
    inactive = {user["id"] for user in ada.ok("GET", "/user-admin/inactive")["inactiveUsers"]}
    me = ada.ok("GET", "/user")["user"]["id"]
    before = {user["id"] for user in everybody(ada)}
    doomed = sorted(inactive)[:5]
    active = sorted(before - inactive - {me})[:5]
    assert ada.ok("POST", "/user-admin/inactive/delete", {"ids": [*active, me, *doomed]}) is None
    assert before - {user["id"] for user in everybody(ada)} == set(doomed)
    assert ada.ok("GET", "/user-admin/inactive")["total"] == 7


def test_two_instances_are_alike_and_a_second_run_changes_nothing(app, on_app, shop):
    on_app.ok("demo")
    assert portrait(app) == portrait(shop.app)
    before = everything(app)
    assert on_app.refused("demo") == (
        "The demo is for an empty instance; this one has 5 projects, 250 features, 45 people. "
        "It is unchanged."
    )
    assert everything(app) == before


@pytest.mark.parametrize("taken", ["project", "feature", "person"])
def test_one_thing_is_enough_to_refuse(app, on_app, taken):
    client = ApiClient(app, People(app).token(People(app).service_account("robot", role="Admin")))
    {
        "project": lambda: client.ok("POST", "/projects", {"id": "shop", "name": "Shop"}),
        "feature": lambda: client.ok("POST", "/projects/default/features", {"name": "dark-mode"}),
        "person": lambda: People(app).person("somebody"),
    }[taken]()
    before = everything(app)
    assert "is for an empty instance" in on_app.refused("demo")
    assert everything(app) == before


def test_a_service_account_alone_does_not_hinder(app, on_app):
    People(app).service_account("bootstrap", role="Admin")
    on_app.ok("demo")
    assert count(app, "SELECT count(*) FROM accounts WHERE kind = 'service'") == 9


def test_what_can_not_be_finished_leaves_nothing(app, on_app):
    People(app).service_account("service-deploy-bot")
    People(app).service_account(ADMIN)  # so that the demo's person can't have the name
    before = everything(app)
    assert on_app.refused("demo") == f"The username '{ADMIN}' is taken; choose another."
    assert everything(app) == before


def test_usernames_are_plain(shop):
    names = [
        name for (name,) in ask(shop.app, "SELECT username FROM accounts WHERE kind = 'person'")
    ]
    assert [name for name in names if not re.fullmatch(r"[a-z]+(\.[a-z]+)+", name)] == []
    assert "tomas.herrera" in names


def test_its_files_are_private(shop):
    found = [shop.machine.home, *shop.machine.home.iterdir()]
    assert [path.name for path in found if path.stat().st_mode & 0o077] == []


def first_look(app: Flask, machine: Machine) -> ApiClient:
    return ApiClient(app, machine.ok("token", "create", ADMIN, "--description", "first look"))


def everybody(client: ApiClient) -> list[dict[str, Any]]:
    users: list[dict[str, Any]] = client.ok("GET", "/user-admin?limit=1000")["users"]
    return users


def ask(app: Flask, question: str) -> list[tuple[Any, ...]]:
    with app.app_context(), db.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.text(question))]


def count(app: Flask, question: str) -> int:
    [(number,)] = ask(app, question)
    return int(number)


def everything(app: Flask) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables."""
    with app.app_context(), db.engine.connect() as connection:
        return {
            table.name: sorted(
                (tuple(row) for row in connection.execute(sa.select(table))), key=repr
            )
            for table in Model.metadata.sorted_tables
        }


def portrait(app: Flask) -> dict[str, list[tuple[Any, ...]]]:
    """What a person would compare: all names and ties, without the times and the secrets."""
    questions = {
        "projects": "SELECT id, name, description, mode FROM projects",
        "approvals": "SELECT project_id, environment, required_approvals FROM project_approvals",
        "features": (
            "SELECT name, project_id, type, description, CASE WHEN stale THEN 1 ELSE 0 END,"
            " archived_at IS NULL FROM features"
        ),
        "dependencies": (
            "SELECT c.name, p.name FROM feature_dependencies d"
            " JOIN features c ON c.id = d.child_id JOIN features p ON p.id = d.parent_id"
        ),
        "tags": (
            "SELECT f.name, t.type, t.value FROM feature_tags ft"
            " JOIN features f ON f.id = ft.feature_id JOIN tags t ON t.id = ft.tag_id"
        ),
        "accounts": (
            "SELECT kind, username, name, email, role, last_sign_in_at IS NULL FROM accounts"
        ),
        "members": (
            "SELECT m.project_id, a.username, m.role FROM project_members m"
            " JOIN accounts a ON a.id = m.account_id"
        ),
        "tokens": (
            "SELECT a.username, t.description, t.last_seen_at IS NULL FROM tokens t"
            " JOIN accounts a ON a.id = t.account_id WHERE t.description <> 'first look'"
        ),
    }
    return {what: sorted(ask(app, question)) for what, question in questions.items()}
