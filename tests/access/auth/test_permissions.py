"""Who can do what: roles, modes, and how little a refusal reveals."""

import re
import string
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
import time_machine
from werkzeug.test import TestResponse

from app.accounts import service as accounts
from app.accounts.models import Account
from app.accounts.tokens.models import Token
from app.catalogue.projects.models import Member
from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from app.core.permissions import Permission, Role
from tests.support.clients import ApiClient, error_of
from tests.support.people import People
from tests.support.roles import OF_EDITOR, OF_MEMBER, ON_FEATURES, ON_PROJECT
from tests.support.statements import statements

MODES = ("open", "protected", "private")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def make(admin: ApiClient) -> Callable[..., None]:
    """Make a project that has no member but the Admin."""

    def project(id: str, mode: str = "open") -> None:
        admin.ok("POST", "/projects", {"id": id, "name": id, "mode": mode})

    return project


def set_mode(client: ApiClient, project_id: str, mode: str) -> TestResponse:
    return client.put(f"/projects/{project_id}", {"name": "Renamed", "mode": mode})


def new_feature(client: ApiClient, project_id: str) -> int:
    name = f"f-{utcnow().timestamp()}"
    return client.post(f"/projects/{project_id}/features", {"name": name}).status_code


def held_by(client: ApiClient) -> set[tuple[str, str | None]]:
    permissions = client.ok("GET", "/user")["permissions"]
    return {(held["permission"], held.get("project")) for held in permissions}


def told(answer: TestResponse) -> tuple[object, ...]:
    """All that an answer tells: what differs from request to request is left out."""
    body = {key: value for key, value in (answer.json or {}).items() if key != "id"}
    headers = [(k, v) for k, v in answer.headers if k not in {"X-Request-Id", "Date"}]
    return answer.status_code, headers, list(answer.json or {}), body


# What each role holds


def test_an_admin_holds_everything(admin):
    assert held_by(admin) == {("ADMIN", None)}


def test_an_editor_holds_the_root_permissions_and_works_in_default(editor):
    in_default = {(permission, "default") for permission in ON_FEATURES | {"UPDATE_PROJECT"}}
    assert held_by(editor) == {(permission, None) for permission in OF_EDITOR} | in_default


def test_a_viewer_holds_nothing(viewer):
    assert held_by(viewer) == set()


@pytest.mark.parametrize(("role", "held"), [("Owner", ON_PROJECT), ("Member", OF_MEMBER)])
def test_a_project_role_counts_only_in_its_project(make, people, role, held):
    make("web")
    make("other")
    client = people.member("ann", "web", role)
    assert held_by(client) == {(permission, "web") for permission in held}


def test_roles_in_several_projects_do_not_mix(make, people):
    make("web")
    make("shop")
    ann = people.person("ann")
    people.join(ann, "web", "Owner")
    people.join(ann, "shop", "Member")
    client = ApiClient(people.app, people.token(ann))
    assert set_mode(client, "web", "open").status_code == 200
    assert set_mode(client, "shop", "open").status_code == 403


def test_a_service_account_has_the_permissions_of_its_role(app, people, editor):
    robot = ApiClient(app, people.token(people.service_account("robot", role="Editor")))
    assert held_by(robot) == held_by(editor)


def test_creating_a_project_makes_you_its_owner(editor):
    editor.ok("POST", "/projects", {"id": "mine", "name": "Mine"})
    assert {(permission, "mine") for permission in ON_PROJECT} <= held_by(editor)
    assert set_mode(editor, "mine", "private").status_code == 200


def test_reading_your_own_account_needs_only_a_token(viewer, stranger):
    assert viewer.get("/user").status_code == 200
    assert error_of(stranger.get("/user")) == (401, "AuthenticationRequired")


# Modes


@pytest.mark.parametrize("mode", ["open", "protected"])
def test_everyone_sees_a_project_that_is_not_private(make, viewer, editor, mode):
    make("web", mode)
    for client in (viewer, editor):
        assert client.get("/projects/web").status_code == 200
        assert client.get("/projects/web/features").status_code == 200
        assert "web" in [row["id"] for row in client.ok("GET", "/projects")["projects"]]


def test_members_and_admins_see_a_private_project(make, admin, people):
    make("web", "private")
    for client in (admin, people.member("m", "web"), people.member("o", "web", "Owner")):
        assert client.get("/projects/web").status_code == 200
        assert "web" in [row["id"] for row in client.ok("GET", "/projects")["projects"]]


def test_no_one_else_sees_a_private_project(make, viewer, editor, people):
    make("web", "private")
    make("other", "private")
    for client, seen in ((viewer, 1), (editor, 1), (people.member("m", "other", "Owner"), 2)):
        assert error_of(client.get("/projects/web")) == (404, "NotFoundError")
        assert error_of(client.get("/projects/web/features")) == (404, "NotFoundError")
        listed = client.ok("GET", "/projects")
        assert "web" not in [row["id"] for row in listed["projects"]]
        assert listed["total"] == seen == len(listed["projects"])


def test_no_one_else_sees_the_events_of_a_private_project(make, editor, admin):
    before = editor.ok("GET", "/events")
    make("web", "private")
    new_feature(admin, "web")
    after = editor.ok("GET", "/events")
    assert [row["id"] for row in after["events"]] == [row["id"] for row in before["events"]]
    assert after["total"] == before["total"]


@pytest.mark.parametrize("mode", MODES)
def test_an_editor_works_in_default_only_while_it_is_open(admin, editor, mode):
    set_mode(admin, "default", mode)
    allowed = mode == "open"
    assert new_feature(editor, "default") == (201 if allowed else 403)
    assert set_mode(editor, "default", mode).status_code == (200 if allowed else 403)
    assert bool([project for _, project in held_by(editor) if project]) is allowed


@pytest.mark.parametrize("mode", MODES)
def test_a_project_role_decides_in_every_mode(make, admin, people, mode):
    make("web", mode)
    member, owner = people.member("m", "web"), people.member("o", "web", "Owner")
    assert [new_feature(client, "web") for client in (admin, owner, member)] == [201, 201, 201]
    assert set_mode(member, "web", mode).status_code == 403
    assert set_mode(owner, "web", mode).status_code == 200


@pytest.mark.parametrize("mode", MODES)
def test_no_one_else_can_make_changes_in_any_mode(make, viewer, editor, people, mode):
    make("web", mode)
    make("other")
    for client in (viewer, editor, people.member("o", "other", "Owner")):
        assert new_feature(client, "web") == 403
        assert set_mode(client, "web", mode).status_code == 403


@pytest.mark.parametrize("role", ["Owner", "Member"])
def test_an_editor_who_is_a_member_of_default_works_there_in_every_mode(people, admin, role):
    ann = people.person("ann", role="Editor")
    people.join(ann, "default", role)
    client = ApiClient(people.app, people.token(ann))
    set_mode(admin, "default", "private")
    assert new_feature(client, "default") == 201
    assert set_mode(client, "default", "private").status_code == (200 if role == "Owner" else 403)


def test_a_project_can_change_from_any_mode_to_any_other(make, people):
    make("web")
    owner = people.member("o", "web", "Owner")
    for mode in ("protected", "private", "open", "private", "protected", "open"):
        assert set_mode(owner, "web", mode).status_code == 200
        assert owner.ok("GET", "/projects/web")["mode"] == mode


# What a refusal gives away


@pytest.mark.parametrize("mode", MODES)
def test_a_forbidden_project_reads_like_an_unknown_one(make, viewer, mode):
    unknown = set_mode(viewer, "web", "open")
    make("web", mode)
    assert error_of(unknown) == (403, "NoAccessError")
    assert told(set_mode(viewer, "web", "open")) == told(unknown)


def test_a_private_project_reads_like_an_unknown_one(make, viewer):
    unknown = viewer.get("/projects/web")
    make("web", "private")
    assert error_of(unknown) == (404, "NotFoundError")
    assert told(viewer.get("/projects/web")) == told(unknown)


def test_an_admin_learns_that_a_project_is_unknown(admin):
    assert error_of(set_mode(admin, "nowhere", "open")) == (404, "NotFoundError")


def test_a_refusal_in_a_project_names_permission_project_and_whom_to_ask(viewer):
    message = set_mode(viewer, "payments", "open").json["message"]
    assert "UPDATE_PROJECT" in message
    assert "in project payments" in message
    assert "Ask an Admin or an Owner of project payments." in message


def test_a_refusal_elsewhere_names_permission_and_whom_to_ask(viewer):
    answer = viewer.post("/projects", {"id": "web", "name": "Web"})
    assert error_of(answer) == (403, "NoAccessError")
    assert "CREATE_PROJECT" in answer.json["message"]
    assert "Ask an Admin." in answer.json["message"]
    assert "project" not in answer.json["message"].replace("CREATE_PROJECT", "")


# No escalation


def test_the_command_line_can_do_everything_and_has_no_account():
    assert all(COMMAND_LINE.may(permission) for permission in Permission)
    with pytest.raises(TypeError, match="has no account"):
        _ = COMMAND_LINE.account_id


def test_no_one_can_make_themselves_an_owner(make, people, admin, viewer, editor):
    make("web")
    member = people.member("ann", "web")
    for client, project in ((member, "web"), (viewer, "web"), (editor, "web"), (editor, "default")):
        wish = {"members": [{"id": client.ok("GET", "/user")["user"]["id"], "role": 4}]}
        before = admin.ok("GET", f"/projects/{project}/access")
        answer = client.put(f"/projects/{project}/access", wish)
        assert error_of(answer) == (403, "NoAccessError")
        assert admin.ok("GET", f"/projects/{project}/access") == before


def test_only_admins_change_root_roles_and_create_tokens_for_others(people, editor):
    owner = people.member("ann", "default", "Owner")
    robot, person = people.service_account("robot", role="Admin"), people.person("bob")
    for client in (editor, owner):
        for method, path, wish in (
            ("POST", "/service-account", {"name": "Mine", "rootRole": 1}),
            ("POST", f"/service-account/{robot}/token", {"description": "mine"}),
            ("POST", "/user-admin", {"username": "mine", "rootRole": 1}),
            ("PUT", f"/user-admin/{person}", {"rootRole": 1}),
        ):
            assert error_of(client.request(method, path, json=wish)) == (403, "NoAccessError")


def test_a_personal_token_can_do_no_more_than_its_owner(app, viewer):
    secret = viewer.ok("POST", "/user/tokens", {"description": "mine"})["secret"]
    assert held_by(ApiClient(app, secret)) == held_by(viewer) == set()


# Never locked out


@pytest.fixture
def boss(people: People) -> int:
    """The one Admin who can sign in, and has not done so for long."""
    id = people.person("boss", role="Admin", away_days=400)
    let_sign_in(people, id)
    return id


def let_sign_in(people: People, id: int) -> None:
    with people.app.app_context(), unit_of_work(writes=True):
        db.session.get_one(Account, id).password_hash = "a hash"


def test_the_last_admin_who_can_sign_in_is_not_deleted(admin, people, boss):
    assert error_of(admin.delete(f"/user-admin/{boss}")) == (409, "ConflictError")
    assert admin.get(f"/user-admin/{boss}").status_code == 200
    let_sign_in(people, people.person("deputy", role="Admin"))
    assert admin.delete(f"/user-admin/{boss}").status_code == 200


@pytest.mark.parametrize("role", [2, 3])
def test_the_last_admin_who_can_sign_in_is_not_demoted(admin, people, boss, role):
    demotion = {"rootRole": role}
    assert error_of(admin.put(f"/user-admin/{boss}", demotion)) == (409, "ConflictError")
    assert admin.ok("GET", f"/user-admin/{boss}")["rootRole"] == 1
    let_sign_in(people, people.person("deputy", role="Admin"))
    assert admin.put(f"/user-admin/{boss}", demotion).status_code == 200


def test_the_last_admin_who_can_sign_in_is_not_deleted_among_many(admin, people, boss):
    long_gone = people.person("gone", role="Admin", away_days=500)
    let_sign_in(people, long_gone)
    admin.ok("POST", "/user-admin/inactive/delete", {"ids": [boss, long_gone]})
    assert admin.get(f"/user-admin/{boss}").status_code == 200
    assert admin.get(f"/user-admin/{long_gone}").status_code == 404


def test_an_editor_or_a_service_account_is_no_last_admin(admin, people, boss):
    let_sign_in(people, people.person("editor", role="Editor"))
    people.service_account("robot", role="Admin")
    assert error_of(admin.delete(f"/user-admin/{boss}")) == (409, "ConflictError")


# Tokens


def expire(token: Token) -> None:
    token.expires_at = utcnow() - timedelta(milliseconds=1)


def revoke(token: Token) -> None:
    token.revoked_at = utcnow()


def mark_owner_deleted(token: Token) -> None:
    db.session.get_one(Account, token.account_id).deleted_at = utcnow()


def delete_owner(token: Token) -> None:
    accounts.mark_deleted([db.session.get_one(Account, token.account_id)])


@pytest.mark.parametrize("end", [expire, revoke, mark_owner_deleted, delete_owner])
def test_an_ended_token_is_refused_from_the_next_request_on(app, viewer, end):
    assert viewer.get("/user").status_code == 200
    with app.app_context(), unit_of_work(writes=True):
        end(the_token())
    assert error_of(viewer.get("/user")) == (401, "AuthenticationRequired")


@pytest.mark.parametrize("end", [expire, revoke, delete_owner])
def test_no_response_reveals_what_is_wrong_with_a_token(app, viewer, stranger, end):
    with app.app_context(), unit_of_work(writes=True):
        end(the_token())
    assert told(viewer.get("/user")) == told(stranger.get("/user"))
    unknown = ApiClient(app, "x" * 40)
    assert told(unknown.get("/user")) == told(stranger.get("/user"))


def test_a_token_expires_at_its_moment(app, people):
    ann = people.person("ann")
    client = ApiClient(app, people.token(ann))
    with app.app_context(), unit_of_work(writes=True):
        the_token().expires_at = NOON
    with time_machine.travel(NOON - timedelta(milliseconds=1), tick=False):
        assert client.get("/user").status_code == 200
    with time_machine.travel(NOON, tick=False):
        assert client.get("/user").status_code == 401


def test_other_tokens_of_the_owner_keep_working(app, people):
    ann = people.person("ann")
    revoked, kept = people.token(ann, "one"), people.token(ann, "two")
    with app.app_context(), unit_of_work(writes=True):
        revoke(the_token("one"))
    assert ApiClient(app, revoked).get("/user").status_code == 401
    assert ApiClient(app, kept).get("/user").status_code == 200


@pytest.mark.parametrize("scheme", ["", "Bearer ", "bearer ", "BEARER  "])
def test_a_token_can_be_sent_with_the_word_bearer(app, viewer, scheme):
    assert ApiClient(app, scheme + viewer.token).get("/user").status_code == 200


def test_a_removed_role_is_gone_on_the_next_request(app, people, make):
    make("web", "private")
    ann = people.person("ann", role="Editor")
    people.join(ann, "web")
    client = ApiClient(app, people.token(ann))
    assert client.get("/projects/web").status_code == 200
    assert client.get("/events").status_code == 200
    with app.app_context(), unit_of_work(writes=True):
        db.session.get_one(Account, ann).role = Role.VIEWER
        db.session.execute(sa.delete(Member).where(Member.account_id == ann))
    assert client.get("/projects/web").status_code == 404
    assert client.get("/events").status_code == 403


def test_the_last_use_of_a_token_is_stored_once_a_minute(app, viewer):
    for seconds, noted in ((0, 0), (1, 0), (60, 0), (61, 61), (90, 61), (3_600, 3_600)):
        with time_machine.travel(NOON + timedelta(seconds=seconds), tick=False):
            viewer.ok("GET", "/user")
        with app.app_context():
            assert the_token().last_seen_at == NOON + timedelta(seconds=noted)


def test_a_refused_request_counts_as_use_of_the_token(app, viewer):
    with time_machine.travel(NOON, tick=False):
        assert viewer.get("/events").status_code == 403
    with app.app_context():
        assert the_token().last_seen_at == NOON


@pytest.mark.parametrize("place", [4, 7, 8, 20, -1])
def test_a_mistyped_token_never_reaches_the_database(app, viewer, place):
    wrong = list(viewer.token)
    wrong[place] = next(c for c in string.ascii_letters if c != wrong[place])
    with statements(app) as seen:
        assert ApiClient(app, "".join(wrong)).get("/user").status_code == 401
    assert seen == []


def test_a_token_ends_with_a_crc_32_that_scanners_can_check(people, viewer):
    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
    for token, kind in (
        (viewer.token, "pat"),
        (people.token(people.service_account("robot")), "sa"),
    ):
        assert re.fullmatch(f"fst_{kind}_[0-9A-Za-z]{{49}}", token)
        number = 0
        for digit in token[-6:]:
            number = number * len(digits) + digits.index(digit)
        assert number == zlib.crc32(token[:-6].encode())


@pytest.mark.parametrize(
    ("length", "is_sought"), [(0, False), (1, True), (512, True), (513, False)]
)
def test_an_operators_own_token_is_looked_up_unless_it_is_too_long(app, people, length, is_sought):
    with statements(app) as seen:
        assert ApiClient(app, "x" * length).get("/user").status_code == 401
    assert len(seen) == 2 * is_sought  # by the request, and for the security log


@pytest.mark.parametrize("token", ["fst_", "fst_pat_", "fst_pat_" + "0" * 49, "fst_x_" + "0" * 49])
def test_what_only_looks_like_a_token_never_reaches_the_database(app, token):
    with statements(app) as seen:
        assert ApiClient(app, token).get("/user").status_code == 401
    assert seen == []


def test_one_statement_loads_the_caller_and_their_permissions(app, people, make):
    make("web")
    make("other")
    client = people.member("ann", "other", "Owner")
    assert client.get("/user").status_code == 200  # the use of the token is noted here
    with statements(app) as seen:
        assert set_mode(client, "web", "open").status_code == 403
    later = [statement for statement in seen if "security_log" in statement]
    assert len(seen) - len(later) == 1, seen


def the_token(description: str = "test") -> Token:
    """The newest token of that description."""
    query = sa.select(Token).where(Token.description == description).order_by(Token.id.desc())
    return db.session.scalars(query.limit(1)).one()
