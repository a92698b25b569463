"""Every kind of write, by everyone: none changes alone what applications get where that needs
approvals, or ends that it needs them. That WRITES has every kind is shown in
``tests/web/test_dry_run.py``.
"""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict

from app.core.db import db
from tests.support.approving import documents
from tests.support.browser import Browser, Page
from tests.support.clients import ApiClient
from tests.support.instances import reset_database, state_of
from tests.support.people import People
from tests.support.writes import FEATURES, ROLLOUT, WRITES, World, addresses, filled, forms

pytestmark = pytest.mark.slow

ROLES = ("Admin", "Owner", "Member")
SHOP = "/projects/shop/environments/production/change-requests"


@pytest.fixture
def guarded(root: ApiClient, world: World) -> World:
    """The world, in which b, and child without its parent, are on where that needs approvals."""
    used = ROLLOUT | {"segments": [world["segment"]]}
    of_b = f"{FEATURES}/b/environments/production"
    first, second = (root.ok("POST", f"{of_b}/strategies", used)["id"] for _ in range(2))
    root.ok("POST", f"{FEATURES}/child/environments/production/on")
    rules = {"changeRequestsEnabled": True, "requiredApprovals": 1}
    root.ok("PUT", f"{SHOP}/config", rules)
    return world | {"first": first, "second": second}


@pytest.fixture
def people_there(people: People, guarded: World) -> dict[str, ApiClient]:
    roles = {"Admin": people.client("boss", role="Admin")}
    return roles | {role: people.member(role.lower(), "shop", role) for role in ROLES[1:]}


def about_what_is_on() -> Iterator[tuple[str, str, Any]]:
    """Every write, those about the feature a also about b, which is on."""
    for method, path, body in WRITES:
        yield method, path, body
        if "/features/a" in path:
            other = {"feature": "parent"} if body == {"feature": "b"} else body
            yield method, path.replace("/features/a", "/features/b"), other
    yield (
        "POST",
        "/projects/shop/archive",
        {
            "features": ["parent"],
            "removeDependenciesOn": ["parent"],
        },
    )
    yield "PUT", "/segments/{segment}", {"constraints": [], "name": "Staff"}
    yield "PUT", "/projects/shop/environments", {"environments": ["development"]}
    unguarded = {"environments": ["production"], "changeRequestEnvironments": []}
    yield "PUT", "/projects/shop/environments", unguarded
    yield "PUT", f"{SHOP}/config", {"changeRequestsEnabled": False}


STOPS = "/stop"
"""Stopping a release needs no approval: see tests/releases/plans/test_approvals.py."""
Look = Callable[[], Any]
"""Reads what must stay the same."""


@pytest.fixture
def look(app: Flask, root: ApiClient, guarded: World) -> Look:
    """What applications get, and whether that needs approvals in future."""
    sdk = {"tokenName": "all", "type": "client", "environment": "production"}
    token = root.ok("POST", "/api-tokens", sdk)["secret"]

    def read() -> Any:
        project = root.ok("GET", "/projects/shop")
        rules = {rule["name"] for rule in project["changeRequestEnvironments"]}
        return documents(ApiClient(app, token)), {"production"} & {*project["environments"]} & rules

    assert read()[0].keys() >= {"b", "child"}
    return read


def test_no_write_changes_alone_what_applications_get_or_ends_approvals(
    app, guarded, people_there, look
):
    with app.app_context():
        state = state_of(db.engine)
    before, refused = look(), 0
    for role, client in people_there.items():
        for method, path, body in about_what_is_on():
            if path.endswith(STOPS):
                continue
            answer = client.request(method, path.format_map(guarded), json=filled(body, guarded))
            assert answer.status_code < 500, (role, method, path)
            assert look() == before, (role, method, path, answer.status_code)
            refused += "need 1 approval" in answer.text
            if answer.status_code < 400:
                with app.app_context():
                    reset_database(state)
    assert refused > 20


def pages(app: Flask, world: World) -> Iterator[str]:
    """Addresses of all pages, about the project and what is on in it where they can be."""
    for address in addresses(app, world):
        if not address.startswith("/api/"):
            yield address
            if "/features/b" in address:
                yield address.replace("/features/b", "/features/child")


def test_no_form_changes_alone_what_applications_get_or_ends_approvals(
    app, guarded, people_there, look
):
    before, seen, refused = look(), set[tuple[str, ...]](), 0
    for role in people_there:
        browser = Browser(app).sign_in("boss" if role == "Admin" else role.lower())
        with app.app_context():
            signed_in = state_of(db.engine)
        waiting = [browser.get(path) for path in pages(app, guarded)]
        while waiting:
            for address, button, data in about_production(waiting.pop()):
                known = role, urlsplit(address).path, button
                if known in seen or address.endswith(("/sign-out", STOPS)):
                    continue
                seen.add(known)
                answer = browser.post(address, data)
                assert answer.status < 500, known
                assert look() == before, known
                refused += "need 1 approval" in answer.text
                if answer.status == 303:
                    waiting.append(browser.get(answer.location))
                elif answer.status == 200:
                    waiting.append(answer)
                if answer.status == 303:
                    with app.app_context():
                        reset_database(signed_in)
    assert refused > 20


def about_production(page: Page) -> Iterator[tuple[str, str, MultiDict[str, str]]]:
    """Its forms. Where nothing needs approvals, pages have some that act at once."""
    for address, button, data in forms(page):
        yield address, button, data
        if "development" in address:
            yield address.replace("development", "production"), button, data
