"""``flagstaff demo --serve``: the organisation in a folder that is gone afterwards."""

import re
import signal
import subprocess
from pathlib import Path

import pytest
import requests

from tests.support.machines import EXECUTABLE, SECONDS
from tests.support.servers import until

pytestmark = pytest.mark.slow

DEMO = (EXECUTABLE, "demo", "--serve")
PASSWORD = "five words that no one guesses"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command makes its folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_its_link_signs_in_once_and_nothing_is_left_of_it(machine, start, folder):
    server = start(command=DEMO)
    [link] = re.findall(r"with a password that you choose: (\S+)", server.log.read_text())
    with requests.Session() as browser:
        token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get(link).text)
        home = browser.post(link, {"csrf_token": token[1], "new_password": PASSWORD})
        assert {"Ada Lindqvist", "Sign out"} <= set(re.findall(r"[\w ]+", home.text))
    assert requests.get(link).status_code == 404
    assert server.end() == 0
    assert list(folder.iterdir()) == []
    assert not machine.home.exists()


def test_nothing_is_left_if_it_is_ended_before_it_serves(machine, folder):
    process = subprocess.Popen(DEMO, env=machine.environ(), stdout=subprocess.DEVNULL)
    until(lambda: any(folder.glob("*/flagstaff.db")))
    process.send_signal(signal.SIGTERM)
    assert process.wait(SECONDS) == 128 + signal.SIGTERM
    assert list(folder.iterdir()) == []
