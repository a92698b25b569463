"""Tens of thousands of requests that the API's description allows, and that it does not."""

import re
from pathlib import Path

import pytest

from tests.test_openapi import check_promises

EXAMPLES = 150
CASES = 10_000


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("role", ["Admin", "Viewer"])
def test_every_promise_of_the_description_is_kept(role: str, seed: int, tmp_path: Path):
    said = check_promises(role, tmp_path, f"--seed={seed}", examples=EXAMPLES)
    [cases] = re.findall(r"(\d+) generated", said)
    print(f"\n{role}, seed {seed}: {cases} requests")
    assert int(cases) >= CASES
