"""Several processes on one PostgreSQL: what one knows, the others know at their next request."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from http.client import HTTPResponse
from http.cookiejar import CookieJar
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
import sqlalchemy as sa

from app.core import migrations
from tests.cli.conftest import TOKEN, Machine, Server

SECRET_KEY = "the-same-for-all-of-them-0123456789"
PASSWORD = "four words that nobody guesses"
ADMIN = "/api/admin"


class Page(NamedTuple):
    status: int
    url: str
    text: str

    def field(self, name: str) -> str:
        """What a hidden field of the main form holds."""
        main = self.text[self.text.index("<main") :]
        found = re.search(rf'name="{name}" value="([^"]*)"', main)
        assert found is not None, name
        return unescape(found[1])


class Window:
    """A browser window, whose cookies are the same for each of the servers."""

    def __init__(self) -> None:
        self.cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self.cookies))

    def get(self, server: Server, path: str) -> Page:
        return self._open(Request(f"http://127.0.0.1:{server.port}{path}"))

    def post(self, server: Server, path: str, **fields: Any) -> Page:
        url = f"http://127.0.0.1:{server.port}{path}"
        return self._open(Request(url, urlencode(fields, doseq=True).encode(), method="POST"))

    def _open(self, request: Request) -> Page:
        try:
            answer: HTTPResponse | HTTPError = self._opener.open(request, timeout=30)
        except HTTPError as error:
            answer = error
        with answer:
            return Page(answer.status or 0, answer.url, answer.read().decode())


@pytest.fixture
def servers(machine: Machine, empty_postgresql: str) -> Iterator[Callable[[int], list[Server]]]:
    """Starts so many servers at the same moment on one database, and waits until all are ready."""
    started: list[Server] = []
    machine.settings |= {"DATABASE_URL": empty_postgresql, "SECRET_KEY": SECRET_KEY}

    def start(number: int) -> list[Server]:
        started.extend(Server(machine) for _ in range(number))
        for server in started:
            server.wait_until_ready()
        return started

    yield start
    for server in started:
        server.process.kill()
        server.process.wait(30)


def status(server: Server, secret: str) -> int:
    return server.call("GET", f"{ADMIN}/user", token=secret).status


def set_password(machine: Machine, server: Server) -> None:
    """Let there be ada, an Admin with a password."""
    words = ("user", "create", "--username", "ada", "--role", "Admin")
    follow_link(server, machine.ok(*words))


def follow_link(server: Server, told: str, password: str = PASSWORD) -> None:
    """Set the password by the set-up link that somebody was told."""
    link = "/set-up/" + told.split("/set-up/")[1].split(maxsplit=1)[0]
    window = Window()
    token = window.get(server, link).field("csrf_token")
    assert window.post(server, link, csrf_token=token, new_password=password).status == 200


def sign_in(window: Window, server: Server, password: str = PASSWORD, *, name: str = "ada") -> Page:
    token = window.get(server, "/sign-in").field("csrf_token")
    return window.post(server, "/sign-in", csrf_token=token, name=name, password=password)


def test_four_that_start_at_once_on_nothing_are_all_ready(machine, empty_postgresql, servers):
    assert len(servers(4)) == 4
    engine = sa.create_engine(empty_postgresql.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        revisions = connection.scalars(sa.text("SELECT version_num FROM alembic_version")).all()
        names = connection.scalars(sa.text("SELECT username FROM accounts")).all()
    engine.dispose()
    assert revisions == [migrations.known()[-1]]
    assert names == ["bootstrap"]


def test_a_token_and_a_role_end_everywhere_at_once(servers):
    here, there = servers(2)
    made = here.call("POST", f"{ADMIN}/service-account", {"name": "CI", "rootRole": 1}).json
    path = f"{ADMIN}/service-account/{made['id']}"
    token = here.call("POST", f"{path}/token", {"description": "deploy"}).json
    assert (status(here, token["secret"]), status(there, token["secret"])) == (200, 200)
    seen = here.call("GET", path).json["tokens"][0]["seenAt"]
    assert seen is not None  # whichever of them noted it
    assert here.call("PUT", path, {"rootRole": 3}).status == 200
    mode = {"id": "x", "name": "X"}
    refused = there.call("POST", f"{ADMIN}/projects", mode, token=token["secret"])
    assert refused.status == 403
    assert here.call("DELETE", f"{path}/token/{token['id']}").status == 200
    assert (status(there, token["secret"]), status(here, token["secret"])) == (401, 401)


def test_a_repeated_request_gets_its_first_answer_from_another(servers):
    here, there = servers(2)
    body = {"id": "shop", "name": "Shop"}
    answers = []
    for server in (here, there):
        connection = build_opener()
        request = Request(
            f"http://127.0.0.1:{server.port}{ADMIN}/projects",
            data=b'{"id": "shop", "name": "Shop"}',
            headers={
                "Authorization": TOKEN,
                "Content-Type": "application/json",
                "Idempotency-Key": "once",
            },
        )
        with connection.open(request, timeout=30) as answer:
            answers.append((answer.status, answer.read(), answer.headers["Idempotent-Replay"]))
    assert answers[0][:2] == answers[1][:2]
    assert [replay for *_, replay in answers] == [None, "true"]
    assert there.call("POST", f"{ADMIN}/projects", body).status == 409


def test_who_signs_in_at_one_is_signed_in_at_all_and_signs_out_of_all(machine, servers):
    here, there = servers(2)
    set_password(machine, here)
    window = Window()
    assert sign_in(window, here).url.endswith("/projects")
    page = window.get(there, "/account")
    assert (page.status, "ada" in page.text) == (200, True)
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert token is not None
    window.post(there, "/sign-out", csrf_token=token[1])
    assert "/sign-in" in window.get(here, "/account").url


def test_wrong_passwords_are_counted_over_all(machine, servers):
    here, there = servers(2)
    set_password(machine, here)
    answers = [sign_in(Window(), (here, there)[n % 2], "not the right one") for n in range(7)]
    assert [answer.status for answer in answers[:5]] == [400] * 5
    assert 429 in [answer.status for answer in answers[5:]]
    assert sign_in(Window(), there).status == 429


def test_what_was_reviewed_at_one_is_done_at_another(machine, servers):
    here, there = servers(2)
    set_password(machine, here)
    here.call("POST", f"{ADMIN}/projects", {"id": "shop", "name": "Shop"})
    here.call("POST", f"{ADMIN}/projects/shop/features", {"name": "basket"})
    window = Window()
    sign_in(window, here)
    token = window.get(here, "/projects/shop").field("csrf_token")
    review = window.post(
        there, "/projects/shop/selection", csrf_token=token, feature="basket", to="archive"
    )
    assert review.status == 200
    path = review.url.partition(str(there.port))[2]
    sent = {name: review.field(name) for name in ("csrf_token", "plan")}
    assert "1 feature archived" in window.post(here, path, **sent).text
    shown = there.call("GET", f"{ADMIN}/projects/shop/features/basket").json
    assert shown["archivedAt"] is not None
