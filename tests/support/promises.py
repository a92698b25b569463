"""Requests to a real server, generated from its OpenAPI description."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.support.machines import Machine
from tests.support.processes import FLAGSTAFF, running

ROLES = {"Admin": 1, "Editor": 2, "Viewer": 3}
MEMBER = "Member"
"""Of the project, and else a Viewer; asks for nothing outside of projects."""

PROJECTS = "/api/admin/projects/"
PROJECT = f"{PROJECTS}default"
FEATURES = ("promises.kept", "promises.made")
"""As schemathesis.toml names them."""

ADMIN = "ada.lindqvist"
HOOKS = str(Path(__file__).with_name("schemathesis_hooks.py"))


def check_promises(role: str, machine: Machine, *options: str, examples: int) -> str:
    """Send whatever its description allows, and what not, to a server with the demo; the report."""
    _let_ids_be_hard_to_guess(machine.home / "flagstaff.db")
    operator = machine.ok("token", "create", ADMIN, "--description", "calls everything")
    with running(FLAGSTAFF, "/ready", HOME=str(machine.home)) as server:
        base = server.address
        token = _token(base, operator, role)
        known = _strategy(base, operator)
        within = [f"--include-path-regex=^{PROJECTS}"] if role == MEMBER else []
        done = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"),
                f"--config-file={Path(__file__).with_name('schemathesis.toml')}",
                "run",
                f"{base}/api/openapi.json",
                f"--header=Authorization: {token}",
                "--mode=all",
                f"--max-examples={examples}",
                "--continue-on-failure",
                "--generation-database=none",
                "--no-color",
                *within,
                *options,
            ],
            capture_output=True,
            text=True,
            cwd=machine.home.parent,
            env=os.environ | {"STRATEGY": known, "SCHEMATHESIS_HOOKS": HOOKS},
            check=False,
        )
        assert done.returncode == 0, done.stdout
        assert _get(base, "/api/admin/user", token), "the caller was locked out on the way"
        return done.stdout


def _let_ids_be_hard_to_guess(database: Path) -> None:
    """So that no request happens to end the caller's own account or token."""
    with closing(sqlite3.connect(database, timeout=30)) as file, file:
        further = "UPDATE sqlite_sequence SET seq = 987654321 WHERE name IN ('accounts', 'tokens')"
        assert file.execute(further).rowcount == 2


def _strategy(base: str, operator: str) -> str:
    """The id of a new strategy, of the first of new features."""
    for name in FEATURES:
        _post(base, operator, f"{PROJECT}/features", {"name": name})
    path = f"{PROJECT}/features/{FEATURES[0]}/environments/development/strategies"
    return str(_post(base, operator, path, {"name": "flexibleRollout"})["id"])


def _token(base: str, operator: str, role: str) -> str:
    """The token of a new service account of that role."""
    root = ROLES.get(role, ROLES["Viewer"])
    account = _post(base, operator, "/api/admin/service-account", {"rootRole": root})
    if role == MEMBER:
        _post(base, operator, f"{PROJECT}/access", {"id": account["id"], "roleId": 5})
    path = f"/api/admin/service-account/{account['id']}/token"
    return str(_post(base, operator, path, {"description": "calls everything"})["secret"])


def _post(base: str, token: str, path: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": token, "Content-Type": "application/json"}
    return _answer(Request(base + path, json.dumps(body).encode(), headers))


def _get(base: str, path: str, token: str) -> Any:
    return _answer(Request(base + path, headers={"Authorization": token}))


def _answer(request: Request) -> Any:
    with urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")
