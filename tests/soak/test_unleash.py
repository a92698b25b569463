"""A real Unleash takes what is exported here, and a script for it makes the same on both."""

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.soak import unleash_peer
from tests.soak.test_moving import ask_both
from tests.soak.unleash_peer import Peer, Refused
from tests.support.clients import ApiClient
from tests.support.machines import Within
from tests.support.processes import FLAGSTAFF, running
from tests.support.servers import TOKEN
from tests.unleash import script
from tests.unleash.table import STRATEGIES
from tests.unleash.walk import walk

GENERATOR = Path(sys.executable).with_name("openapi-python-client")
REFRESH_SECONDS = 5
"""So long Unleash may answer its SDKs from before."""


def call(address: str, token: str, path: str, body: Any = None, method: str | None = None) -> Any:
    headers = {"Authorization": token, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address + path, data, headers, method=method), timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def read(address: str, token: str, names: set[str]) -> dict[str, Any]:
    """These features as SDKs read them, with the names of their segments."""
    found = call(address, token, "/api/client/features")
    segments = {segment["id"]: segment["name"] for segment in found.get("segments", [])}
    features = {each["name"]: each for each in found["features"] if each["name"] in names}
    for feature in features.values():
        del feature["project"]
        for strategy in feature["strategies"]:
            strategy["segments"] = [segments[id] for id in strategy.get("segments", [])]
            strategy["constraints"] = [
                {k: v for k, v in each.items() if v != []} for each in strategy["constraints"]
            ]
    return features


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    """A real Unleash, which npm installs below PEERS or a temporary folder."""
    folder = Path(os.environ.get("PEERS") or tmp_path) / "8.2.0"
    with unleash_peer.running("8.2.0", folder) as peer:
        yield peer


def test_unleash_imports_what_is_exported_and_answers_the_same(peer: Peer, tmp_path: Path):
    machine = Within(tmp_path / "home")
    machine.ok("demo")
    place = ("--environment", "production")
    exported = json.loads(machine.ok("feature", "export", *place, "--project", "checkout"))
    names = {feature["name"] for feature in exported["features"]}
    token = machine.ok("token", "create", "ada.lindqvist", "--description", "to compare")
    sdk = json.loads(machine.ok("sdk-token", "create", "web", *place, "--json"))["secret"]
    with running(FLAGSTAFF, "/ready", HOME=str(machine.home)) as server:
        here = read(server.address, sdk, names)
        segments = call(server.address, token, "/api/admin/segments")["segments"]
    for segment in segments:
        if segment["name"] in {each["name"] for each in exported["segments"]}:
            fields = {key: segment[key] for key in ("name", "constraints")}
            peer.call("POST", "/segments", fields)
    body = {"project": "default", "environment": "production", "data": exported}
    for field in exported["contextFields"]:
        with suppress(Refused):  # every instance has it
            peer.call("POST", "/context", field)
    checked = peer.call("POST", "/features-batch/validate", body)
    assert (checked["errors"], checked["permissions"]) == ([], [])
    peer.call("POST", "/features-batch/import", body)
    time.sleep(REFRESH_SECONDS)
    wanted = {"tokenName": "compare", "type": "client", "environment": "production"}
    theirs = peer.call("POST", "/api-tokens", {**wanted, "projects": ["*"]})["secret"]
    assert len(here) == len(names)
    assert read(peer.url, theirs, names) == here


def test_a_script_seeds_both_alike(peer: Peer, tmp_path: Path):
    def there(method: str, path: str, body: Any) -> Any:
        if path != "/projects":
            return peer.call(method, path, body)
        # Only its paid editions make projects through the API.
        columns = "INSERT INTO projects (id, name, description) VALUES (%s, %s, %s)"
        peer.sql(columns, *body.values())
        settings = "INSERT INTO project_settings (project, project_mode) VALUES (%s, 'open')"
        peer.sql(settings, body["id"])
        for environment in ("development", "production"):
            wanted = {"environment": environment}
            peer.call("POST", f"/projects/{body['id']}/environments", wanted)
        return None

    def here(method: str, path: str, body: Any) -> Any:
        return call(server.address, TOKEN, f"/api/admin{path}", body, method)

    home = str(tmp_path / "home")
    with running(FLAGSTAFF, "/ready", HOME=home, BOOTSTRAP_TOKEN=TOKEN) as server:
        ends = (peer.url, script.seed(there), server.address, script.seed(here))
        time.sleep(REFRESH_SECONDS)
        assert json.loads(ask_both(*ends))["features"] == script.FEATURES + 1


def test_a_client_made_of_its_document_reads_every_answer(
    peer: Peer, admin: ApiClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    document = call(peer.url, peer.token, "/docs/openapi.json")
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    generated = ["generate", "--path", "openapi.json", "--meta", "none", "--output-path", "theirs"]
    subprocess.run([GENERATOR, *generated], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.syspath_prepend(tmp_path)
    client = importlib.import_module("theirs").Client(base_url=peer.url)
    modules = {
        file.stem.replace("_", ""): f"theirs.api.{file.parent.name}.{file.stem}"
        for file in (tmp_path / "theirs" / "api").glob("*/*.py")
    }
    unread = {}
    for operation, answer in walk(admin).answers.items():
        id = document["paths"][operation.path][operation.method.lower()]["operationId"]
        parse = importlib.import_module(modules[id.lower()])._parse_response
        given = SimpleNamespace(
            status_code=answer.status_code, text=answer.text, json=lambda got=answer: got.json
        )
        try:
            parse(client=client, response=given)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            unread[str(operation)] = repr(error)
    assert unread.keys() == {f"GET {STRATEGIES}"}  # a list, as from Unleash itself
