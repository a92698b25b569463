"""What README.md shows is what happens."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.bench.servers import FLAGSTAFF, running

README = Path(__file__).parents[1].joinpath("README.md").read_text("utf-8")
TOKEN = "token-of-the-readme-test-0123456789abcdef"


def test_the_script_prints_what_stands_below_it(tmp_path: Path):
    script, printed = re.search(
        r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL
    ).groups()
    with running(FLAGSTAFF, "/ready", HOME=str(tmp_path), BOOTSTRAP_TOKEN=TOKEN) as server:
        address = {"FLAGSTAFF_URL": f"http://127.0.0.1:{server.port}", "FLAGSTAFF_TOKEN": TOKEN}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | address,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, printed), done.stderr


def test_the_walk_with_curl_goes_through_all_seven_endpoints(tmp_path: Path):
    walk = README.partition("## A first walk")[2].partition("## The API from a program")[0]
    blocks = re.findall(r"```sh\n(.*?)```", walk, re.DOTALL)
    script = "set -e\n" + "\n".join(
        block.replace("curl -sS", "curl -sS --fail-with-body") for block in blocks
    )
    with running(FLAGSTAFF, "/ready", HOME=str(tmp_path), BOOTSTRAP_TOKEN=TOKEN) as server:
        done = subprocess.run(
            ["bash", "-c", script.replace("127.0.0.1:4242", f"127.0.0.1:{server.port}")],
            env=os.environ | {"FLAGSTAFF_TOKEN": TOKEN},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"skipped":[{"id":3,"reason":"active"}]' in done.stdout
