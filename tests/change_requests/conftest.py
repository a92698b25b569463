"""A project whose production needs two approvals, and four people in it."""

import pytest

from tests.clients import ApiClient
from tests.people import People
from tests.support.change_requests import Desk


@pytest.fixture
def desk(admin: ApiClient, people: People) -> Desk:
    admin.ok("POST", "/projects", {"id": "pay", "name": "Pay"})
    rules = [{"name": "production", "requiredApprovals": 2}]
    body = {"environments": ["development", "production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/pay/environments", body)
    for name in ("card", "tips"):
        admin.ok("POST", "/projects/pay/features", {"name": name})
    return Desk(
        admin,
        kim=people.member("kim", "pay"),
        finn=people.member("finn", "pay"),
        sofia=people.member("sofia", "pay", "Owner"),
        rosa=people.member("rosa", "pay"),
    )
