"""Every kind of write, by everyone: none changes alone what applications get where that needs
approvals. That WRITES has every kind is shown in ``tests/web/test_dry_run.py``.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from app.core.db import db
from tests.support.approving import documents
from tests.support.clients import ApiClient
from tests.support.instances import reset_database, state_of
from tests.support.people import People
from tests.support.writes import FEATURES, ROLLOUT, WRITES, World, filled

pytestmark = pytest.mark.slow

ROLES = ("Admin", "Owner", "Member")


@pytest.fixture
def guarded(root: ApiClient, world: World) -> World:
    """The world, in which b, and child without its parent, are on where that needs approvals."""
    used = ROLLOUT | {"segments": [world["segment"]]}
    of_b = f"{FEATURES}/b/environments/production"
    first, second = (root.ok("POST", f"{of_b}/strategies", used)["id"] for _ in range(2))
    root.ok("POST", f"{FEATURES}/child/environments/production/on")
    rules = {"changeRequestsEnabled": True, "requiredApprovals": 1}
    root.ok("PUT", "/projects/shop/environments/production/change-requests/config", rules)
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


def test_no_write_changes_alone_what_applications_get(app, root, guarded, people_there):
    sdk = {"tokenName": "all", "type": "client", "environment": "production"}
    token = root.ok("POST", "/api-tokens", sdk)["secret"]
    with app.app_context():
        state = state_of(db.engine)

    def delivered() -> dict[str, Any]:
        return documents(ApiClient(app, token))

    before, refused = delivered(), 0
    assert {"b", "child"} <= before.keys()
    for role, client in people_there.items():
        for method, path, body in about_what_is_on():
            answer = client.request(method, path.format_map(guarded), json=filled(body, guarded))
            assert answer.status_code < 500, (role, method, path)
            assert delivered() == before, (role, method, path, answer.status_code)
            refused += "need 1 approval" in answer.text
            if answer.status_code < 400:
                with app.app_context():
                    reset_database(state)
    assert refused > 20
