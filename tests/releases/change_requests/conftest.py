"""A project whose production needs two approvals, and four people in it."""

import pytest

from tests.support.change_requests import Desk, new_desk
from tests.support.clients import ApiClient
from tests.support.people import People


@pytest.fixture
def desk(admin: ApiClient, people: People) -> Desk:
    return new_desk(admin, people)
