"""A real OpenID Connect provider: oidc-provider, with its own sign-in page."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import pytest
import requests
from flask import Flask

from app.access.sign_on.provider import Provider
from app.core.config import Settings
from tests.support.browser import Browser, Page
from tests.support.processes import free_port

SDKS = Path(__file__).parent.parent / "sdks"
SECRET = "a-secret+of%the~tests"
KIM = {
    "name": "Kim Park",
    "email": "kim@example.org",
    "email_verified": True,
    "preferred_username": "kim",
    "groups": ["devs"],
}
SECONDS = 10
TRIES = 3


class OidcProvider:
    """``people``: what it says about each, by the name that they sign in with.

    ``fault``: what is wrong with the next ID tokens, as provider.mjs names it.
    """

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.issuer = f"http://127.0.0.1:{self.port}"
        self._state = folder / "state.json"
        self._known: dict[str, Any] = {}
        self.tell()
        self._known = self._read()["client"]
        said = ""
        for _ in range(TRIES):
            said = self._start()
            if "ready" in said:
                return
        raise AssertionError(said)

    def _start(self) -> str:
        """What it prints until it is ready, or until it has ended."""
        words = ["node", "provider.mjs", str(self.port), str(self._state)]
        self._process = subprocess.Popen(
            words, cwd=SDKS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._process.stdout is not None
        # Node was once seen to wait for itself while it loaded its modules, without an end.
        hanging = Timer(SECONDS, self._process.kill)
        hanging.start()
        lines = []
        while line := self._process.stdout.readline():
            lines.append(line)
            if "ready" in line:
                break
        hanging.cancel()
        return "".join(lines)

    def tell(
        self,
        people: dict[str, dict[str, Any]] | None = None,
        *,
        address: str = "http://127.0.0.1:4242",
        fault: str | None = None,
        in_id_token: bool = False,
    ) -> None:
        """What it says from now on. ``address``: where Flagstaff is; another means new keys too."""
        state = {
            "client": {
                "client_id": "flagstaff",
                "client_secret": SECRET,
                "redirect_uris": [f"{address}/sign-in/callback"],
                "post_logout_redirect_uris": [f"{address}/sign-in"],
                "backchannel_logout_uri": f"{address}/sign-in/back-channel",
                "backchannel_logout_session_required": True,
            },
            "people": {"kim": KIM} if people is None else people,
            "fault": fault,
            "inIdToken": in_id_token,
        }
        self._write(state)
        if self._known not in ({}, state["client"]):  # one of the test before
            self.rotate()

    def listen(self, back_channel: str) -> None:
        """Have it tell this address of the end of sessions; it knows after ``rotate``."""
        state = self._read()
        state["client"]["backchannel_logout_uri"] = back_channel
        self._write(state)

    def _read(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._state.read_text())
        return found

    def _write(self, state: dict[str, Any]) -> None:
        made = self._state.with_suffix(".new")
        made.write_text(json.dumps(state))
        made.replace(self._state)

    def sign(self, claims: dict[str, Any]) -> str:
        """Any token that the provider could make."""
        asked = f"{self.issuer}/sign?{quote(json.dumps(claims))}"
        return requests.get(asked, timeout=SECONDS).text

    def rotate(self) -> None:
        """Sign with a new key from now on, and read the client again."""
        requests.get(f"{self.issuer}/rotate", timeout=SECONDS)
        self._known = self._read()["client"]

    def end(self) -> None:
        self._process.terminate()
        self._process.wait(SECONDS)
        if self._process.stdout is not None:
            self._process.stdout.close()

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "oidc_issuer": self.issuer,
            "oidc_client_id": "flagstaff",
            "oidc_client_secret": SECRET,
            "oidc_scopes": "openid profile email groups",
            "sign_on_name": "Example Org",
        }


class There:
    """A browser as the provider sees it: with its own cookies there."""

    def __init__(self) -> None:
        self._session = requests.Session()

    def sign_in(self, address: str, name: str) -> str:
        """Go to the address, sign in if asked to, and return where the provider sends the browser.

        That is the path and the query of Flagstaff's callback.
        """
        answer = self._session.get(address, allow_redirects=False, timeout=SECONDS)
        for _ in range(10):
            if answer.is_redirect:
                target = urlsplit(urljoin(answer.url, answer.headers["Location"]))
                if target.path.endswith("/sign-in/callback"):
                    return f"{target.path}?{target.query}"
                answer = self._session.get(target.geturl(), allow_redirects=False, timeout=SECONDS)
                continue
            form = re.search(r'action="([^"]+)"', answer.text)
            assert form is not None, answer.text
            data = {"prompt": "login", "login": name, "password": "any"}
            answer = self._session.post(
                urljoin(answer.url, form[1]), data, allow_redirects=False, timeout=SECONDS
            )
        raise AssertionError("the provider goes round in circles")

    def sign_out(self, address: str) -> None:
        """Go to the address, and agree to sign out."""
        answer = self._session.get(address, timeout=SECONDS)
        xsrf = re.search(r'name="xsrf" value="([^"]+)"', answer.text)
        action = re.search(r'action="([^"]+)"', answer.text)
        assert xsrf is not None, answer.text
        assert action is not None, answer.text
        data = {"xsrf": xsrf[1], "logout": "yes"}
        target = urljoin(answer.url, action[1])
        self._session.post(target, data, allow_redirects=False, timeout=SECONDS)


def change_settings(app: Flask, **settings: Any) -> None:
    """Let the application run with other settings from now on."""
    changed: Settings = replace(app.config["SETTINGS"], **settings)
    app.config["SETTINGS"] = changed
    app.extensions["flagstaff.provider"] = Provider(changed)


def go_there(browser: Browser, there: There, name: str, path: str = "/sign-in/provider") -> Page:
    """Sign in at the provider and come back, to the page that Flagstaff answers with."""
    away = browser.client.get(path)
    assert away.status_code == 302, away.text
    return browser.get(there.sign_in(away.headers["Location"], name))


@pytest.fixture(scope="session")
def one_provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OidcProvider]:
    if shutil.which("node") is None or not (SDKS / "node_modules/oidc-provider").exists():
        pytest.skip("needs Node and npm: install them, then make .venv/sdks")
    provider = OidcProvider(tmp_path_factory.mktemp("provider"))
    yield provider
    provider.end()


@pytest.fixture
def provider(app: Flask, one_provider: OidcProvider) -> Iterator[OidcProvider]:
    """The provider, which the application uses."""
    before = app.config["SETTINGS"]
    one_provider.tell()
    change_settings(app, **one_provider.settings)
    yield one_provider
    change_settings(app, **{name: getattr(before, name) for name in one_provider.settings})
    app.config["SETTINGS"] = before
    app.extensions["flagstaff.provider"] = Provider(before)
