"""Secrets are nowhere but with those whom they were given to."""

import json
import sqlite3
import zlib
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.machines import EXECUTABLE, Machine
from tests.support.people import PASSWORD
from tests.support.servers import TOKEN, Server
from tests.support.windows import Window, set_password, sign_in

pytestmark = pytest.mark.one_in(2)

ADMIN = "/api/admin"
NEW_PASSWORD = "five words that no one guesses"


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request, machine: Machine) -> list[Path]:
    """Where a server with this machine's settings keeps what it knows."""
    if request.param == "sqlite":
        return [machine.home]
    url = request.getfixturevalue("empty_postgresql")
    machine.settings |= {"DATABASE_URL": url}
    return [machine.home, Path(parse_qs(urlsplit(url).query)["host"][0])]


def content(places: list[Path]) -> Iterator[tuple[Path, bytes]]:
    """Every file: the database's own, what it is going to write there, logs."""
    for place in places:
        for path in place.rglob("*"):
            if path.is_file() and path.name != "secret_key":  # which is there to be one
                yield path, path.read_bytes()


def secret_of(window: Window) -> str:
    """What the cookie of a session holds."""
    [cookie] = list(window.cookies)
    packed, _, payload = (cookie.value or "").rpartition(".")[0].rpartition(".")[0].rpartition(".")
    raw = urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    held = json.loads(zlib.decompress(raw) if packed or cookie.value[0] == "." else raw)
    return str(held["_user_id"])


def use(machine: Machine, server: Server) -> dict[str, str]:
    """All secrets that there are, each of them made and used (and misused) once."""
    window = Window()
    set_password(machine, server)
    sign_in(window, server, "a wrong one that was typed")
    sign_in(window, server)
    account = server.call("POST", f"{ADMIN}/service-account", {"rootRole": 1}).json
    path = f"{ADMIN}/service-account/{account['id']}/token"
    token = server.call("POST", path, {"description": "a"}).json["secret"]
    new = server.call("POST", f"{path}/2/rotate", {}).json["secret"]
    personal = machine.ok("token", "create", "ada", "--description", "mine").split()[-1]
    invited = server.call("POST", f"{ADMIN}/user-admin", {"username": "kim", "rootRole": 3}).json
    for secret in (token, new, personal, f"Bearer {personal}x"):
        server.call("GET", f"{ADMIN}/user", token=secret)
    words = {"oldPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    assert server.call("POST", f"{ADMIN}/user/change-password", words, token=personal).status == 200
    window = Window()
    sign_in(window, server, NEW_PASSWORD)
    return {
        "the operator's token": TOKEN,
        "a token": token,
        "a token that took its place": new,
        "a personal token": personal,
        "a link": invited["inviteLink"].rpartition("/")[2],
        "a password": PASSWORD,
        "a new password": NEW_PASSWORD,
        "a mistyped password": "a wrong one that was typed",
        "a session": secret_of(window),
    }


def test_no_secret_is_in_any_file_nor_in_the_environment(machine, places, start):
    server = start(command=[EXECUTABLE, "serve"], LOG_FORMAT="json")  # its own in /proc
    secrets = use(machine, server)
    places.append(server.log.parent)
    if len(places) == 2:
        with closing(sqlite3.connect(machine.home / "flagstaff.db")) as file:
            file.execute("VACUUM INTO ?", [str(machine.home / "backup.db")])
    files = dict(content(places))
    assert any(b"service-account-" in file for file in files.values())  # it is looked into
    found = [
        f"{name} in {path}"
        for path, file in files.items()
        for name, secret in secrets.items()
        if secret.encode() in file
    ]
    assert found == []
    environ = Path(f"/proc/{server.process.pid}/environ").read_bytes()
    inside = [name for name, secret in secrets.items() if secret.encode() in environ]
    assert inside == ["the operator's token"]  # who put it there
