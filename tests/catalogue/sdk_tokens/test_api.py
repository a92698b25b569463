"""SDK tokens through the admin API: what they are given for, shown as, and who manages them."""

import re
from datetime import timedelta
from hashlib import sha256

import pytest
import sqlalchemy as sa
import time_machine

from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from tests.support.clients import error_of, problems_of
from tests.support.sdks import NEW, Sdk

PATH = "/api-tokens"
IN_SHOP = "/projects/shop/api-tokens"
SECRET = re.compile(r"fst_sdk_[0-9A-Za-z]{49}").fullmatch


@pytest.fixture
def shop(admin):
    """Projects that tokens can be limited to; the last is archived."""
    for id in ("shop", "blog", "old"):
        admin.ok("POST", "/projects", {"id": id, "name": id})
    admin.ok("DELETE", "/projects/old")


def make(client, path=PATH, **asked):
    return client.ok("POST", path, NEW | asked)


# Creation


def test_the_answer_has_the_secret_and_what_it_reads(admin, shop):
    created = make(admin, projects=["shop"])
    assert list(created) == [
        "secret",
        "id",
        "tokenName",
        "type",
        "environment",
        "project",
        "projects",
        "createdAt",
        "expiresAt",
    ]
    assert (created["tokenName"], created["type"]) == ("web", "client")
    assert (created["environment"], created["projects"]) == ("production", ["shop"])


@pytest.mark.parametrize(
    ("asked", "projects", "beginning"),
    [
        ({}, ["*"], "*:production"),
        ({"projects": ["*"]}, ["*"], "*:production"),
        ({"projects": ["shop", "*"]}, ["*"], "*:production"),
        ({"projects": ["shop"]}, ["shop"], "shop:production"),
        ({"projects": ["shop", "blog", "shop"]}, ["blog", "shop"], "[]:production"),
        ({"project": "shop"}, ["shop"], "shop:production"),
        ({"project": "*", "environment": "development"}, ["*"], "*:development"),
    ],
)
def test_a_token_begins_with_its_project_and_environment(admin, shop, asked, projects, beginning):
    created = make(admin, **asked)
    start, _, secret = created["secret"].partition(".")
    assert (start, created["projects"]) == (beginning, projects)
    assert created["project"] == beginning.partition(":")[0]
    assert SECRET(secret)


@pytest.mark.parametrize(
    ("asked", "type"), [("client", "client"), ("backend", "client"), ("frontend", "frontend")]
)
def test_a_token_is_for_servers_or_for_browsers(admin, asked, type):
    assert make(admin, type=asked)["type"] == type


def test_what_does_not_exist_or_fit_is_refused(admin, shop, subtests):
    for asked, path in (
        ({"projects": ["nowhere"]}, "/projects"),
        ({"projects": ["shop", "old"]}, "/projects"),
        ({"project": "old"}, "/projects"),
        ({"projects": []}, "/projects"),
        ({"project": "shop", "projects": ["shop"]}, "/project"),
        ({"environment": "nowhere"}, "/environment"),
        ({"environment": "*"}, "/environment"),
        ({"type": "admin"}, "/type"),
        ({"tokenName": ""}, "/tokenName"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "/expiresAt"),
    ):
        with subtests.test(asked=asked, path=path):
            assert list(problems_of(admin.post(PATH, NEW | asked))) == [path]
            assert admin.ok("GET", PATH)["total"] == 0


def test_an_old_environment_with_a_dot_is_refused_with_the_reason(app, admin):
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(
            sa.text(
                "INSERT INTO environments (name, type, sort_order, deprecated)"
                " VALUES ('eu.live', 'production', 9, false)"
            )
        )
    answer = admin.post(PATH, NEW | {"environment": "eu.live"})
    assert "dot" in problems_of(answer)["/environment"]


def test_names_differ_until_a_token_is_revoked(admin):
    first = make(admin)
    assert error_of(admin.post(PATH, NEW)) == (409, "NameExistsError")
    admin.ok("DELETE", f"{PATH}/{first['id']}")
    assert make(admin)["id"] != first["id"]


# What is shown


def test_the_secret_is_shown_once_and_is_in_no_list_or_event(admin, shop):
    created = make(admin, projects=["shop"])
    secret = created["secret"].partition(".")[2]
    for path in (PATH, IN_SHOP, "/events"):
        assert secret not in admin.get(path).text, path
    [row] = admin.ok("GET", PATH)["tokens"]
    assert row["hint"] == secret[-4:]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("environment=production", ["expiring", "new", "site"]),
        ("environment=development", ["old"]),
        ("type=frontend", ["site"]),
        ("state=expiring", ["expiring"]),
        ("state=unused", ["old"]),
        ("state=unused&type=frontend", []),
    ],
)
def test_a_list_is_filtered_by_what_is_read_where_it_runs_and_what_needs_a_look(
    admin, asked, found
):
    with time_machine.travel(utcnow() - timedelta(days=91), tick=False):
        make(admin, tokenName="old", environment="development")
    make(admin, tokenName="expiring", expiresAt=(utcnow() + timedelta(days=9)).isoformat())
    make(admin, tokenName="new", expiresAt=(utcnow() + timedelta(days=40)).isoformat())
    make(admin, tokenName="site", type="frontend")
    tokens = admin.ok("GET", f"{PATH}?{asked}")["tokens"]
    assert [token["tokenName"] for token in tokens] == found


def test_a_list_has_what_each_token_reads_and_when_it_was_used(admin, shop):
    make(admin, projects=["shop", "blog"], tokenName="both")
    make(admin, projects=["shop"], tokenName="alone")
    body = admin.ok("GET", PATH)
    assert list(body) == ["version", "tokens", "total"]
    alone, both = body["tokens"]
    assert (alone["tokenName"], both["tokenName"], both["project"]) == ("alone", "both", "[]")
    assert (both["projects"], both["seenAt"]) == (["blog", "shop"], None)
    assert [row["tokenName"] for row in admin.ok("GET", IN_SHOP)["tokens"]] == ["alone"]


def test_tokens_are_found_by_name_and_by_how_they_end(admin):
    made = [make(admin, tokenName=name) for name in ("web-shop", "mobile")]
    assert [t["tokenName"] for t in admin.ok("GET", f"{PATH}?text=web")["tokens"]] == ["web-shop"]
    found = admin.ok("GET", f"{PATH}?text={made[1]['secret'][-4:]}")["tokens"]
    assert "mobile" in [token["tokenName"] for token in found]


# Changes


def test_a_token_expires_at_another_time(admin):
    id = make(admin)["id"]
    for at in ("2099-01-01T00:00:00.000Z", None):
        answer = admin.put(f"{PATH}/{id}", {"expiresAt": at})
        assert (answer.status_code, answer.data) == (200, b"")
        assert admin.ok("GET", PATH)["tokens"][0]["expiresAt"] == at
    problems = problems_of(admin.put(f"{PATH}/{id}", {"expiresAt": "2020-01-01T00:00:00Z"}))
    assert list(problems) == ["/expiresAt"]


def test_rotation_replaces_a_token_which_works_for_the_overlap(app, admin, sdk):
    [old] = admin.ok("GET", PATH)["tokens"]
    created = admin.ok("POST", f"{PATH}/{old['id']}/rotate", {"overlapHours": 2})
    assert (created["tokenName"], created["projects"]) == (old["tokenName"], old["projects"])
    new = Sdk(app, created["secret"])
    assert (sdk.get().status_code, new.get().status_code) == (200, 200)
    with time_machine.travel(utcnow() + timedelta(hours=3), tick=False):
        assert (sdk.get().status_code, new.get().status_code) == (401, 200)


def test_rotation_without_an_overlap_stops_the_old_token_at_once(app, admin, sdk):
    [old] = admin.ok("GET", PATH)["tokens"]
    created = admin.ok("POST", f"{PATH}/{old['id']}/rotate", {"overlapHours": 0})
    assert (sdk.get().status_code, Sdk(app, created["secret"]).get().status_code) == (401, 200)
    assert [row["id"] for row in admin.ok("GET", PATH)["tokens"]] == [created["id"]]


def test_a_new_token_is_valid_for_as_long_as_the_old_one_was(admin):
    now = utcnow()
    with time_machine.travel(now, tick=False):
        old = make(admin, expiresAt=(now + timedelta(days=30)).isoformat())
    later = now + timedelta(days=10)
    with time_machine.travel(later, tick=False):
        new = admin.ok("POST", f"{PATH}/{old['id']}/rotate", {})
    assert new["expiresAt"][:16] == f"{later + timedelta(days=30):%Y-%m-%dT%H:%M}"


def test_a_token_is_named_by_its_id_its_digest_or_itself(admin):
    for number in range(3):
        created = make(admin, tokenName=f"web {number}")
        secret = created["secret"]
        ref = (created["id"], sha256(secret.encode()).hexdigest(), secret)[number]
        assert admin.ok("GET", f"/sdk-tokens/{ref}")["tokenName"] == f"web {number}"
        admin.ok("PUT", f"{PATH}/{ref}", {"expiresAt": None})
        admin.ok("DELETE", f"{PATH}/{ref}")
        assert error_of(admin.delete(f"{PATH}/{ref}")) == (404, "NotFoundError")
    assert admin.ok("GET", PATH)["total"] == 0


# Who may


@pytest.mark.parametrize("role", ["Editor", "Viewer"])
def test_only_admins_manage_the_tokens_of_the_instance(people, role):
    client = people.client("someone", role=role)
    for answer in (client.get(PATH), client.post(PATH, NEW), client.delete(f"{PATH}/1")):
        assert error_of(answer) == (403, "NoAccessError")


def test_owners_manage_the_tokens_of_their_project_alone(admin, people, shop):
    owner = people.member("olga", "shop", "Owner")
    mine = make(owner, IN_SHOP)
    assert (mine["project"], mine["projects"]) == ("shop", ["shop"])
    others = [
        make(admin, tokenName=str(projects), projects=projects)["id"]
        for projects in (["shop", "blog"], ["blog"], ["*"])
    ]
    assert [row["id"] for row in owner.ok("GET", IN_SHOP)["tokens"]] == [mine["id"]]
    for id in others:
        assert error_of(owner.delete(f"{IN_SHOP}/{id}")) == (404, "NotFoundError")
    owner.ok("DELETE", f"{IN_SHOP}/{mine['id']}")
    assert owner.ok("GET", IN_SHOP)["total"] == 0


def test_owners_rotate_the_tokens_of_their_project(app, admin, people, shop):
    owner = people.member("olga", "shop", "Owner")
    old, other = make(owner, IN_SHOP), make(admin, tokenName="other")
    path = f"{IN_SHOP}/{old['id']}/rotate"
    new = Sdk(app, owner.ok("POST", path, {"overlapHours": 0})["secret"])
    assert (Sdk(app, old["secret"]).get().status_code, new.get().status_code) == (401, 200)
    refused = owner.post(f"{IN_SHOP}/{other['id']}/rotate", {})
    assert error_of(refused) == (404, "NotFoundError")


def test_members_viewers_and_owners_of_other_projects_are_refused(people, viewer, shop):
    member = people.member("mia", "shop")
    for client in (member, viewer, people.member("otto", "blog", "Owner")):
        for answer in (client.get(IN_SHOP), client.post(IN_SHOP, NEW)):
            assert error_of(answer) == (403, "NoAccessError")
            assert "API_TOKEN" in answer.json["message"]


def test_a_project_that_one_cannot_see_answers_like_an_unknown_one(admin, people):
    admin.ok("POST", "/projects", {"id": "hidden", "name": "Hidden", "mode": "private"})
    viewer, path = people.client("vera"), "/projects/{}/api-tokens"
    for id in ("hidden", "nowhere"):
        assert error_of(viewer.get(path.format(id))) == (403, "NoAccessError")
        assert error_of(viewer.post(path.format(id), NEW)) == (403, "NoAccessError")
    assert error_of(admin.post(path.format("nowhere"), NEW)) == (404, "NotFoundError")


def test_an_archived_project_gets_no_tokens(admin, shop):
    assert error_of(admin.post("/projects/old/api-tokens", NEW)) == (409, "ConflictError")


# Events


def test_each_change_is_one_event_with_words(admin, browser, shop):
    id = make(admin, projects=["shop"])["id"]
    for _ in range(2):  # the second changes nothing
        admin.ok("PUT", f"{PATH}/{id}", {"expiresAt": "2099-01-01T00:00:00Z"})
    new = admin.ok("POST", f"{PATH}/{id}/rotate", {"overlapHours": 0})["id"]
    admin.ok("DELETE", f"{PATH}/{new}")
    events = admin.ok("GET", "/events?project=shop")["events"]
    assert [event["type"] for event in events if "token" in event["type"]] == [
        "sdk-token-revoked",
        "sdk-token-created",
        "sdk-token-rotated",
        "sdk-token-updated",
        "sdk-token-created",
    ]
    page = browser.get("/events?project=shop")
    for words in (
        "revoked SDK token web for production",
        "rotated SDK token web for production",
        "changed when SDK token web expires",
        "created SDK token web for production",
    ):
        assert page.has(words), words
