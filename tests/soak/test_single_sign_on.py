"""Single sign-on behind nginx with TLS, on a sub-path, with four processes."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests

from tests.soak.test_proxy import doctor
from tests.support.machines import Machine
from tests.support.nginx import Front, is_there, nginx
from tests.support.oidc import SECRET, OidcProvider
from tests.support.processes import FLAGSTAFF, free_port, running

SECONDS = 20

pytestmark = pytest.mark.skipif(not is_there(), reason="needs nginx: apt-get install nginx")


@pytest.fixture
def front(machine: Machine, tmp_path: Path, one_provider: OidcProvider) -> Iterator[Front]:
    port = free_port()
    with nginx(tmp_path / "nginx", port) as front:
        one_provider.tell(address=front.address)
        settings = front.settings | {
            "HOME": str(machine.home),
            "PROCESSES": "4",
            "OIDC_ISSUER": one_provider.issuer,
            "OIDC_CLIENT_ID": "flagstaff",
            "OIDC_CLIENT_SECRET": SECRET,
            "SIGN_ON_CREATE": "all",
            "SIGN_ON_HEADER": "X-Remote-User",
        }
        machine.settings |= settings
        with running(FLAGSTAFF, "/ready", port=port, **settings):
            yield front


def test_someone_signs_in_and_out_of_both(front, tmp_path):
    with requests.Session() as browser:
        browser.trust_env = False  # where another certificate may be named
        browser.verify = str(tmp_path / "nginx" / "pem")
        page = browser.get(f"{front.address}/sign-in/provider?next=/projects", timeout=SECONDS)
        form = re.search(r'action="([^"]+)"', page.text)
        assert form is not None, page.text
        typed = {"prompt": "login", "login": "kim", "password": "any"}
        page = browser.post(urljoin(page.url, form[1]), typed, timeout=SECONDS)
        assert page.url == f"{front.address}/projects"
        assert "This is your first sign-in." in page.text
        [cookie] = [each for each in browser.cookies if each.name.endswith("flagstaff")]
        assert (cookie.secure, cookie.path) == (True, "/flags")
        for _ in range(8):  # whichever process answers
            assert browser.get(f"{front.address}/account", timeout=SECONDS).status_code == 200
        token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
        assert token is not None
        page = browser.post(
            f"{front.address}/sign-out",
            {"csrf_token": token[1]},
            headers={"Referer": f"{front.address}/projects"},
            timeout=SECONDS,
        )
        there = re.search(r'href="([^"]+/session/end[^"]+)"', page.text)
        assert there is not None, page.text
        page = browser.get(there[1].replace("&amp;", "&"), timeout=SECONDS)
        assert "sign-out" in page.text.lower()


def test_the_doctor_finds_a_header_that_clients_can_send(front, machine, tmp_path):
    found = doctor(machine, front, tmp_path / "nginx")
    assert any("anyone can sign in as anyone" in one["says"] for one in found), found
