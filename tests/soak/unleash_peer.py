"""A real Unleash of a chosen version for tests: installed with npm, started, signed in, stopped.

``python -m tests.soak.unleash_peer 8.2.0 FOLDER`` keeps one running until its standard input ends,
and prints its address, an Admin's token and the address of its database.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from shutil import which
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from tests.bench import postgresql
from tests.support.processes import free_port

HOST = "127.0.0.1"
PATIENCE = 120.0
"""So many seconds it may take to make its tables and answer."""

PASSWORD = "unleash4all"
ADMIN = {"username": "admin", "password": PASSWORD}
UNLIMITED = "100000000"
LIMITS = (
    "CREATE_USER_RATE_LIMIT_PER_MINUTE",
    "SEARCH_FEATURES_RATE_LIMIT_PER_MINUTE",
    "SIMPLE_LOGIN_LIMIT_PER_MINUTE",
    "SDK_API_RATE_LIMIT_PER_MINUTE",
    "TOKEN_AUTHENTICATION_RATE_LIMIT_PER_MINUTE",
)

START = """\
// Unleash as its paid editions are, where PAID is set: from version 6 on the open source server
// knows only the project "default" and the environments "development" and "production".
const unleash = await import("unleash-server");
const start = unleash.start ?? unleash.default.start;
const major = Number(process.env.MAJOR);

// They list every project; the open source server lists only "default".
const preRouterHook = (app, _config, { projectService }) =>
  app.get("/api/admin/projects", async (request, response, next) => {
    try {
      const query = major < 6 ? {} : { archived: ["true", true].includes(request.query.archived) };
      const projects = await projectService.getProjects(query, request.user.id);
      response.json({ version: 1, projects });
    } catch (error) {
      next(error);
    }
  });

await start(process.env.PAID ? { ui: { environment: "pro" }, preRouterHook } : {});
"""


class Refused(Exception):
    """It answered otherwise than with success."""

    def __init__(self, status: int, request: str, text: str) -> None:
        super().__init__(f"{request}: {status} {text}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Peer:
    """An Unleash that answers, and a personal token of its Admin."""

    url: str
    token: str
    version: str
    database: str

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What it answers below ``/api/admin``, as JSON; None for an empty answer."""
        sent = {"Authorization": self.token}
        return _call(self.url, method, f"/api/admin{path}", body, sent)[0]

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """For what its API cannot; the rows, where there are any."""
        with psycopg.connect(self.database, row_factory=tuple_row) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def running(version: str, folder: Path, *, paid: bool = True, **settings: str) -> Iterator[Peer]:
    """An empty Unleash of this version, such as ``8.2.0``; ``5`` is the newest 5.x that npm picks.

    ``folder`` keeps what npm installs for the next time; the database is a new one. ``paid``: with
    several projects and all environments, as its paid editions have them. ``settings`` are
    variables of its environment.
    """
    installed = install(version, folder)
    (folder / "start.mjs").write_text(START)
    with postgresql.own() as server:
        database = _new_database(server)
        port = free_port()
        environment = {
            **os.environ,
            **dict.fromkeys(LIMITS, UNLIMITED),
            "CHECK_VERSION": "false",
            "DATABASE_SSL": "false",
            "DATABASE_URL": database,
            "HTTP_HOST": HOST,
            "HTTP_PORT": str(port),
            "LOG_LEVEL": "warn",
            "MAJOR": installed.partition(".")[0],
            "NODE_ENV": "production",
            "PAID": "yes" if paid else "",
            "SEND_TELEMETRY": "false",
            "UNLEASH_DEFAULT_ADMIN_PASSWORD": PASSWORD,
            **settings,
        }
        with (folder / "unleash.log").open("wb") as log:
            process = subprocess.Popen(
                [_node(folder), "start.mjs"], cwd=folder, env=environment, stdout=log, stderr=log
            )
        try:
            url = f"http://{HOST}:{port}"
            token = _signed_in(process, url, folder / "unleash.log")
            yield Peer(url, token, installed, database)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE / 4)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def install(version: str, folder: Path) -> str:
    """Have npm put this Unleash, and a Node that it runs on, into the folder; its version."""
    folder.mkdir(parents=True, exist_ok=True)
    described = folder / "node_modules" / "unleash-server" / "package.json"
    if not _is(version, described):
        (folder / "package.json").write_text('{"name": "unleash-peer", "private": true}\n')
        _npm(folder, f"unleash-server@{version}")
    facts = json.loads(described.read_text())
    needed = _node_for(facts["engines"]["node"])
    if needed and not (folder / "node_modules" / "node" / "bin" / "node").exists():
        _npm(folder, f"node@{needed}")
    return str(facts["version"])


def _is(version: str, described: Path) -> bool:
    if not described.exists():
        return False
    installed = str(json.loads(described.read_text())["version"])
    return f"{installed}.".startswith(f"{version}.")


def _npm(folder: Path, package: str) -> None:
    npm = which("npm")
    if npm is None:
        raise RuntimeError("Unleash is installed with npm, which is not here")
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(
        [npm, "install", *quiet, package], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"npm install {package}: {done.stderr.strip()}")


def _node_for(engines: str) -> int | None:
    """The major version of Node to install for it; None if the one of this machine will do."""
    least, below = (re.search(rf"{sign}\s*(\d+)", engines) for sign in (">=", "<(?!=)"))
    lowest = int(least[1]) if least else 0
    highest = int(below[1]) - 1 if below else sys.maxsize
    here = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if lowest <= int(here.removeprefix("v").partition(".")[0]) <= highest:
        return None
    return highest if below else lowest


def _node(folder: Path) -> str:
    own = folder.resolve() / "node_modules" / "node" / "bin" / "node"
    return str(own) if own.exists() else "node"


def _new_database(server: str) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE unleash")
    before, _, after = server.partition("/postgres?")
    return f"{before}/unleash?{after}"


def _signed_in(process: subprocess.Popen[bytes], url: str, log: Path) -> str:
    """The Admin's token, once it is there: version 4 makes its Admin after it answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError, HTTPException, Refused):
            return _sign_in(url)
        time.sleep(0.1)
    raise RuntimeError(f"Unleash did not start: {log.read_text()[-2000:]}")


def _sign_in(url: str) -> str:
    cookie = _call(url, "POST", "/auth/simple/login", ADMIN)[1]
    wanted = {"description": f"tests {time.time_ns()}", "expiresAt": "2100-01-01T00:00:00.000Z"}
    sent = {"Cookie": cookie.partition(";")[0]}
    token: str = _call(url, "POST", "/api/admin/user/tokens", wanted, sent)[0]["secret"]
    return token


def _call(
    url: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[Any, str]:
    """Its answer as JSON, and the cookie it sets."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE)
    try:
        data = None if body is None else json.dumps(body)
        sent = {"Content-Type": "application/json", **(headers or {})}
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise Refused(answer.status, f"{method} {path}", text[:1000])
        is_json = "json" in answer.getheader("Content-Type", "")
        return json.loads(text) if text and is_json else None, answer.getheader("Set-Cookie", "")
    finally:
        connection.close()


def main() -> None:
    version, folder = sys.argv[1:]
    with running(version, Path(folder)) as peer:
        print(peer.url, peer.token, peer.database, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
