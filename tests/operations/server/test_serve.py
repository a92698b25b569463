"""The real server: started as a process, asked over a real socket, ended by a signal."""

import http.client
import json
import socket
import sqlite3
from typing import Any

import pytest

from tests.support.headers import ALWAYS
from tests.support.machines import SECONDS, Machine
from tests.support.servers import TOKEN, Answer

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]

MEBIBYTE = 2**20


def rows(machine: Machine, question: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(machine.home / "flagstaff.db")
    try:
        with connection:
            return connection.execute(question).fetchall()
    finally:
        connection.close()


def test_the_seven_endpoints_answer_as_their_document_says(start):
    server = start()

    me = server.call("GET", "/api/admin/user")
    assert me.status == 200
    assert list(me.json) == ["user", "permissions", "feedback", "splash"]
    assert me.json["user"]["username"] == "bootstrap"
    assert me.json["permissions"] == [{"permission": "ADMIN"}]
    assert (me.json["feedback"], me.json["splash"]) == ([], {})

    account = server.call("POST", "/api/admin/service-account", {"name": "CI", "rootRole": 3})
    assert account.status == 201
    assert account.json["id"] > me.json["user"]["id"]
    assert {key: account.json[key] for key in ("name", "username", "rootRole", "tokens")} == {
        "name": "CI",
        "username": "service-ci",
        "rootRole": 3,
        "tokens": [],
    }

    given = {"id": "web-shop", "name": "Web shop", "environments": ["production"]}
    project = server.call("POST", "/api/admin/projects", given)
    assert project.status == 201
    assert project.headers["Location"] == "/api/admin/projects/web-shop"
    assert project.json == {
        "id": "web-shop",
        "name": "Web shop",
        "description": None,
        "featureLimit": None,
        "mode": "open",
        "defaultStickiness": "default",
        "environments": ["production"],
        "changeRequestEnvironments": [],
    }

    updated = server.call(
        "PUT", "/api/admin/projects/web-shop", {"name": "Shop", "mode": "private"}
    )
    assert (updated.status, updated.data) == (200, b"")
    seen = server.call("GET", "/api/admin/projects/web-shop").json
    assert seen == project.json | {"name": "Shop", "mode": "private"}

    for name in ("parent", "child"):
        made = server.call("POST", "/api/admin/projects/web-shop/features", {"name": name})
        assert made.status == 201
    tied = server.call(
        "POST",
        "/api/admin/projects/web-shop/features/child/dependencies",
        {"feature": "parent"},
    )
    assert tied.status == 200

    tagged = server.call(
        "PUT",
        "/api/admin/projects/web-shop/tags",
        {
            "features": ["parent", "child"],
            "tags": {"addedTags": [{"value": "new", "type": "simple"}], "removedTags": []},
        },
    )
    assert (tagged.status, tagged.data) == (200, b"")
    for name in ("parent", "child"):
        seen = server.call("GET", f"/api/admin/projects/web-shop/features/{name}").json
        assert seen["tags"] == [{"value": "new", "type": "simple"}]

    path = "/api/admin/projects/web-shop/archive/validate"
    impact = server.call("POST", path, {"features": ["parent"]})
    assert impact.status == 200
    assert impact.json == {"parentsWithChildFeatures": ["parent"], "hasDeletedDependencies": True}

    deleted = server.call("POST", "/api/admin/user-admin/inactive/delete", {"ids": [1, 99]})
    assert (deleted.status, deleted.data) == (200, b"")
    assert server.call("GET", "/api/admin/user").status == 200


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "0", TOKEN[:-1], TOKEN.upper()])
def test_no_other_token_is_let_in(start, token):
    refused = start().call("GET", "/api/admin/user", token=token)
    assert (refused.status, refused.json["name"]) == (401, "AuthenticationRequired")


def test_it_says_where_it_listens_and_ends_when_told(start):
    server = start()
    log = server.log.read_text()
    assert f"Flagstaff listens on http://127.0.0.1:{server.port}\nThe data is in /" in log
    assert server.end() == 0
    assert "Traceback" not in server.log.read_text()


def test_its_files_are_private(machine, start):
    start().call("GET", "/api/admin/user")
    found = [machine.home, *machine.home.iterdir()]
    assert machine.home / "flagstaff.db" in found
    assert [path.name for path in found if path.stat().st_mode & 0o077] == []


def test_a_second_start_makes_nothing_new(machine, start):
    question = (
        "SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM tokens),"
        " (SELECT count(*) FROM events)"
    )
    start().end()
    first = rows(machine, question)
    assert first == [(1, 1, 2)]
    again = start()
    assert again.call("GET", "/api/admin/user").status == 200
    assert rows(machine, question) == first


def test_another_bootstrap_token_is_not_taken_while_an_admin_has_one(start):
    start().end()
    other = "another-token-" * 3
    again = start(BOOTSTRAP_TOKEN=other)
    assert again.call("GET", "/api/admin/user", token=other).status == 401
    assert again.call("GET", "/api/admin/user").status == 200


def test_a_revoked_bootstrap_token_does_not_come_back(machine, start):
    start().end()
    rows(machine, "UPDATE tokens SET revoked_at = '2026-01-01 00:00:00.000000'")
    again = start()
    assert again.call("GET", "/api/admin/user").status == 401
    assert rows(machine, "SELECT count(*) FROM tokens WHERE revoked_at IS NULL") == [(0,)]
    again.end()
    other = "another-token-" * 3
    assert start(BOOTSTRAP_TOKEN=other).call("GET", "/api/admin/user", token=other).status == 200


def test_a_bootstrap_token_that_could_never_be_used_stops_the_start(machine):
    said = machine.refused("serve", PORT="1", BOOTSTRAP_TOKEN=f"fst_sa_{'x' * 49}")
    assert said.startswith("The bootstrap token starts with fst_ but is not valid")
    assert "xxx" not in said


@pytest.mark.parametrize("chunked", [False, True], ids=["with length", "chunked"])
def test_a_body_that_is_too_large_is_refused_in_json(start, chunked):
    server = start()
    body = json.dumps({"id": "a", "name": "x" * 3 * MEBIBYTE}).encode()
    refused = server.call("POST", "/api/admin/projects", body, chunked=chunked)
    assert refused.status == 413
    assert list(refused.json) == ["id", "name", "message"]
    assert refused.json["name"] == "PayloadTooLargeError"
    assert refused.headers["X-Request-Id"] == refused.json["id"]
    nobody = server.call("POST", "/api/admin/projects", body, token=None, chunked=chunked)
    assert nobody.status == 401


def test_a_chunked_body_is_taken_like_any_other(start):
    body = json.dumps({"id": "a", "name": "A"}).encode()
    assert start().call("POST", "/api/admin/projects", body, chunked=True).status == 201


@pytest.mark.parametrize(
    ("request_", "status", "name"),
    [
        (
            b"POST /api/admin/projects HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n",
            413,
            "PayloadTooLargeError",
        ),
        (b"GET / HTTP/1.1\r\nno header at all\r\n\r\n", 400, "ValidationError"),
        (
            b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
            431,
            "RequestHeaderFieldsTooLargeError",
        ),
        (
            b"GET / HTTP/1.1\r\nAuthorization : " + TOKEN.encode() + b"\r\n\r\n",
            400,
            "ValidationError",
        ),
    ],
    ids=["too long", "malformed", "large header", "malformed with a secret"],
)
def test_what_the_server_refuses_unread_is_json_too(start, request_, status, name):
    server = start(BASE_URL="https://flags.example.org")
    with socket.create_connection(("127.0.0.1", server.port), SECONDS) as connection:
        connection.sendall(request_)
        raw = http.client.HTTPResponse(connection)
        raw.begin()
        refused = Answer(raw.status, raw.headers, raw.read())
    assert refused.status == status
    assert list(refused.json) == ["id", "name", "message"]
    assert refused.json["name"] == name
    assert refused.headers["X-Request-Id"] == refused.json["id"]
    usual = server.call("GET", "/health", token=None).headers
    for header in {*ALWAYS, "Strict-Transport-Security", "Server"}:
        assert refused.headers.get_all(header) == usual.get_all(header), header
    assert "Server" not in usual
    assert server.has_logged(refused.json["id"])
    assert TOKEN not in server.log.read_text()


@pytest.mark.parametrize("style", ["text", "json"])
def test_the_log_never_has_a_token(machine, start, style):
    server = start(LOG_FORMAT=style)
    account = server.call("POST", "/api/admin/service-account", {"rootRole": 3}).json
    made = server.call(
        "POST", f"/api/admin/service-account/{account['id']}/token", {"description": "a"}
    )
    secret = made.json["secret"]
    server.call("GET", "/api/admin/user", token=secret)
    server.call("GET", "/api/admin/user", token=f"Bearer {secret}0")
    server.call("POST", "/api/admin/projects", {"id": "a"}, token=secret)
    server.call("POST", "/api/admin/projects", b"{", token=TOKEN)
    server.call("GET", "/nothing-here")
    server.end()
    log = server.log.read_text()
    assert "AuthenticationRequired" in log  # it is this server's, and it is written
    assert "NoAccessError" in log
    assert "ValidationError" in log
    assert TOKEN not in log
    assert secret not in log
    assert secret not in str(rows(machine, "SELECT * FROM events"))


def test_the_log_has_one_line_a_request_and_no_secret_of_a_link(machine, start):
    server = start(LOG_FORMAT="json")
    link = machine.ok("user", "create", "--username", "ada").split("/set-up/")[1].split()[0]
    told = machine.home.with_name("server.log")
    began = len(told.read_text().splitlines())
    ids = [
        server.call(method, path, body, token=token).headers["X-Request-Id"]
        for method, path, body, token in (
            ("GET", "/api/admin/user", None, TOKEN),
            ("POST", "/api/admin/projects", {"id": "\n\x1b[31m forged"}, TOKEN),
            ("GET", "/no/such%0Apage", None, None),
            ("GET", f"/set-up/{link}", None, None),
        )
    ]
    server.end()
    written = [json.loads(line) for line in told.read_text().splitlines()[began:]]
    found = {line["id"]: line for line in written if "id" in line}  # of several processes
    assert found.keys() == set(ids)
    lines = [found[id] for id in ids]
    assert [line["status"] for line in lines] == [200, 400, 404, 200]
    assert [line["account"] for line in lines] == [1, 1, None, None]
    assert lines[0].keys() >= {"at", "method", "path", "ms", "ip", "token"}
    assert lines[1]["refusal"].startswith("ValidationError: ")
    assert lines[3]["path"] == "/set-up/…"
    assert link not in told.read_text()


def test_a_port_that_is_taken_is_named(machine):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = machine.refused("serve", PORT=str(port))
    assert said == (
        f"Can't listen on http://127.0.0.1:{port}: Address already in use."
        " Stop what listens there, or choose another port with FLAGSTAFF_PORT."
    )
    assert not (machine.home / "flagstaff.db").exists()


def test_a_host_that_does_not_exist_is_named(machine):
    address = "http://flags.invalid:4242"
    said = machine.refused("serve", HOST="flags.invalid", BASE_URL=address)
    assert said.startswith(f"Can't listen on {address}: ")


def test_below_a_prefix(start):
    server = start(URL_PREFIX="/tools/flags")
    assert server.call("GET", "/tools/flags/api/admin/user").status == 200
    assert server.call("GET", "/tools/flags/health", token=None).json["health"] == "GOOD"
