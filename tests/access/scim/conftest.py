"""A directory, with a token of SCIM."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.access.scim_tokens import service as tokens
from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


class Directory:
    """Sends requests as a directory does."""

    def __init__(self, app: Flask, token: str) -> None:
        self.app, self.token = app, token

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/scim+json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        client = self.app.test_client()
        return client.open(f"/scim/v2{path}", method=method, json=body, headers=sent)

    def ok(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = self.send(method, path, body, **headers)
        assert answer.status_code < 300, answer.text
        return answer.get_json(silent=True)

    def user(self, name: str, **more: Any) -> dict[str, Any]:
        body = {"schemas": [USER], "userName": name, **more}
        found: dict[str, Any] = self.ok("POST", "/Users", body)
        return found

    def group(self, name: str, *ids: str) -> dict[str, Any]:
        members = [{"value": id} for id in ids]
        body = {"schemas": [GROUP], "displayName": name, "members": members}
        found: dict[str, Any] = self.ok("POST", "/Groups", body)
        return found

    def patch(self, path: str, *operations: dict[str, Any]) -> Any:
        return self.ok("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)})


def issue(app: Flask, name: str = "directory") -> str:
    with app.app_context(), unit_of_work(writes=True):
        return tokens.create(COMMAND_LINE, token_name=name).secret


@pytest.fixture
def directory(app: Flask) -> Directory:
    return Directory(app, issue(app))


@pytest.fixture
def refusal() -> Callable[[TestResponse], tuple[int, str | None]]:
    """The status and the word of SCIM for why."""

    def of(answer: TestResponse) -> tuple[int, str | None]:
        body = answer.get_json()
        assert body["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
        assert body["status"] == str(answer.status_code)
        assert body["detail"]
        return answer.status_code, body.get("scimType")

    return of
