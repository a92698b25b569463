"""Tens of thousands of requests that the API's description allows, and that it does not."""

import re

import pytest

from tests.support.machines import Machine
from tests.support.promises import MEMBER, ROLES, check_promises

EXAMPLES = 150
CASES = 10_000


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("role", [*ROLES, MEMBER])
def test_every_promise_of_the_description_is_kept(role: str, seed: int, larkspur: Machine):
    options = ("--phases=coverage,fuzzing", f"--seed={seed}")
    said = check_promises(role, larkspur, *options, examples=EXAMPLES)
    [cases] = re.findall(r"(\d+) generated", said)
    print(f"\n{role}, seed {seed}: {cases} requests")
    assert int(cases) >= CASES
