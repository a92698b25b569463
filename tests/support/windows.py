"""A browser window for several servers, without JavaScript."""

import re
from html import unescape
from http.client import HTTPResponse
from http.cookiejar import CookieJar
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

from tests.support.machines import Machine
from tests.support.people import PASSWORD
from tests.support.servers import Server

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


def status(server: Server, secret: str) -> int:
    return server.call("GET", f"{ADMIN}/user", token=secret).status


def set_password(machine: Machine, server: Server) -> None:
    """Let there be ada, an Admin with a password."""
    words = ("user", "create", "--username", "ada", "--role", "Admin")
    follow_link(server, machine.ok(*words))


def follow_link(server: Server, told: str, password: str = PASSWORD) -> None:
    """Set the password with a set-up link."""
    link = "/set-up/" + told.split("/set-up/")[1].split(maxsplit=1)[0]
    window = Window()
    token = window.get(server, link).field("csrf_token")
    assert window.post(server, link, csrf_token=token, new_password=password).status == 200


def sign_in(window: Window, server: Server, password: str = PASSWORD, *, name: str = "ada") -> Page:
    token = window.get(server, "/sign-in").field("csrf_token")
    return window.post(server, "/sign-in", csrf_token=token, name=name, password=password)
