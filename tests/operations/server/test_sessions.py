"""What ends a session ends it in every process.

What ends it in one: tests/accounts/sessions/test_sessions.py.
"""

import re
from collections.abc import Callable

import pytest

from tests.support.people import PASSWORD
from tests.support.servers import Server
from tests.support.windows import Window, follow_link, set_password, sign_in

pytestmark = pytest.mark.one_in(2)

ADMIN = "/api/admin"


class Kim:
    """A person, in one browser window at both servers, and an Admin in another."""

    def __init__(self, here: Server, there: Server, boss: Window) -> None:
        self.here, self.there, self.boss = here, there, boss
        body = {"username": "kim", "rootRole": 3}
        made = here.call("POST", f"{ADMIN}/user-admin", body).json
        self.id, self.path = made["id"], f"{ADMIN}/user-admin/{made['id']}"
        follow_link(here, made["inviteLink"])
        self.window = self.new_window()

    def new_window(self) -> Window:
        window = Window()
        assert sign_in(window, self.there, name="kim").status == 200
        return window

    def is_in(self, window: Window | None = None) -> list[bool]:
        """Whether each of the servers takes the session."""
        window = window or self.window
        return [
            "/sign-in" not in window.get(server, "/projects").url
            for server in (self.there, self.here)
        ]

    def sign_out(self) -> None:
        self.send(self.window, "/account", "/sign-out")

    def change_password(self) -> None:
        new = "five words that no one guesses"
        words = {"old_password": PASSWORD, "new_password": new}
        other = self.new_window()
        self.send(other, "/account/password", "/account/password", **words)
        assert self.is_in(other) == [True, True]

    def sign_out_elsewhere(self) -> None:
        other = self.new_window()
        self.send(other, "/account/sessions", "/account/sessions")
        assert self.is_in(other) == [True, True]

    def be_signed_out(self) -> None:
        self.send(self.boss, f"/users/{self.id}", f"/users/{self.id}/sign-out")

    def be_given_a_link_and_follow_it(self) -> None:
        page = self.send(self.boss, f"/users/{self.id}", f"/users/{self.id}/link")
        follow_link(self.here, page)

    def be_deleted(self) -> None:
        assert self.here.call("DELETE", self.path).status == 200

    def send(self, window: Window, page: str, action: str, **fields: str) -> str:
        token = re.search(r'name="csrf_token" value="([^"]+)"', window.get(self.here, page).text)
        assert token is not None
        answer = window.post(self.here, action, csrf_token=token[1], **fields)
        assert answer.status == 200, answer.text
        return answer.text.replace('"', " ").replace("<", " ")


ENDS: list[Callable[[Kim], None]] = [
    Kim.sign_out,
    Kim.change_password,
    Kim.sign_out_elsewhere,
    Kim.be_signed_out,
    Kim.be_given_a_link_and_follow_it,
    Kim.be_deleted,
]


@pytest.fixture
def pair(machine, servers) -> tuple[Server, Server, Window]:
    here, there = servers(2)
    set_password(machine, here)
    boss = Window()
    sign_in(boss, here)
    return here, there, boss


def test_what_ends_a_session_at_one_ends_it_at_all_at_once(pair):
    here = pair[0]
    for end in ENDS:
        kim = Kim(*pair)
        assert kim.is_in() == [True, True]
        end(kim)
        assert kim.is_in() == [False, False], end.__name__
        if end is not Kim.be_deleted:
            assert here.call("DELETE", kim.path).status == 200


def test_a_new_role_counts_in_every_process_at_the_next_request(pair):
    kim = Kim(*pair)
    for role, status in ((2, 200), (3, 403), (1, 200), (3, 403)):
        assert kim.here.call("PUT", kim.path, {"rootRole": role}).status == 200
        for server in (kim.there, kim.here):
            assert kim.window.get(server, "/new-project").status == status
