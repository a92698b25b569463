"""Installed, served, backed up and restored on a machine that has no network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_it_lives_where_there_is_no_network(tmp_path: Path):
    if os.geteuid() != 0:
        pytest.skip("only root can take the network away")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    subprocess.run(["make", "-s", "dist"], cwd=clone, check=True)
    folder = tmp_path / "machine"
    folder.mkdir()
    script = Path(__file__).with_name("offline.py")
    words = [sys.executable, str(script), str(clone / "dist" / "wheels"), str(folder)]
    inside = f"ip link set lo up && ! ip route | grep -q . && exec {' '.join(words)}"
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", inside],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.strip()) == 64
