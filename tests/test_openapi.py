"""The API description is valid, complete, and what the server really does."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.bench.servers import FLAGSTAFF, running
from tests.clients import ApiClient

EXAMPLES = 4
"""Random requests an operation, beside the systematic ones; ``make soak`` makes many more."""

ROLES = {"Admin": 1, "Editor": 2, "Viewer": 3}
OPERATOR = "operator-of-the-openapi-test-0123456789"


@pytest.fixture
def document(stranger: ApiClient) -> dict:
    return stranger.ok("GET", "/api/openapi.json")


def test_the_description_is_valid_openapi(document):
    assert document["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(document).validate()


def test_every_operation_says_what_it_does_and_what_it_needs(document):
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method != "parameters":
                assert operation["summary"], path
                assert operation["x-needs"], path


def test_every_body_has_an_example_that_the_server_would_take(document, admin):
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if "requestBody" in operation:
                example = operation["requestBody"]["content"]["application/json"]["example"]
                concrete = re.sub(r"{(account|token)_id}", "999", path)
                concrete = re.sub(r"{\w+}", "default", concrete)
                answer = admin.request(method.upper(), f"{concrete}?dryRun=true", json=example)
                assert answer.status_code in {200, 201, 202, 404, 409}, (path, answer.text)


def test_the_page_shows_every_operation(document, stranger):
    page = stranger.get("/api/")
    assert page.status_code == 200
    for path in document["paths"]:
        assert path in page.text


@pytest.mark.parametrize("role", ROLES)
def test_the_server_keeps_every_promise_of_its_description(role, tmp_path: Path):
    check_promises(role, tmp_path, examples=EXAMPLES)


def check_promises(role: str, tmp_path: Path, *options: str, examples: int) -> str:
    """Send a server whatever its description allows, and what not; what was seen."""
    home = str(tmp_path / "home")
    with running(FLAGSTAFF, "/ready", HOME=home, BOOTSTRAP_TOKEN=OPERATOR) as server:
        subprocess.run(
            [sys.executable, *FLAGSTAFF[:-1], "demo"],
            env=os.environ | {"FLAGSTAFF_HOME": home},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        _let_ids_be_hard_to_guess(tmp_path / "home" / "flagstaff.db")
        base = f"http://127.0.0.1:{server.port}"
        token = _token(base, ROLES[role])
        done = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"),
                f"--config-file={Path(__file__).with_name('schemathesis.toml')}",
                "run",
                f"{base}/api/openapi.json",
                f"--header=Authorization: {token}",
                "--mode=all",
                f"--max-examples={examples}",
                "--phases=coverage,fuzzing",
                "--continue-on-failure",
                "--generation-database=none",
                "--no-color",
                *options,
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
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


def _token(base: str, role: int) -> str:
    """The token of a new service account of that role."""
    account = _post(base, "/api/admin/service-account", {"rootRole": role})
    path = f"/api/admin/service-account/{account['id']}/token"
    return _post(base, path, {"description": "calls everything"})["secret"]


def _post(base: str, path: str, body: dict) -> dict:
    headers = {"Authorization": OPERATOR, "Content-Type": "application/json"}
    return _answer(Request(base + path, json.dumps(body).encode(), headers))


def _get(base: str, path: str, token: str) -> dict:
    return _answer(Request(base + path, headers={"Authorization": token}))


def _answer(request: Request) -> dict:
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)
