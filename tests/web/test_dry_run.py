"""What every write may be asked for: a dry run, a reason, a repetition."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests.support.clients import ApiClient, error_of, problems_of
from tests.support.races import at_once, statuses
from tests.support.writes import HOOK, ROBOT, SDK, WRITES, filled, rows

pytestmark = pytest.mark.slow

LOOKING = {
    *(
        "configuration.plan",
        "transfer.export",
        "transfer.validate",
        "archive.validate",
        "archive.plan",
        "constraints.validate",
        "segments.validate",
        "context.validate",
        "all features.validate",
        "tags.validate_type",
        "users.check_password",
    ),
    *("playground.ask", "playground.ask_advanced"),
    *("switching.plan_on", "switching.plan_off", "change_requests.plan"),
}
"""POST for the sake of its body; these change nothing anyway."""


DRY_RUN = {"X-Dry-Run": "true"}


def shape(value):
    """A JSON value without what differs from one creation to the next."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in value.items()}
    return [shape(part) for part in value] if isinstance(value, list) else type(value)


def look(answer):
    return (
        answer.status_code,
        shape(answer.json) if answer.data else None,
        answer.content_type,
        "Location" in answer.headers,
        "ETag" in answer.headers,
    )


# Rehearsal


def test_no_write_is_forgotten_here(app):
    address = app.url_map.bind("localhost")
    ids = dict.fromkeys(
        ("robot", "token", "own", "sdk", "own_sdk", "person", "gone", "personal", "segment"), 1
    )
    ids |= dict.fromkeys(("draft", "change", "reviewed", "applied"), 1)
    ids |= dict.fromkeys(("group", "scim", "kept_out"), 1)
    ids |= {"hook": 1, "delivery": 1, "saved": 1, "planned": 1, "done": 1, "switched": 1, "link": 1}
    uuids = ("first", "second", "release", "held", "template", "first_step", "second_step")
    ids |= dict.fromkeys(uuids, "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b10")
    known = {
        address.match("/api/admin" + path.format_map(ids), method)[0] for method, path, _ in WRITES
    }
    writes = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/admin/") and rule.methods - {"GET", "HEAD", "OPTIONS"}
    }
    assert known | LOOKING == writes


@pytest.mark.one_in(4)
@pytest.mark.parametrize("write", WRITES)
def test_a_dry_run_answers_like_the_deed_and_changes_nothing(app, root, world, write):
    method, path, body = write
    path, body = path.format_map(world), filled(body, world)
    before = rows(app)
    tried = root.request(method, path, json=body, headers=DRY_RUN)
    assert rows(app) == before
    assert tried.headers["X-Dry-Run"] == "true"
    done = root.request(method, f"{path}?dryRun=false", json=body)
    assert done.status_code < 300
    assert look(tried) == look(done)
    assert "X-Dry-Run" not in done.headers
    assert rows(app) != before


@pytest.mark.parametrize(
    ("status", "write"),
    [
        (400, ("POST", "/projects", {"id": "a b", "name": "New"})),
        (409, ("POST", "/projects", {"id": "shop", "name": "New"})),
        (404, ("PUT", "/projects/nowhere", {"name": "New"})),
        (409, ("DELETE", "/projects/shop", None)),
        (409, ("POST", "/user-admin", {"username": "GRACE", "rootRole": 2})),
        (404, ("DELETE", "/user-admin/999", None)),
        (409, ("POST", "/projects/shop/archive", {"features": ["parent"]})),
        (409, ("POST", "/user/tokens", {"description": "old"})),
        (409, ("DELETE", "/tag-types/simple", None)),
    ],
)
def test_a_dry_run_is_refused_like_the_deed(root, world, status, write):
    method, path, body = write
    refusals = [
        root.request(method, f"{path}?dryRun={flag}", json=body) for flag in ("true", "false")
    ]
    first, second = ({**refusal.json, "id": None} for refusal in refusals)
    assert first == second
    assert [refusal.status_code for refusal in refusals] == [status, status]


def test_a_dry_run_needs_the_same_permission(viewer, stranger):
    body = {"id": "new", "name": "New"}
    assert error_of(viewer.post("/projects?dryRun=true", body)) == (403, "NoAccessError")
    assert error_of(stranger.post("/projects?dryRun=true", body))[0] == 401


@pytest.mark.parametrize("value", ["yes", "True", "1", ""])
def test_a_header_that_says_neither_true_nor_false_is_refused(app, admin, value):
    admin.get("/user")
    before = rows(app)
    body = {"id": "new", "name": "New"}
    answer = admin.post("/projects?dryRun=false", body, headers={"X-Dry-Run": value})
    assert problems_of(answer) == {"X-Dry-Run": "Must be true or false."}
    assert rows(app) == before


def test_a_dry_run_in_the_address_or_in_the_header_is_enough(app, admin):
    admin.get("/user")
    before = rows(app)
    body = {"id": "new", "name": "New"}
    for query, header in (("true", "false"), ("false", "true")):
        path, sent = f"/projects?dryRun={query}", {"X-Dry-Run": header}
        assert admin.post(path, body, headers=sent).headers["X-Dry-Run"] == "true"
    assert rows(app) == before


def test_a_dry_run_that_is_refused_says_that_it_was_one(admin):
    answer = admin.post("/projects", {"id": "default", "name": "New"}, headers=DRY_RUN)
    assert error_of(answer) == (409, "NameExistsError")
    assert answer.headers["X-Dry-Run"] == "true"


def test_a_dry_run_heeds_if_match(admin):
    answer = admin.put("/projects/default?dryRun=true", {"name": "x"}, headers={"If-Match": '"x"'})
    assert error_of(answer) == (412, "PreconditionFailedError")


def test_a_token_of_a_dry_run_opens_nothing(app, root):
    made = root.ok("POST", "/user/tokens?dryRun=true", {"description": "new"})
    assert ApiClient(app, made["secret"]).get("/user").status_code == 401


@pytest.mark.parametrize("query", ["dryrun=true", "dryRun=yes", "dryRun=", "dryRun=true&x=1"])
@pytest.mark.parametrize(
    "write",
    [
        ("POST", "/projects", {"id": "new", "name": "New"}),
        ("PUT", "/projects/default", {"name": "New"}),
        ("DELETE", "/projects/default", None),
    ],
)
def test_a_misspelled_wish_is_refused_before_anything_is_done(app, admin, write, query):
    method, path, body = write
    admin.get("/user")
    before = rows(app)
    answer = admin.request(method, f"{path}?{query}", json=body)
    wrong = "?x" if "&" in query else f"?{query.split('=')[0]}"
    assert list(problems_of(answer)) == [wrong]
    assert rows(app) == before


# Reason


def header(text):
    """As clients send what is not ASCII: the bytes of UTF-8."""
    return {"X-Reason": text.encode().decode("latin-1")}


def reasons(client, query=""):
    return [event["reason"] for event in client.ok("GET", f"/events?{query}")["events"]]


@pytest.mark.parametrize("reason", ["Ticket 4711", "Größe geändert, 変更 🦆", "x" * 500, "ü" * 500])
def test_the_reason_is_recorded(admin, reason):
    admin.ok("PUT", "/projects/default", {"name": "New"}, headers=header(reason))
    assert reasons(admin, "type=project-updated") == [reason]


def test_each_event_of_one_request_has_the_reason(admin):
    for name in ("a", "b"):
        admin.ok("POST", "/projects/default/features", {"name": name})
    body = {"features": ["a", "b"]}
    admin.ok("POST", "/projects/default/archive", body, headers=header("No use"))
    assert reasons(admin, "type=feature-archived") == ["No use", "No use"]


@pytest.mark.parametrize("headers", [{}, header(""), header("  ")])
def test_without_a_reason_none_is_recorded(admin, headers):
    admin.ok("PUT", "/projects/default", {"name": "New"}, headers=headers)
    assert reasons(admin, "type=project-updated") == [None]


@pytest.mark.parametrize("bad", ["x" * 501, "a\x07b", "a\x00b", "a\u202eb", "a\tb\x7f"])
def test_a_reason_that_does_not_fit_is_refused(admin, bad):
    answer = admin.put("/projects/default", {"name": "New"}, headers=header(bad))
    assert list(problems_of(answer)) == ["X-Reason"]
    assert admin.ok("GET", "/projects/default")["name"] == "Default"


# Repetition

KEY = {"Idempotency-Key": "8e03978e-40d5-43e8-bc93-6894a57f9324"}


def robots(client):
    return client.ok("GET", "/service-account")["total"]


def kept(answer):
    names = ("Location", "ETag", "Content-Type")
    return answer.status_code, answer.data, {name: answer.headers.get(name) for name in names}


def test_a_repeated_post_gives_the_first_answer_and_makes_nothing(admin):
    first, second = (admin.post("/service-account", ROBOT, headers=KEY) for _ in range(2))
    assert kept(first) == kept(second)
    assert first.status_code == 201
    assert robots(admin) == 1
    assert admin.ok("GET", "/events?type=service-account-created")["total"] == 1


def test_a_repeated_post_does_not_see_what_happened_since(admin):
    first = admin.post("/projects", {"id": "new", "name": "New"}, headers=KEY)
    admin.ok("PUT", "/projects/new", {"name": "Other"})
    again = admin.post("/projects", {"id": "new", "name": "New"}, headers=KEY)
    assert kept(first) == kept(again)


def test_an_answer_without_a_body_is_repeated_too(admin):
    admin.ok("POST", "/projects", {"id": "old", "name": "Old"})
    admin.ok("DELETE", "/projects/old")
    first, second = (admin.post("/projects/old/restore", headers=KEY) for _ in range(2))
    assert kept(first) == kept(second) == (200, b"", dict.fromkeys(kept(first)[2]))


def test_without_a_key_each_post_counts(admin):
    assert [admin.post("/service-account", ROBOT).status_code for _ in range(2)] == [201, 201]
    assert robots(admin) == 2


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/service-account", {"name": "Other", "rootRole": 3}),
        ("/service-account?dryRun=true", ROBOT),
        ("/user-admin", {"username": "ada", "rootRole": 3}),
    ],
)
def test_a_key_belongs_to_one_request(admin, path, body):
    admin.post("/service-account", ROBOT, headers=KEY)
    assert error_of(admin.post(path, body, headers=KEY)) == (409, "ConflictError")
    assert robots(admin) == 1


def test_a_key_of_another_token_is_another_key(app, people):
    id = people.person("ada", role="Admin")
    clients = [ApiClient(app, people.token(id, description)) for description in ("one", "two")]
    answers = [client.post("/service-account", ROBOT, headers=KEY) for client in clients]
    assert statuses(answers) == {201: 2}
    assert robots(clients[0]) == 2


@pytest.mark.parametrize(("hours", "made"), [(23.99, 1), (24.01, 2)])
def test_a_key_is_known_for_a_day(admin, hours, made):
    start = datetime(2027, 1, 1, tzinfo=UTC)
    for now in (start, start + timedelta(hours=hours)):
        with time_machine.travel(now, tick=False):
            admin.ok("POST", "/service-account", ROBOT, headers=KEY)
    assert robots(admin) == made


def test_twenty_at_once_with_one_key_make_one(admin):
    answers = at_once([lambda: admin.post("/service-account", ROBOT, headers=KEY)] * 20)
    assert set(statuses(answers)) <= {201, 409, 503}
    assert len({kept(answer)[1] for answer in answers if answer.status_code == 201}) == 1
    assert robots(admin) == 1


@pytest.mark.parametrize(
    ("write", "field"),
    [
        (("/user/tokens", {"description": "new"}), "secret"),
        (("/service-account/{robot}/token", {"description": "new"}), "secret"),
        (("/service-account/{robot}/token/{token}/rotate", {}), "secret"),
        (("/api-tokens", SDK), "secret"),
        (("/api-tokens/{sdk}/rotate", {}), "secret"),
        (("/projects/shop/api-tokens", SDK), "secret"),
        (("/webhooks", HOOK), "secret"),
        (("/webhooks/{hook}/rotate", None), "secret"),
        (("/projects/shop/api-tokens/{own_sdk}/rotate", {}), "secret"),
        (("/user-admin", {"username": "ada", "rootRole": 3}), "inviteLink"),
    ],
)
def test_an_answer_with_a_secret_is_kept_nowhere(app, root, world, write, field):
    path, body = write[0].format_map(world), write[1]
    first = root.ok("POST", path, body, headers=KEY)
    after = rows(app)
    again = root.post(path, body, headers=KEY)
    assert error_of(again) == (409, "ConflictError")
    assert "secret" in again.json["message"]
    assert rows(app) == after
    secret = first[field].rsplit("/", 1)[-1] if field == "inviteLink" else first[field]
    assert KEY["Idempotency-Key"] in repr(after)
    assert secret not in repr(after)


def test_what_is_remembered_of_a_request_depends_on_the_secret_key(app, admin, monkeypatch):
    """Someone who reads the database must not be able to guess a password in the body."""
    admin.ok("POST", "/service-account", ROBOT, headers=KEY)
    monkeypatch.setitem(app.config, "SECRET_KEY", "k" * 40)
    answer = admin.post("/service-account", ROBOT, headers=KEY)
    assert error_of(answer) == (409, "ConflictError")
    assert "different request" in answer.json["message"]


def test_a_refused_request_is_not_remembered(admin):
    path, body = "/projects/shop/features", {"name": "cart"}
    assert error_of(admin.post(path, body, headers=KEY)) == (404, "NotFoundError")
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    assert admin.post(path, body, headers=KEY).status_code == 201


def test_a_dry_run_is_not_remembered(admin):
    admin.ok("POST", "/service-account?dryRun=true", ROBOT, headers=KEY)
    admin.ok("POST", "/service-account", ROBOT, headers=KEY)
    assert robots(admin) == 1


@pytest.mark.parametrize("bad", ["", "a b", "x" * 256, "\xe4"])
def test_a_key_has_1_to_255_printable_characters(admin, bad):
    answer = admin.post("/service-account", ROBOT, headers={"Idempotency-Key": bad})
    assert list(problems_of(answer)) == ["Idempotency-Key"]
    assert robots(admin) == 0
