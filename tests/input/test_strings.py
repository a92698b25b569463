"""Strings that programs choke on: each is refused, or stored and read back as it was sent."""

import pytest

from tests.input.corpora import OURS, strings
from tests.input.homes import HOMES, client_of, verdict

EVERY_NTH = 9
"""Some of the collected strings and all in OURS; the rest are for the soak tests."""


@pytest.fixture
def some() -> list[str]:
    return [*strings()[: -len(OURS) : EVERY_NTH], *OURS]


@pytest.mark.slow
def test_a_string_is_refused_or_read_back_and_the_databases_agree(twins, some):
    clients = [client_of(app) for app in twins]
    for number, text in enumerate(some):
        home = HOMES[number % len(HOMES)]
        first, second = (verdict(client, ids, home, text) for client, ids in clients)
        assert first == second, (home, ascii(text[:80]))
