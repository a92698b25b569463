"""Inactive people: who counts as one, and deleting them without touching anyone else."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from app.accounts.models import Account
from app.core.db import db, unit_of_work
from tests.support.clients import ApiClient, error_of, problems_of

PATH = "/user-admin/inactive"
DELETE = f"{PATH}/delete"
START = datetime(2026, 1, 1, tzinfo=UTC)
LIMIT = timedelta(days=180)
MOMENT = timedelta(milliseconds=1)


@pytest.fixture
def robot(app, people):
    """A client of an Admin who is no person: never inactive, and no Admin who can sign in."""
    return ApiClient(app, people.token(people.service_account("robot", role="Admin")))


@pytest.fixture
def gone(people):
    """The id of an inactive person."""
    return people.person("gone", away_days=200)


def with_password(app, *ids):
    """Let these people be able to sign in."""
    with app.app_context(), unit_of_work(writes=True):
        for id in ids:
            db.session.get_one(Account, id).password_hash = "not a real one"


def row_of(app, id):
    with app.app_context():
        return vars(db.session.get_one(Account, id)).copy() | {"_sa_instance_state": None}


def is_there(client, id):
    return client.get(f"/user-admin/{id}").status_code == 200


def inactive_ids(client):
    return [row["id"] for row in client.ok("GET", PATH)["inactiveUsers"]]


def summary(client):
    """What the event log tells of the last deletion: the ids deleted, and why others were not."""
    event = client.ok("GET", "/events?type=inactive-users-deleted")["events"][0]
    data = event["data"]
    return (
        [entry["id"] for entry in data["deleted"]],
        {entry["id"]: entry["reason"] for entry in data["skipped"]},
    )


# Who is inactive


def test_the_list_has_these_fields(robot, people, gone):
    found = robot.ok("GET", PATH)
    assert list(found) == ["version", "inactiveUsers", "total"]
    [row] = found["inactiveUsers"]
    assert list(row) == ["id", "name", "email", "username", "seenAt", "createdAt", "patSeenAt"]
    assert (row["id"], row["username"], row["patSeenAt"]) == (gone, "gone", None)
    assert found["total"] == 1


def test_no_one_is_inactive_until_the_180_days_are_over(people, robot):
    with time_machine.travel(START, tick=False):
        person = people.person("ann", away_days=0)
    with time_machine.travel(START + LIMIT, tick=False):
        assert inactive_ids(robot) == []
        robot.ok("POST", DELETE, {"ids": [person]})
        assert is_there(robot, person)
    with time_machine.travel(START + LIMIT + MOMENT, tick=False):
        assert inactive_ids(robot) == [person]
        robot.ok("POST", DELETE, {"ids": [person]})
        assert not is_there(robot, person)


def test_without_a_sign_in_the_creation_counts(people, robot):
    with time_machine.travel(START, tick=False):
        person = people.person("never")
    with time_machine.travel(START + LIMIT, tick=False):
        assert inactive_ids(robot) == []
    with time_machine.travel(START + LIMIT + MOMENT, tick=False):
        assert inactive_ids(robot) == [person]
        assert robot.ok("GET", PATH)["inactiveUsers"][0]["seenAt"] is None


def test_the_sign_in_counts_and_not_the_creation(people, robot):
    with time_machine.travel(datetime.now(UTC) - timedelta(days=900)):
        recent = people.person("recent", away_days=-890)
    assert inactive_ids(robot) == []
    assert is_there(robot, recent)


def use(client, robot, person, name):
    """Use a token until that is stored: storing it gives way to any other writer."""
    for _ in range(100):
        client.ok("GET", "/user")
        tokens = robot.ok("GET", f"/user-admin/{person}/token")["tokens"]
        if next(token["seenAt"] for token in tokens if token["description"] == name):
            return
    pytest.fail("The use was never stored.")


def test_the_latest_use_of_any_token_counts(app, people, robot):
    with time_machine.travel(START, tick=False):
        person = people.person("ann", away_days=0)
        first, second = (ApiClient(app, people.token(person, name)) for name in ("1", "2"))
    with time_machine.travel(START + timedelta(days=100), tick=False):
        use(second, robot, person, "2")
    with time_machine.travel(START + timedelta(days=150), tick=False):
        use(first, robot, person, "1")
    with time_machine.travel(START + timedelta(days=150) + LIMIT, tick=False):
        robot.ok("POST", DELETE, {"ids": [person]})
        assert summary(robot) == ([], {person: "active"})
    with time_machine.travel(START + timedelta(days=150) + LIMIT + MOMENT, tick=False):
        [row] = robot.ok("GET", PATH)["inactiveUsers"]
        assert row["patSeenAt"] == "2026-05-31T00:00:00.000Z"
        robot.ok("POST", DELETE, {"ids": [person]})
        assert summary(robot) == ([person], {})


def test_an_unused_token_does_not_count(people, robot, gone):
    people.token(gone)
    assert inactive_ids(robot) == [gone]


def test_another_persons_token_does_not_count(app, people, robot, gone):
    people.client("busy").ok("GET", "/user")
    assert inactive_ids(robot) == [gone]


def test_service_accounts_are_never_inactive(people):
    with time_machine.travel(START, tick=False):
        machine = people.service_account("machine")
    with time_machine.travel(START + 10 * LIMIT, tick=False):
        client = people.client("admin", role="Admin")
        assert inactive_ids(client) == []
        client.ok("POST", DELETE, {"ids": [machine]})
        assert summary(client) == ([], {machine: "a service account"})
        assert client.get(f"/service-account/{machine}").status_code == 200


def test_the_longest_inactive_come_first_in_pages(people, robot):
    ids = [people.person(f"p{days}", away_days=days) for days in (200, 400, 300)]
    found = robot.ok("GET", f"{PATH}?limit=2&offset=1")
    assert [row["id"] for row in found["inactiveUsers"]] == [ids[2], ids[0]]
    assert found["total"] == 3


# Deleting them


def test_deleting_answers_without_a_body(robot, gone):
    answer = robot.post(DELETE, {"ids": [gone]})
    assert (answer.status_code, answer.data) == (200, b"")
    assert error_of(robot.get(f"/user-admin/{gone}")) == (404, "NotFoundError")


def test_only_those_are_deleted_who_are_named_and_inactive(people, robot):
    gone, also_gone, active = (
        people.person(name, away_days=days) for name, days in (("a", 200), ("b", 200), ("c", 5))
    )
    robot.ok("POST", DELETE, {"ids": [gone, active]})
    assert [is_there(robot, id) for id in (gone, also_gone, active)] == [False, True, True]


def test_an_empty_list_deletes_no_one(robot, gone):
    robot.ok("POST", DELETE, {"ids": []})
    assert is_there(robot, gone)
    assert robot.ok("GET", "/events?type=inactive-users-deleted")["total"] == 0


def test_the_event_names_who_was_deleted_and_why_others_were_not(people, robot):
    gone = people.person("gone", away_days=200)
    before = people.person("before", away_days=200)
    active = people.person("active", away_days=5)
    machine = people.service_account("machine")
    robot.ok("POST", DELETE, {"ids": [before]})
    robot.ok("POST", DELETE, {"ids": [gone, gone, before, active, machine, 999, -1, 2**53 - 1]})
    assert summary(robot) == (
        [gone],
        {
            before: "already deleted",
            active: "active",
            machine: "a service account",
            999: "unknown",
            -1: "unknown",
            2**53 - 1: "unknown",
        },
    )


def test_one_event_per_deleted_user_tied_to_the_summary(people, robot):
    ids = [people.person(name, away_days=200) for name in ("ann", "bob")]
    robot.ok("POST", DELETE, {"ids": ids})
    [whole] = robot.ok("GET", "/events?type=inactive-users-deleted")["events"]
    each = robot.ok("GET", f"/events?type=user-deleted&batch={whole['batchId']}")["events"]
    assert sorted(event["preData"]["id"] for event in each) == ids
    assert {event["createdBy"] for event in [whole, *each]} == {"robot"}


def test_if_no_one_was_deleted_the_event_says_why(people, robot):
    active = people.person("active", away_days=5)
    robot.ok("POST", DELETE, {"ids": [active]})
    assert summary(robot) == ([], {active: "active"})
    assert robot.ok("GET", "/events?type=user-deleted")["total"] == 0


def test_the_caller_is_skipped(app, people):
    caller = people.person("caller", role="Admin", away_days=200)
    other = people.person("other", role="Admin", away_days=1)
    with_password(app, caller, other)
    client = ApiClient(app, people.token(caller))
    client.ok("POST", DELETE, {"ids": [caller]})
    assert summary(client) == ([], {caller: "yourself"})
    assert is_there(client, caller)


def test_an_inactive_admin_goes_when_another_can_sign_in(app, people, robot):
    gone = people.person("gone", role="Admin", away_days=200)
    with_password(app, gone, people.person("stays", role="Admin", away_days=1))
    robot.ok("POST", DELETE, {"ids": [gone]})
    assert summary(robot) == ([gone], {})


def test_the_last_admin_is_skipped(app, people, robot):
    last = people.person("last", role="Admin", away_days=200)
    with_password(app, last, people.person("editor", role="Editor", away_days=1))
    people.person("without-password", role="Admin", away_days=1)
    robot.ok("POST", DELETE, {"ids": [last]})
    assert summary(robot) == ([], {last: "the last Admin"})
    assert is_there(robot, last)


def test_of_all_admins_the_most_recently_active_one_stays(app, people, robot):
    ids = [people.person(f"a{days}", role="Admin", away_days=days) for days in (300, 200, 400)]
    with_password(app, *ids)
    robot.ok("POST", DELETE, {"ids": ids})
    assert summary(robot) == ([ids[0], ids[2]], {ids[1]: "the last Admin"})


def test_tokens_of_deleted_people_stop_immediately(app, people, robot, gone):
    client = ApiClient(app, people.token(gone))
    robot.ok("POST", DELETE, {"ids": [gone]})
    assert error_of(client.get("/user")) == (401, "AuthenticationRequired")


def test_username_and_email_are_free_again(robot):
    body = {"username": "ann", "email": "ann@example.com", "rootRole": 3}
    with time_machine.travel(START, tick=False):
        first = robot.ok("POST", "/user-admin", body)["id"]
    robot.ok("POST", DELETE, {"ids": [first]})
    again = robot.ok("POST", "/user-admin", body)
    assert (again["username"], again["email"]) == ("ann", "ann@example.com")
    assert again["id"] != first


def test_the_row_is_kept_and_marked_deleted(app, people, robot, gone):
    before = row_of(app, gone)
    robot.ok("POST", DELETE, {"ids": [gone]})
    after = row_of(app, gone)
    assert after["deleted_at"] is not None
    changed = {key for key, value in before.items() if after[key] != value}
    assert changed == {"deleted_at", "username_key"}


def test_other_rows_are_untouched(app, people, robot, gone):
    others = [
        people.person("also-away", away_days=300),
        people.person("active", away_days=1),
        people.service_account("machine"),
    ]
    clients = [ApiClient(app, people.token(id)) for id in others[1:]]
    before = [row_of(app, id) for id in others]
    robot.ok("POST", DELETE, {"ids": [gone, *others[1:]]})
    assert [row_of(app, id) for id in others] == before
    for client in clients:
        client.ok("GET", "/user")


def test_projects_features_and_events_are_untouched(app, people, robot, gone):
    people.join(gone, "default", "Owner")
    client = ApiClient(app, people.token(gone))
    client.ok("POST", "/projects/default/features", {"name": "checkout"})
    with time_machine.travel(datetime.now(UTC) + 2 * LIMIT):
        project, feature, events = (
            robot.ok("GET", path)
            for path in (
                "/projects/default",
                "/projects/default/features/checkout",
                f"/events?actor={gone}",
            )
        )
        robot.ok("POST", DELETE, {"ids": [gone]})
        assert summary(robot)[0] == [gone]
        assert robot.ok("GET", "/projects/default") == project
        assert robot.ok("GET", "/projects/default/features/checkout") == feature
        assert robot.ok("GET", f"/events?actor={gone}") == events
        assert events["events"][0]["createdBy"] == "gone"


def test_thousands_of_ids_are_accepted(robot, gone):
    robot.ok("POST", DELETE, {"ids": [*range(10_000, 40_000), gone]})
    assert summary(robot)[0] == [gone]
    [event] = robot.ok("GET", "/events?type=inactive-users-deleted")["events"]
    assert event["data"]["skippedCount"] == 30_000


def test_what_does_not_fit_is_refused(robot, subtests):
    for body, path in (
        ({}, "/ids"),
        ({"ids": None}, "/ids"),
        ({"ids": 5}, "/ids"),
        ({"ids": ["5"]}, "/ids/0"),
        ({"ids": [1, 2.5]}, "/ids/1"),
        ({"ids": [True]}, "/ids/0"),
        ({"ids": [2**53]}, "/ids/0"),
        ({"ids": [], "all": True}, "/all"),
    ):
        with subtests.test(body=body, path=path):
            assert list(problems_of(robot.post(DELETE, body))) == [path]


def test_a_refused_request_deletes_no_one(robot, gone):
    assert robot.post(DELETE, {"ids": [gone, "x"]}).status_code == 400
    assert is_there(robot, gone)


@pytest.mark.parametrize("role", ["Editor", "Viewer"])
def test_only_admins_may(people, robot, gone, role):
    client = people.client("someone", role=role)
    assert error_of(client.post(DELETE, {"ids": [gone]})) == (403, "NoAccessError")
    assert error_of(client.get(PATH)) == (403, "NoAccessError")
    assert is_there(robot, gone)


def test_strangers_may_not(stranger, robot, gone):
    answer = stranger.post(DELETE, {"ids": [gone]})
    assert error_of(answer) == (401, "AuthenticationRequired")
    assert is_there(robot, gone)
