"""Whatever a client sends, the log has one line for it, which only the server writes."""

import json
import logging
import re
import socket
from contextlib import closing

import pytest

from tests.input.corpora import strings
from tests.support.clients import ApiClient
from tests.support.servers import TOKEN

FORGED = '{"level": "error", "message": "forged"}'
RAW = [
    b"GET /a%0A%0Dforged%1B[31m HTTP/1.1\r\nHost: x\r\n",
    b"GET /%ff%00%E2%80%A8forged HTTP/1.1\r\nHost: x\r\n",
    b"GET /\xff\xfe\x80forged HTTP/1.1\r\nHost: x\r\n",
    b"GET /?a=%0Aforged HTTP/1.1\r\nHost: x\r\n",
    b"GET /%22%2C%22level%22%3A%22error HTTP/1.1\r\nHost: x\r\n",
    b"GET / HTTP/1.1\r\nHost: forged\x1b[31m\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: \x1b]0;forged\x07\xff\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: forged\x85line\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nCookie: session=" + FORGED.encode() + b"\r\n",
    b"f\x0brged / HTTP/1.1\r\nHost: x\r\n",
    b"GET /forged%\r\n",
]


def send(server, head: bytes) -> bytes:
    with closing(socket.create_connection(("127.0.0.1", server.port), 30)) as client:
        client.sendall(head + b"Connection: close\r\n\r\n")
        answer = b""
        while piece := client.recv(65_536):
            answer += piece
    return answer


@pytest.mark.parametrize("style", ["json", "text"])
def test_each_request_has_one_line_of_the_server_s_own(start, style):
    server = start(LOG_FORMAT=style)
    for head in RAW:
        assert send(server, head).startswith(b"HTTP/1.")
    texts = [text for text in strings()[::80] if text]
    for text in texts:
        body = json.dumps({"id": text, "name": text, "mode": text}).encode()
        assert server.call("POST", "/api/admin/projects", body).status == 400
        name = "".join(c for c in text if c.isascii() and c.isprintable())[:100].strip() or "x"
        assert server.call("GET", "/api/admin/user", token=name).status == 401
    server.end()
    lines = server.log.read_bytes().decode("ascii").splitlines()
    started = max(number for number, line in enumerate(lines) if "/ready 200" in line)
    lines = lines[started + 1 :]
    assert len(lines) == len(RAW) + 2 * len(texts)
    for line in lines:
        if style == "json":
            assert json.loads(line)["logger"] == "flagstaff.access"
        else:
            assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d info [0-9a-f-]{36} ", line)
            assert line.isprintable()
        assert TOKEN not in line


LINKS = ["/set-up/{}", "/first-admin/{}"]
WAYS = [
    ("GET", "{}"),
    ("POST", "{}"),
    ("DELETE", "{}"),
    ("GET", "{}/"),
    ("GET", "{}/more"),
    ("GET", "/flags{}"),
    ("PUT", "/flags{}/"),
    ("GET", "//{}"),
]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("method", "path"), WAYS)
def test_no_secret_of_a_link_is_logged(app, caplog, link, method, path):
    caplog.set_level(logging.DEBUG)
    secret = "the-secret-of-this-link"
    asked = path.format(link.format(secret))
    for place in (asked, asked.upper().replace(secret.upper(), secret)):
        app.test_client().open(f"http://localhost{place}", method=method)
    [line, *_] = [one for one in caplog.records if one.name == "flagstaff.access"]
    assert line.facts["path"].endswith("/…")
    assert secret not in caplog.text
    assert not any(secret in repr(one.__dict__) for one in caplog.records)


@pytest.mark.parametrize("tokens", ["api-tokens", "sdk-tokens", "projects/default/api-tokens"])
@pytest.mark.parametrize(
    ("method", "path"), [("DELETE", "{}"), ("GET", "{}/"), ("POST", "{}/rotate"), ("GET", "x/{}")]
)
def test_no_secret_of_an_sdk_token_is_logged(admin, caplog, tokens, method, path):
    caplog.set_level(logging.DEBUG)
    secret = "default:production.the-secret-of-this-token"
    assert admin.request(method, f"/{tokens}/{path.format(secret)}").status_code < 500
    assert "default:production.…" in caplog.text
    assert "the-secret" not in caplog.text


def test_a_text_line_says_as_much_as_one_in_json(app, people, caplog):
    caplog.set_level(logging.INFO)
    id = people.person("ada")
    ApiClient(app, people.token(id)).get("/projects/none")
    [line] = [one for one in caplog.records if one.name == "flagstaff.access"]
    facts = line.facts
    assert facts["account"] == id
    assert re.fullmatch(
        rf"{facts['id']} GET /api/admin/projects/none 404 in [0-9.]+ ms from 127.0.0.1 "
        rf"account {id} token {facts['token']}: NotFoundError: .*",
        line.getMessage(),
    )
