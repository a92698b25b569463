"""Forms without a valid token: they fill no disk, and don't wait for those who write."""

import sqlite3
import time
from collections import Counter

from tests.soak.attempts import Attacker, person
from tests.soak.load import Load

PASSWORD = "four words that no one guesses"
SENT = 1_000
SECONDS = 60
MOST_KEPT = 1_000_000
"""Bytes."""


def test_a_viewer_who_sends_large_forms_for_a_minute_fills_no_disk(start, machine):
    server = start()
    person(server, "vera", PASSWORD)
    with Attacker(server) as vera:
        assert vera.attempt("vera", PASSWORD) == (303, None)
        end, statuses = time.monotonic() + SECONDS, Counter[int]()
        while time.monotonic() < end:
            for size in (900_000, 60_000):
                statuses[vera.send("/new-saved-filter", {"name": "x" * size})] += 1
    kept = "SELECT coalesce(sum(length(fields)), 0) FROM kept_forms"
    with sqlite3.connect(machine.home / "flagstaff.db") as database:
        [total] = database.execute(kept).fetchone()
    print("forms that were sent:", statuses, "bytes that were kept:", total)
    assert statuses.keys() == {400}
    assert 0 < total <= MOST_KEPT


def test_forms_that_only_read_never_wait_for_those_who_write(start):
    server = start()
    person(server, "vera", PASSWORD)
    statuses: Counter[int] = Counter()
    with Attacker(server) as vera, Load(server, clients=2) as load:
        assert vera.attempt("vera", PASSWORD) == (303, None)
        for _ in range(SENT):
            statuses[vera.send("/projects/default/strategy-sentence", {"name": "default"})] += 1
    print("answers to forms:", statuses, "to those who write:", load.statuses)
    assert statuses == {400: SENT}
    assert load.statuses.keys() == {201}
