"""``flagstaff demo``: an organisation with a history, the same every time, on an empty instance."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa
import time_machine
from flask import Flask

from app.core.actor import COMMAND_LINE, Actor
from app.core.db import Model, db
from app.core.events.event_types import EventType
from app.core.permissions import Permission, Role
from tests.support.clients import ApiClient
from tests.support.instances import open_instance
from tests.support.machines import Machine, Within
from tests.support.people import People

pytestmark = pytest.mark.slow

ADMIN = "ada.lindqvist"

NEEDS = {
    EventType.CHANGE_REQUEST_APPLIED: Permission.APPLY_CHANGE_REQUEST,
    EventType.CHANGE_REQUEST_APPROVED: Permission.APPROVE_CHANGE_REQUEST,
    EventType.CHANGE_REQUEST_BYPASSED: Permission.ADMIN,
    EventType.CHANGE_REQUEST_OPENED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    EventType.CHANGE_REQUEST_OUTDATED: Permission.UPDATE_FEATURE_STRATEGY,
    EventType.CHANGE_REQUEST_REJECTED: Permission.APPROVE_CHANGE_REQUEST,
    EventType.CHANGE_REQUEST_SCHEDULED: Permission.APPLY_CHANGE_REQUEST,
    EventType.CONTEXT_FIELD_CREATED: Permission.CREATE_CONTEXT_FIELD,
    EventType.ENVIRONMENT_CREATED: Permission.ADMIN,
    EventType.FEATURE_ARCHIVED: Permission.DELETE_FEATURE,
    EventType.FEATURE_CREATED: Permission.CREATE_FEATURE,
    EventType.FEATURE_DEPENDENCY_ADDED: Permission.UPDATE_FEATURE_DEPENDENCY,
    EventType.FEATURE_ENVIRONMENT_DISABLED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    EventType.FEATURE_ENVIRONMENT_ENABLED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    EventType.FEATURE_STRATEGY_ADDED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    EventType.FEATURE_STRATEGY_REMOVED: Permission.UPDATE_FEATURE_STRATEGY,
    EventType.FEATURE_STRATEGY_UPDATED: Permission.UPDATE_FEATURE_STRATEGY,
    EventType.FEATURE_LINK_ADDED: Permission.UPDATE_FEATURE,
    EventType.FEATURE_TYPE_UPDATED: Permission.ADMIN,
    EventType.FEATURE_TAGS_CHANGED: Permission.UPDATE_FEATURE,
    EventType.FEATURE_UPDATED: Permission.UPDATE_FEATURE,
    EventType.PROJECT_ACCESS_UPDATED: Permission.PROJECT_USER_ACCESS_WRITE,
    EventType.PROJECT_CREATED: Permission.CREATE_PROJECT,
    EventType.PROJECT_ENVIRONMENTS_UPDATED: Permission.UPDATE_PROJECT,
    EventType.PROJECT_UPDATED: Permission.UPDATE_PROJECT,
    EventType.RELEASE_PLAN_ADDED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    EventType.RELEASE_PLAN_MILESTONE_STARTED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    EventType.RELEASE_PLAN_PROGRESSIONS_PAUSED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    EventType.RELEASE_PLAN_STOPPED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    EventType.RELEASE_PLAN_TEMPLATE_CREATED: Permission.UPDATE_PROJECT,
    EventType.SDK_TOKEN_CREATED: Permission.CREATE_CLIENT_API_TOKEN,
    EventType.SEGMENT_CREATED: Permission.CREATE_SEGMENT,
    EventType.SERVICE_ACCOUNT_CREATED: Permission.ADMIN,
    EventType.STRATEGY_TYPE_CREATED: Permission.CREATE_STRATEGY,
    EventType.TAG_TYPE_CREATED: Permission.CREATE_TAG_TYPE,
    EventType.TOKEN_CREATED: Permission.ADMIN,
    EventType.USER_CREATED: Permission.ADMIN,
}


class Logged(NamedTuple):
    """An event as the test needs it."""

    type: EventType
    at: datetime
    by: str
    by_id: int | None
    project: str | None
    data: dict[str, Any]


class Shop(NamedTuple):
    """An instance that the demo has filled, what it printed and its log."""

    app: Flask
    machine: Machine
    printed: str
    log: list["Logged"]


@pytest.fixture(scope="module", autouse=True)
def clock(demo_home: Path) -> Iterator[None]:
    """Every test is at the time at which the demo was made, whichever hour has begun since."""
    with time_machine.travel(demo_home.with_suffix(".txt").stat().st_mtime, tick=False):
        yield


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, demo_home: Path) -> Iterator[Shop]:
    """An instance that all tests of this module read and none changes."""
    machine = Within(copytree(demo_home, tmp_path_factory.mktemp("shop") / "home"))
    with open_instance(machine.environ()) as app:
        yield Shop(app, machine, demo_home.with_suffix(".txt").read_text(), log(app))


@pytest.fixture
def filled(larkspur: Machine) -> Iterator[tuple[Flask, Machine]]:
    """An instance of the test's own that the demo has filled, and the command."""
    with open_instance(larkspur.environ()) as app:
        yield app, larkspur


@pytest.fixture(scope="module")
def visitor(shop: Shop) -> ApiClient:
    """A client of the Admin that the command names, with the token it says to create."""
    return first_look(shop.app, shop.machine)


@pytest.fixture
def on_app(app: Flask, machine: Machine) -> Machine:
    """The command, working on the database of ``app``."""
    machine.settings["DATABASE_URL"] = app.config["SETTINGS"].database_url
    return machine


def test_the_counts_are_as_promised(shop):
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
        "features": 255,
        "dependencies": 40,
        "tags": 60,
        "people": 45,
        "service accounts": 8,
    }


def test_it_says_what_it_created_and_what_to_do_next(shop):
    assert re.findall(r"\d+", shop.printed) == ["6", "255", "40", "60", "45", "12", "8", "6", "8"]
    assert f"flagstaff token create {ADMIN}" in shop.printed
    assert "flagstaff serve" in shop.printed


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


def test_features_have_every_type_and_some_are_stale_or_archived(shop):
    types = dict(ask(shop.app, "SELECT type, count(*) FROM features GROUP BY type"))
    assert set(types) == {"release", "experiment", "operational", "kill-switch", "permission"}
    assert 10 <= count(shop.app, "SELECT count(*) FROM features WHERE stale") <= 125
    assert count(shop.app, "SELECT count(*) FROM features WHERE archived_at IS NOT NULL") == 12
    assert count(shop.app, "SELECT count(*) FROM features WHERE description IS NULL") == 0
    assert count(shop.app, "SELECT count(*) FROM events WHERE type = 'feature-archived'") == 12


def test_dependencies_are_between_active_features_of_one_project(shop):
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


def test_every_tag_is_used_and_each_type_has_its_share(shop):
    assert dict(ask(shop.app, "SELECT type, count(*) FROM tags GROUP BY type")) == {
        "simple": 15,
        "team": 12,
        "ticket": 30,
        "risk": 3,
    }
    unused = "SELECT count(*) FROM tags WHERE id NOT IN (SELECT tag_id FROM feature_tags)"
    assert count(shop.app, unused) == 0


def test_change_requests_are_in_every_state_and_one_has_changed_since_its_approval(visitor):
    found = visitor.ok("GET", "/search/change-requests")["changeRequests"]
    states = {row["state"] for row in found}
    assert states == {"Draft", "In review", "Approved", "Scheduled", "Applied", "Rejected"}
    paths = [f"/projects/{row['project']}/change-requests/{row['id']}" for row in found]
    assert [visitor.ok("GET", path)["isOutdated"] for path in paths].count(True) == 1


def test_nothing_is_older_than_what_it_belongs_to_or_later_than_now(shop):
    assert [
        count(shop.app, f"SELECT count(*) FROM {question}")
        for question in (
            "features f JOIN projects p ON p.id = f.project_id WHERE f.created_at < p.created_at",
            "accounts WHERE last_sign_in_at < created_at",
            "tokens t JOIN accounts a ON a.id = t.account_id WHERE t.created_at < a.created_at",
            "tokens WHERE last_seen_at < created_at",
            "accounts WHERE created_at > :now OR last_sign_in_at > :now",
            "features WHERE created_at > :now",
        )
    ] == [0] * 6


def test_the_event_log_goes_back_years_and_every_recent_week_has_events(shop):
    days = {event.at.date() for event in shop.log}
    assert max(days) - min(days) > timedelta(days=3 * 365)
    recent = {(max(days) - day).days // 7 for day in days}
    assert set(range(26)) <= recent


def test_the_event_log_is_in_the_order_of_time_and_unbroken(shop):
    moments = [event.at for event in shop.log]
    assert moments == sorted(moments)
    assert "intact" in shop.machine.ok("events", "verify")


def test_no_event_is_in_the_future(shop):
    assert max(event.at for event in shop.log) < datetime.now(UTC).replace(tzinfo=None)


def test_people_act_and_not_only_the_command_line(shop):
    actors = Counter(event.by for event in shop.log)
    assert len(actors) > 20
    assert actors[COMMAND_LINE.username] < 5
    assert actors["service-terraform"] > 0
    assert max(actors.values()) < actors.total() / 4
    by_themselves = "created_by NOT LIKE 'Release %'"
    assert count(shop.app, f"SELECT count(*) FROM events WHERE ip IS NULL AND {by_themselves}") < 5


def test_everyone_acts_only_while_they_are_there(shop):
    questions = {
        "before the account was created": "e.created_at < a.created_at",
        "after the last sign-in": "a.kind = 'person' AND e.created_at > a.last_sign_in_at",
        "after the last use of the token": (
            "e.created_at > (SELECT last_seen_at FROM tokens WHERE id = e.token_id)"
        ),
        "without a sign-in on that day": (
            "a.kind = 'person' AND e.created_at > datetime(:now, '-390 days') AND NOT EXISTS"
            " (SELECT 1 FROM sign_ins s WHERE s.account_id = a.id AND s.at < e.created_at"
            " AND s.at > datetime(e.created_at, '-12 hours'))"
        ),
    }
    start = "SELECT count(*) FROM events e JOIN accounts a ON a.id = e.created_by_user_id WHERE "
    assert {what: count(shop.app, start + question) for what, question in questions.items()} == (
        dict.fromkeys(questions, 0)
    )


def test_everyone_acts_only_with_permission(shop):
    """Follows the log: which roles everyone had at that moment."""
    actors: dict[int, Actor] = {}
    members: dict[str, dict[int, Role]] = {}
    for event in shop.log:
        if event.by_id is not None:
            held = {project: by_id.get(event.by_id) for project, by_id in members.items()}
            roles = {project: role for project, role in held.items() if role is not None}
            actor = replace(actors[event.by_id], project_roles=roles)
            is_own_token = (
                event.type is EventType.TOKEN_CREATED and event.data["userId"] == actor.id
            )
            assert is_own_token or actor.may(NEEDS[event.type], event.project), event
        if event.type in {EventType.USER_CREATED, EventType.SERVICE_ACCOUNT_CREATED}:
            id, role = event.data["id"], Role(event.data["rootRole"])
            actors[id] = Actor(id=id, username="", role=role, default_is_open=True)
        elif event.type is EventType.PROJECT_CREATED:
            members[event.project] = {event.by_id: Role.OWNER}
        elif event.type is EventType.PROJECT_ACCESS_UPDATED:
            titles = event.data["members"].items()
            members[event.project] = {int(id): Role[title.upper()] for id, title in titles}


def test_sign_ins_lead_to_the_last_one(shop):
    differing = (
        "SELECT count(*) FROM accounts a WHERE kind = 'person' AND last_sign_in_at IS NOT"
        " (SELECT max(at) FROM sign_ins WHERE account_id = a.id)"
        " AND last_sign_in_at > datetime(:now, '-390 days')"
    )
    assert count(shop.app, differing) == 0
    assert count(shop.app, "SELECT count(*) FROM sign_ins") > 1_000


def test_exactly_those_who_signed_in_have_a_password(shop):
    differing = (
        "SELECT count(*) FROM accounts WHERE kind = 'person'"
        " AND (last_sign_in_at IS NULL) <> (password_hash IS NULL)"
    )
    assert count(shop.app, differing) == 0


def test_service_account_tokens_are_in_different_states(shop):
    tokens = ask(
        shop.app,
        "SELECT CASE WHEN expires_at IS NULL THEN 'never expires'"
        " WHEN expires_at > :now THEN 'expires' ELSE 'expired' END,"
        " last_seen_at IS NOT NULL FROM tokens t JOIN accounts a ON a.id = t.account_id"
        " WHERE a.kind = 'service'",
    )
    states = {(state, bool(used)) for state, used in tokens}
    assert states == {
        ("never expires", True),
        ("never expires", False),
        ("expires", True),
        ("expired", True),
    }


def test_exactly_twelve_people_are_inactive_and_no_admin_is(visitor):
    listed = visitor.ok("GET", "/user-admin/inactive")
    assert listed["total"] == len(listed["inactiveUsers"]) == 12
    assert sum(user["seenAt"] is None for user in listed["inactiveUsers"]) == 3
    assert sum(user["patSeenAt"] is not None for user in listed["inactiveUsers"]) == 1
    roles = {user["id"]: user["rootRole"] for user in everyone(visitor)}
    assert 1 not in {roles[user["id"]] for user in listed["inactiveUsers"]}


def test_some_people_are_active_only_by_their_token(shop):
    away = count(
        shop.app,
        "SELECT count(*) FROM accounts WHERE kind = 'person'"
        " AND coalesce(last_sign_in_at, created_at) < datetime(:now, '-180 days')",
    )
    assert away == 12 + 3


def test_of_a_mixed_list_only_the_inactive_are_deleted(filled):
    ada = first_look(*filled)
    inactive = {user["id"] for user in ada.ok("GET", "/user-admin/inactive")["inactiveUsers"]}
    me = ada.ok("GET", "/user")["user"]["id"]
    before = {user["id"] for user in everyone(ada)}
    chosen = sorted(inactive)[:5]
    active = sorted(before - inactive - {me})[:5]
    assert ada.ok("POST", "/user-admin/inactive/delete", {"ids": [*active, me, *chosen]}) is None
    assert before - {user["id"] for user in everyone(ada)} == set(chosen)
    assert ada.ok("GET", "/user-admin/inactive")["total"] == 7


def test_beside_a_service_account_it_makes_the_same_and_a_second_run_changes_nothing(
    app, on_app, shop
):
    People(app).service_account("bootstrap", role="Admin")
    on_app.ok("demo")
    found = comparable(app)
    found["accounts"] = [row for row in found["accounts"] if "bootstrap" not in row]
    assert found == comparable(shop.app)
    before = everything(app)
    assert on_app.refused("demo") == (
        "The demo is for an empty instance; this one has 5 projects, 255 features, 45 people. "
        "It is unchanged."
    )
    assert everything(app) == before


@pytest.mark.parametrize("taken", ["project", "feature", "person"])
def test_an_instance_with_one_thing_in_it_is_refused(app, on_app, taken):
    client = ApiClient(app, People(app).token(People(app).service_account("robot", role="Admin")))
    {
        "project": lambda: client.ok("POST", "/projects", {"id": "shop", "name": "Shop"}),
        "feature": lambda: client.ok("POST", "/projects/default/features", {"name": "dark-mode"}),
        "person": lambda: People(app).person("someone"),
    }[taken]()
    before = everything(app)
    assert "is for an empty instance" in on_app.refused("demo")
    assert everything(app) == before


def test_a_demo_that_fails_leaves_nothing_behind(app, on_app):
    People(app).service_account("service-deploy-bot")
    People(app).service_account(ADMIN)  # so that the demo's person can't have that name
    before = everything(app)
    assert on_app.refused("demo") == f"The username '{ADMIN}' is taken. Choose another."
    assert everything(app) == before


def test_applications_run_with_several_sdks_of_which_one_is_outdated(visitor):
    found = visitor.ok("GET", "/metrics/applications")["applications"]
    assert len(found) == 6
    assert len({sdk for row in found for sdk in row["sdks"]}) > 5
    outdated = [row["appName"] for row in found if row["outdatedSdks"]]
    assert outdated == ["checkout-api"]
    silent = [row["appName"] for row in found if not row["instanceCount"]]
    assert silent == ["newsletter"]
    assert len(visitor.ok("GET", "/metrics/unknown-flags")["unknownFlags"]) == 3


def test_features_that_are_on_are_asked_for_by_hour_and_by_day(shop, visitor):
    on = ask(
        shop.app,
        "SELECT f.name, f.created_at FROM features f JOIN feature_states s ON s.feature_id = f.id"
        " WHERE s.enabled AND s.environment = 'production' AND f.archived_at IS NULL"
        " AND f.project_id IN ('checkout', 'catalogue', 'mobile-app', 'warehouse')",
    )
    assert len(on) > 40
    old = next(name for name, at in sorted(on) if at < str(datetime.now(UTC) - timedelta(days=91)))
    path = f"/client-metrics/features/{old}/raw?hoursBack="
    rows = {hours: visitor.ok("GET", f"{path}{hours}")["data"] for hours in (48, 90 * 24)}
    for hours, of_one in rows.items():
        silent = [row for row in of_one if not row["yes"] + row["no"]]
        programs = {(row["appName"], row["environment"]) for row in of_one}
        assert len(silent) <= 4 * len(programs), (hours, len(silent))
    for name, _ in on:
        assert visitor.ok("GET", f"/client-metrics/features/{name}")["lastHourUsage"], name


def test_days_have_what_their_hours_have_and_nothing_is_later_than_now(shop):
    sums = ask(
        shop.app,
        "SELECT d.feature_id FROM feature_usage d WHERE d.span = 'day'"
        " AND d.start > datetime(:now, '-1 day') AND d.yes <> (SELECT sum(h.yes)"
        " FROM feature_usage h WHERE h.span = 'hour' AND h.feature_id = d.feature_id"
        " AND h.environment = d.environment AND h.application_id = d.application_id"
        " AND h.start >= d.start)",
    )
    assert sums == []
    assert count(shop.app, "SELECT count(*) FROM feature_usage WHERE start > datetime(:now)") == 0
    old = "span = 'hour' AND start < datetime(:now, '-49 hours')"
    assert count(shop.app, f"SELECT count(*) FROM feature_usage WHERE {old}") == 0
    assert count(shop.app, f"SELECT count(*) FROM variant_usage WHERE {old}") == 0
    assert count(shop.app, "SELECT count(*) FROM variant_usage WHERE span = 'hour'") > 48


def test_sdk_tokens_are_used_by_applications_and_one_by_none(visitor):
    tokens = visitor.ok("GET", "/api-tokens")["tokens"]
    assert len(tokens) == 8
    unused = [token["tokenName"] for token in tokens if not token["applications"]]
    assert unused == ["old intranet"]
    assert [t["tokenName"] for t in tokens if t["seenAt"] is None] == unused
    assert sum(token["expiresAt"] is not None for token in tokens) == 1


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


def everyone(client: ApiClient) -> list[dict[str, Any]]:
    users: list[dict[str, Any]] = client.ok("GET", "/user-admin?limit=1000")["users"]
    return users


def ask(app: Flask, question: str) -> list[tuple[Any, ...]]:
    """The rows; ``:now`` in the question is the time of the test, not that of the database."""
    now = {"now": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"}
    with app.app_context(), db.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.text(question), now)]


def log(app: Flask) -> list[Logged]:
    """All events in the order of their ids."""
    rows = ask(
        app,
        "SELECT type, created_at, created_by, created_by_user_id, project, data FROM events"
        " ORDER BY id",
    )
    return [
        Logged(
            EventType(type),
            datetime.fromisoformat(at),
            by,
            by_id,
            project,
            json.loads(data or "{}"),
        )
        for type, at, by, by_id, project, data in rows
    ]


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


def comparable(app: Flask) -> dict[str, list[tuple[Any, ...]]]:
    """Everything but times and secrets."""
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
        "applications": (
            "SELECT a.name, i.environment, i.id, i.sdk FROM applications a"
            " JOIN application_instances i ON i.application_id = a.id"
        ),
        "SDK tokens": (
            "SELECT t.name, a.name FROM sdk_tokens t LEFT JOIN sdk_token_uses u"
            " ON u.token_id = t.id LEFT JOIN applications a ON a.id = u.application_id"
        ),
        "unknown features": "SELECT name FROM unknown_features",
        "features asked for": (
            "SELECT DISTINCT f.name, u.environment, a.name FROM feature_usage u"
            " JOIN features f ON f.id = u.feature_id"
            " JOIN applications a ON a.id = u.application_id WHERE u.span = 'day'"
        ),
        "tokens": (
            "SELECT a.username, t.description, t.last_seen_at IS NULL FROM tokens t"
            " JOIN accounts a ON a.id = t.account_id WHERE t.description <> 'first look'"
        ),
    }
    return {what: sorted(ask(app, question)) for what, question in questions.items()}
