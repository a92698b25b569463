"""What tests read features with, as SDKs do."""

import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.core.db import db
from tests.support.clients import ApiClient

SPEC = {"Unleash-Client-Spec": "5.2.0"}
NEW = {"tokenName": "web", "type": "client", "environment": "production"}


class Sdk:
    """A client with an SDK token. ``features``: what it reads, as a dictionary by name."""

    def __init__(self, app: Flask, token: str) -> None:
        self.app, self.token = app, token

    def get(self, path: str = "features", **headers: str) -> TestResponse:
        sent = {"Authorization": self.token} | SPEC
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in sent.items() if value}
        return self.app.test_client().get(f"/api/client/{path}", headers=sent)

    def post(self, path: str, body: Any, **headers: str) -> TestResponse:
        sent = {"Authorization": self.token} | headers
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.app.test_client().post(f"/api/client/{path}", data=data, headers=sent)

    def read(self, path: str = "features", **headers: str) -> Any:
        answer = self.get(path, **headers)
        assert answer.status_code == 200, answer.text
        is_compressed = answer.headers.get("Content-Encoding") == "gzip"
        return json.loads(gzip.decompress(answer.data) if is_compressed else answer.data)

    @property
    def features(self) -> dict[str, Any]:
        return {feature["name"]: feature for feature in self.read()["features"]}

    def reports(self, **features: tuple[int, int]) -> None:
        """Report how often features were on and off, and have it written."""
        toggles = {name: {"yes": yes, "no": no} for name, (yes, no) in features.items()}
        body = {"appName": "shop", "instanceId": "one", "bucket": {"toggles": toggles}}
        assert self.post("metrics", body).status_code == 202
        write_reports(self.app)


class Process:
    """An instance of an application, which polls as its SDK does when it is asked to."""

    def __init__(self, sdk: Sdk, id: str, application: str = "shop", **headers: str) -> None:
        self.sdk, self.etag = sdk, ""
        self.headers = {
            "UNLEASH_APPNAME": application,
            "UNLEASH_CONNECTION_ID": id,
            "UNLEASH_SDK": "unleash-node-sdk:6.12.1",
            "UNLEASH_INTERVAL": "15000",
        } | headers

    def poll(self, *, takes: bool = True) -> int:
        """Ask for changes; the status. ``takes``: whether it keeps what it gets."""
        answer = self.sdk.get(If_None_Match=self.etag, **self.headers)
        if answer.status_code == 200 and takes:
            self.etag = answer.headers["ETag"]
        return answer.status_code


def write_reports(app: Flask) -> None:
    """Write what SDKs reported, as a server does every few seconds."""
    with app.app_context():
        app.extensions["flagstaff.reports"].write()


@pytest.fixture
def new_sdk(app: Flask, admin: ApiClient) -> Callable[..., Sdk]:
    """Makes SDKs with a token for the environment ``production``, or as told."""
    reports = app.extensions["flagstaff.reports"]
    reports.__init__()  # without those of earlier tests

    def make(**asked: Any) -> Sdk:
        number = admin.ok("GET", "/api-tokens")["total"] + 1
        body = NEW | {"tokenName": f"web {number}"} | asked
        return Sdk(app, admin.ok("POST", "/api-tokens", body)["secret"])

    return make


@pytest.fixture
def sdk(new_sdk: Callable[..., Sdk]) -> Sdk:
    """An SDK in ``production``, for all projects."""
    return new_sdk()


class Front:
    """A client with a token for browsers."""

    def __init__(self, app: Flask, token: str) -> None:
        self.app, self.token = app, token

    def ask(self, path: str = "", method: str = "GET", **sent: Any) -> TestResponse:
        headers = {"Authorization": self.token} | sent.pop("headers", {})
        headers = {name: value for name, value in headers.items() if value}
        client = self.app.test_client()
        return client.open(f"/api/frontend{path}", method=method, headers=headers, **sent)

    def post(self, body: Any, path: str = "", **sent: Any) -> TestResponse:
        return self.ask(path, "POST", data=json.dumps(body).encode(), **sent)

    def read(self, **context: Any) -> Any:
        """What is on for a context."""
        answer = self.post({"context": context})
        assert answer.status_code == 200, answer.text
        return answer.json

    def on(self, **context: Any) -> set[str]:
        """The names of the features that are on for a context."""
        return {toggle["name"] for toggle in self.read(**context)["toggles"]}

    def flag(self, key: str, **context: Any) -> TestResponse:
        """What OFREP says about one feature."""
        return self.flags(f"/{key}", {"context": context})

    def flags(self, path: str = "", body: Any = None, **headers: str) -> TestResponse:
        sent = {"Authorization": self.token} | headers
        sent = {name.replace("_", "-"): value for name, value in sent.items() if value}
        data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        address = f"/ofrep/v1/evaluate/flags{path}"
        return self.app.test_client().post(address, data=data, headers=sent)


@pytest.fixture
def new_front(new_sdk: Callable[..., Sdk]) -> Callable[..., Front]:
    """Makes clients with a token for browsers in ``production``, or as told."""

    def make(**asked: Any) -> Front:
        sdk = new_sdk(**({"type": "frontend"} | asked))
        return Front(sdk.app, sdk.token)

    return make


@pytest.fixture
def away(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Puts the database out of reach, and back."""
    monkeypatch.setattr("app.delivery.sdk.source.RETRY_SECONDS", 0)

    def switch(*, is_away: bool) -> None:
        with app.app_context():
            engine = db.engine
        if is_away:
            sa.event.listen(engine, "before_cursor_execute", _fail)
        else:
            sa.event.remove(engine, "before_cursor_execute", _fail)

    yield switch
    with app.app_context():
        if sa.event.contains(db.engine, "before_cursor_execute", _fail):
            switch(is_away=False)
    assert Sdk(app, "*:production.nope").get().status_code == 401  # it is noticed to be back


def _fail(*_: object) -> None:
    raise sa.exc.OperationalError("", {}, Exception("connection lost"))
