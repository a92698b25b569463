"""No request that reads asks the database the same thing twice."""

from collections.abc import Iterator

import pytest
from flask import Flask, url_for

from tests.support.browser import Browser
from tests.support.statements import reads
from tests.support.writes import World

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]


def addresses(app: Flask, world: World) -> Iterator[str]:
    """Addresses of all pages and of all routes of the API that read, about what is there."""
    known = {
        "project_id": "shop",
        "name": "b",
        "environment": "production",
        "strategy": world["first"],
        "account_id": world["person"],
        "segment_id": world["segment"],
        "field": "plan",
        "import_id": world["planned"],
    }
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            if "GET" in rule.methods and not rule.alias:
                yield url_for(rule.endpoint, **{n: known.get(n, 1) for n in rule.arguments})


def test_nothing_is_read_twice(app, root, world):
    browser, looked_at, twice = Browser(app).sign_in("root"), 0, {}
    for address in addresses(app, world):
        is_api = address.startswith("/api")
        if is_api and not address.startswith("/api/admin"):
            continue  # what applications read comes from memory
        path = address.removeprefix("/api/admin")
        for _ in range(2):  # the first may note that a token or a session is used
            with reads(app) as counts:
                status = root.get(path).status_code if is_api else browser.get(path).status
        if status == 200:
            looked_at += 1
            if repeated := [statement for statement, n in counts.items() if n > 1]:
                twice[address] = repeated
    assert twice == {}
    assert looked_at > 120
