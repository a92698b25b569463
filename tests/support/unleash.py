"""An Unleash that answers as real ones did: see tests/exchange/unleash/samples.

Real ones are asked in tests/soak.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask

from app.core.config.allowed_hosts import ALLOWED_HOSTS

SAMPLES = Path(__file__).parents[1] / "exchange" / "unleash" / "samples"
TOKEN = "user:recorded"
EXPORT = "/api/admin/features-batch/export"
NOTHING: dict[str, list[Any]] = {
    name: []
    for name in (
        *("features", "featureStrategies", "featureEnvironments", "contextFields"),
        *("featureTags", "segments", "tagTypes", "dependencies", "links"),
    )
}


def sample(name: str) -> Any:
    return json.loads((SAMPLES / f"{name}.json").read_text())


class RecordedUnleash:
    """``answers``: what it says, which a test may change; ``asked``: what it was asked."""

    def __init__(self, version: str) -> None:
        self.answers: dict[str, Any] = sample(f"unleash-{version}")
        self.asked: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, target: str, token: str | None, body: Any) -> tuple[int, Any]:
        self.asked.append(f"{method} {target}")
        sdks = {each["secret"] for each in self.answers["GET /api/admin/api-tokens"]["tokens"]}
        if token in sdks:
            is_browser = target.startswith("/api/frontend")
            return 200, {"toggles": []} if is_browser else {"version": 2, "features": []}
        if token != TOKEN:
            return 401, {"name": "AuthenticationRequired"}
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        if path == EXPORT and "features" in body:
            return 200, self._named(body)
        if path == "/api/admin/search/features":
            known = self.answers["GET /api/admin/search/features?archived=IS:true&limit=100"]
            start = int(query["offset"][0])
            return 200, {"features": known["features"][start:]}
        key = f"{method} {target}"
        if body is not None:
            key = next((k for k in self.answers if _is_about(k, target, body)), key)
        found = self.answers.get(key, {"STATUS": 404, "BODY": {"name": "NotFoundError"}})
        if isinstance(found, dict) and "STATUS" in found:
            return int(found["STATUS"]), found["BODY"]
        return 200, found

    def _named(self, body: Any) -> Any:
        """An export that names archived features: only one of them has strategies."""
        is_there = "shop.archived" in body["features"] and body["environment"] == "development"
        asked = {"environment": "development", "features": ["shop.archived", "nowhere"]}
        key = f"POST {EXPORT} {json.dumps(asked)}"
        return self.answers[key] if is_there else NOTHING

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        recorded = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                self._answer(json.loads(self.rfile.read(length)))

            def _answer(self, body: Any) -> None:
                token = self.headers["Authorization"]
                status, content = recorded.answer(self.command, self.path, token, body)
                data = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler


def _is_about(key: str, target: str, body: Any) -> bool:
    beginning = f"POST {target} "
    if not key.startswith(beginning):
        return False
    try:
        return bool(json.loads(key.removeprefix(beginning)) == body)
    except ValueError:
        return False


@pytest.fixture(params=["8.2.0"])
def old(
    app: Flask, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[RecordedUnleash]:
    """The Unleash to move from, which the application may read."""
    server = RecordedUnleash(request.param)
    hosts = ALLOWED_HOSTS.read(server.url)
    settings = replace(app.config["SETTINGS"], import_hosts=hosts)
    monkeypatch.setitem(app.config, "SETTINGS", settings)
    yield server
    server.stop()
