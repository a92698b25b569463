"""The ways into the application that tests use."""

from collections.abc import Mapping
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

BASE = "/api/admin"


class ApiClient:
    """A JSON client with one token. Paths begin below ``/api/admin`` unless they name ``/api``.

    It asks for the fields that only Flagstaff has, unless it is a ``client_of_unleash``.
    """

    def __init__(self, app: Flask, token: str | None, *, client_of_unleash: bool = False) -> None:
        self.app = app
        self.token = token
        self.client_of_unleash = client_of_unleash

    def get(self, path: str, **kwargs: Any) -> TestResponse:
        return self.request("GET", path, **kwargs)

    def post(self, path: str, json: Any = None, **kwargs: Any) -> TestResponse:
        return self.request("POST", path, json=json, **kwargs)

    def put(self, path: str, json: Any = None, **kwargs: Any) -> TestResponse:
        return self.request("PUT", path, json=json, **kwargs)

    def delete(self, path: str, **kwargs: Any) -> TestResponse:
        return self.request("DELETE", path, **kwargs)

    def request(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **kwargs: Any
    ) -> TestResponse:
        """One request in an application context of its own, as a server makes them."""
        sent = {"Authorization": self.token} if self.token else {}
        full = path if path.startswith("/api/") or not path.startswith("/") else BASE + path
        if kwargs.get("json") is None:
            kwargs.pop("json", None)
        if full.startswith(BASE) and not self.client_of_unleash:
            full, kwargs = _extended(full, kwargs)
        return self.app.test_client().open(
            full, method=method, headers=sent | (headers or {}), **kwargs
        )

    def ok(self, method: str, path: str, json: Any = None, **kwargs: Any) -> Any:
        """The answer's JSON (None for an empty one) of a request that must succeed."""
        answer = self.request(method, path, json=json, **kwargs)
        assert answer.status_code < 300, f"{method} {path}: {answer.status} {answer.text}"
        return answer.json if answer.data else None


def _extended(path: str, kwargs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The request with ``extended=true`` in its query string."""
    if isinstance(asked := kwargs.get("query_string"), Mapping):
        return path, kwargs | {"query_string": {"extended": "true", **asked}}
    if asked is not None:
        return path, kwargs | {"query_string": f"{asked}&extended=true"}
    return extended(path), kwargs


def extended(path: str) -> str:
    """The address with ``extended=true`` in its query string."""
    return f"{path}{'&' if '?' in path else '?'}extended=true"


REASON = {"X-Reason": "The shop is down"}
"""With this an Admin needs no approvals."""


def error_of(answer: TestResponse) -> tuple[int, str]:
    """Status and name of a refusal, whose form is checked on the way."""
    body = answer.get_json()
    assert list(body)[:3] == ["id", "name", "message"], body
    assert answer.headers["X-Request-Id"] == body["id"]
    return answer.status_code, body["name"]


def problems_of(answer: TestResponse) -> dict[str, str]:
    """The details of a 400 as {path: message}."""
    assert error_of(answer) == (400, "ValidationError"), answer.text
    return {detail["path"]: detail["message"] for detail in answer.get_json()["details"]}
