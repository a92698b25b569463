"""The figures for Prometheus: what they count, and who gets them."""

import re
from datetime import UTC, datetime, timedelta
from importlib.metadata import version

import pytest
import time_machine
from flask import Flask

from app.core.config import from_environment
from app.core.secrets import create_proof

ELSEWHERE = {"REMOTE_ADDR": "192.0.2.7"}


def figures(text: str) -> dict[str, float]:
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def read(app: Flask) -> dict[str, float]:
    answer = app.test_client().get("/metrics")
    assert answer.status_code == 200
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    return figures(answer.text)


def test_requests_are_counted_by_face_and_by_how_they_ended(app, admin, visitor):
    before = read(app)
    admin.get("/user")
    admin.get("/projects/nowhere")
    visitor.get("/sign-in")
    after = read(app)
    for what, more in (
        ('flagstaff_requests_total{face="api",status="2xx"}', 2),  # and the look before
        ('flagstaff_requests_total{face="api",status="4xx"}', 1),
        ('flagstaff_requests_total{face="page",status="2xx"}', 1),
        ('flagstaff_request_seconds_count{face="page"}', 1),
    ):
        assert after[what] - before.get(what, 0) == more, what


def test_version_and_readiness_are_shown(app):
    found = read(app)
    assert found[f'flagstaff_info{{version="{version("flagstaff")}"}}'] == 1
    assert found["flagstaff_ready"] == 1


def test_nothing_in_them_names_a_person_a_project_or_an_address(app, admin):
    admin.get("/projects/top-secret")
    text = app.test_client().get("/metrics").text
    assert "top-secret" not in text
    assert not re.search(r"\d+\.\d+\.\d+\.\d+", text)


def test_from_elsewhere_a_valid_token_is_needed(app, viewer):
    client = app.test_client()
    assert client.get("/metrics", environ_base=ELSEWHERE).status_code == 401
    for sent in (viewer.token, f"Bearer {viewer.token}"):
        answer = client.get("/metrics", headers={"Authorization": sent}, environ_base=ELSEWHERE)
        assert answer.status_code == 200
    wrong = {"Authorization": "fst_pat_" + "x" * 43}
    assert client.get("/metrics", headers=wrong, environ_base=ELSEWHERE).status_code == 401


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({"BASE_URL": "https://flags.example.org"}, 401),
        ({"BASE_URL": "https://flags.example.org", "TRUSTED_PROXY": "127.0.0.1"}, 200),
        ({}, 200),
    ],
    ids=["a proxy that is not trusted", "one that is", "no proxy"],
)
def test_a_client_behind_an_untrusted_proxy_is_not_taken_for_this_machine(
    app, monkeypatch, settings, status
):
    environ = {f"FLAGSTAFF_{name}": value for name, value in settings.items()}
    monkeypatch.setitem(app.config, "SETTINGS", from_environment(environ))
    assert app.test_client().get("/metrics").status_code == status


def test_what_arrived_is_shown_only_with_the_key(app):
    client = app.test_client()
    for sent in (
        "",
        "x",
        create_proof("another key"),
        create_proof(app.config["SECRET_KEY"]) + "x",
    ):
        assert client.post("/arrival", headers={"Authorization": sent}).status_code == 404
    sent = create_proof(app.config["SECRET_KEY"])
    answer = client.post("/arrival", headers={"Authorization": sent}, environ_base=ELSEWHERE)
    assert answer.get_json() == {
        "scheme": "http",
        "host": "localhost",
        "prefix": "",
        "path": "/arrival",
        "client": "192.0.2.7",
        "forwardedFor": None,
        "user": None,
        "body": 0,
    }


def test_its_proof_is_worth_something_for_a_minute(app):
    with time_machine.travel(datetime.now(UTC) - timedelta(seconds=62)):
        sent = create_proof(app.config["SECRET_KEY"])
    answer = app.test_client().post("/arrival", headers={"Authorization": sent})
    assert answer.status_code == 404
