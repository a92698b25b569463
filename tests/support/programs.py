"""Programs that use the official SDKs, each a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SDKS = Path(__file__).parents[1] / "sdks"
COMMANDS = {"node": ("node", "{}.mjs"), "python": (sys.executable, "{}.py")}
SECONDS = 60


@pytest.fixture(scope="session")
def sdks() -> dict[str, list[str]]:
    """How to start a program, by language; the name of the program is to follow.

    Skips where Node is missing, except in CI.
    """
    if not (SDKS / "node_modules").is_dir() and "CI" not in os.environ:
        pytest.skip("the SDK for Node needs Node 20 with npm; then: npm ci --prefix tests/sdks")
    assert shutil.which("node")
    return {language: [*command] for language, command in COMMANDS.items()}


def run(sdks: dict[str, list[str]], language: str, program: str, job: dict[str, Any]) -> Any:
    """What a program prints for a job, as JSON."""
    executable, file = sdks[language]
    done = subprocess.run(
        [executable, str(SDKS / file.format(program))],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
