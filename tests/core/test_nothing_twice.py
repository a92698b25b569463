"""No request asks the same thing twice, unless it wrote or locked something between.

Except for the segments of strategies: strategies that may have changed are read again by their
environment, and with them their segments.
"""

from collections import Counter

import pytest

from app.core.db import db
from tests.support.browser import Browser
from tests.support.instances import reset_database, state_of
from tests.support.statements import reads
from tests.support.writes import WRITES, addresses, filled, forms

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]


def repeated(counts: Counter[tuple[int, str, str]]) -> list[str]:
    return [
        text
        for (_, text, _), number in counts.items()
        if number > 1 and "FROM strategy_segments JOIN" not in text
    ]


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
            anywhere = Counter((0, *key[1:]) for key in counts.elements())
            if found := repeated(anywhere):
                twice[address] = found
    assert twice == {}
    assert looked_at > 120


def test_no_route_that_writes_reads_twice(app, root, world):
    with app.app_context():
        state = state_of(db.engine)
    twice = {}
    for method, path, body in WRITES:
        with reads(app) as counts:
            root.ok(method, path.format_map(world), filled(body, world))
        if found := repeated(counts):
            twice[method, path] = found
        with app.app_context():
            reset_database(state)
    assert twice == {}


def test_no_form_reads_twice(app, root, world):
    browser, sent, twice = Browser(app).sign_in("root"), 0, {}
    with app.app_context():
        state = state_of(db.engine)
    for page in [browser.get(path) for path in addresses(app, world) if path[:5] != "/api/"]:
        for address, button, data in forms(page):
            if address.endswith("/sign-out"):
                continue
            sent += 1
            with reads(app) as counts:
                browser.post(address, data)
            if found := repeated(counts):
                twice[address, button] = found
            with app.app_context():
                reset_database(state)
    assert twice == {}
    assert sent > 100
