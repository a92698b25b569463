"""A project whose production needs two approvals, and four people in it."""

import pytest

from tests.clients import ApiClient
from tests.people import People
from tests.support.change_requests import Desk, new_desk


@pytest.fixture
def desk(admin: ApiClient, people: People) -> Desk:
    return new_desk(admin, people)
