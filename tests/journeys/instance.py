"""A Flagstaff to walk about in: a real server on SQLite, with the demo's organisation in it."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import count
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, BrowserContext

from tests.journeys.written import await_written
from tests.support.clients import extended
from tests.support.imports import BUSY
from tests.support.machines import Within
from tests.support.nginx import nginx
from tests.support.processes import FLAGSTAFF, Server, free_port, running
from tests.support.unleash import sample

THROUGH_NGINX = "JOURNEYS_THROUGH_NGINX" in os.environ
PASSWORD = "four words that no one guesses"
ADMIN, COLLEAGUE, VIEWER = "ada.lindqvist", "tomas.herrera", "vera.lind"
CHECKOUT = "/projects/checkout"
DEMO = ["development", "staging", "production"]
PARTS = ("banner", "basket", "coupons", "delivery", "footer", "gift-note", "header", "invoice")
CHANGES = ("ab-test", "cache", "redesign", "v2", "rate-limit", "staff-only", "off", "early-access")


class Instance:
    """A server with its files; ``token`` is that of a colleague who is an Admin too.

    ``address`` is for programs, ``pages`` for browsers; these come through nginx if they are to.
    """

    def __init__(self, address: str, pages: str, home: Path, token: str) -> None:
        self.address = address
        self.pages = pages
        self.home = home
        self.token = token
        self._numbers = count(1)
        self._cookies: dict[str, Any] = {}

    def api(self, method: str, path: str, body: Any = None) -> Any:
        """What the API answers, with all fields; it must not refuse."""
        request = Request(
            extended(f"{self.address}/api/admin{path}"),
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": self.token, "Content-Type": "application/json"},
        )
        with urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def project(self, features: int = 0, *, name: str = "Night shop", **about: Any) -> str:
        """The id of a new project with so many features.

        Without others it has the environments of the demo, whatever other journeys created.
        """
        number = next(self._numbers)
        id = name.lower().replace(" ", "-") + (f"-{number}" if number > 1 else "")
        self.api("POST", "/projects", {"id": id, "name": name, "environments": DEMO, **about})
        for feature in names(features, id):
            self.api("POST", f"/projects/{id}/features", {"name": feature})
        return id

    def tag(self, project: str, tag: str, *features: str) -> None:
        self._change_tags(project, features, added=[tag])

    def untag(self, project: str, tag: str, *features: str) -> None:
        self._change_tags(project, features, removed=[tag])

    def tie(self, project: str, child: str, parent: str) -> None:
        path = f"/projects/{project}/features/{child}/dependencies"
        self.api("POST", path, {"feature": parent})

    def tags(self, project: str, feature: str) -> set[str]:
        row = self.api("GET", f"/projects/{project}/features/{feature}")
        return {f"{tag['type']}:{tag['value']}" for tag in row["tags"]}

    def is_on(self, project: str, feature: str, environment: str = "development") -> bool:
        path = f"/projects/{project}/features/{feature}/environments/{environment}"
        return bool(self.api("GET", path)["enabled"])

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The demo's features of the project Checkout."""
        rows: list[dict[str, Any]] = self.api("GET", f"{CHECKOUT}/features")["features"]
        return rows

    @property
    def parent(self) -> str:
        return str(next(row["name"] for row in self.rows if row["children"]))

    @property
    def child(self) -> str:
        return str(next(row["name"] for row in self.rows if row["dependencies"]))

    def next_number(self) -> int:
        """A number that is used only once."""
        return next(self._numbers)

    def absent(self, number: int, days: int = 300, **about: Any) -> list[str]:
        """The user names of so many new people who did not sign in for so long."""
        made = [f"absent-{next(self._numbers)}" for _ in range(number)]
        for username in made:
            self.api("POST", "/user-admin", {"username": username, "rootRole": 3, **about})
            self._seen(username, created=timedelta(days=days + 100), signed_in=timedelta(days=days))
        return made

    def come_back(self, username: str) -> None:
        """Record that this user signed in just now."""
        self._seen(username, created=timedelta(days=400), signed_in=timedelta())

    def age(self, project: str, days: int) -> None:
        """Let the features of a project be so old, and as they are for so long."""
        then = str(datetime.now(UTC).replace(tzinfo=None) - timedelta(days=days))
        inside = "(SELECT id FROM features WHERE project_id = ?)"
        self._execute("UPDATE features SET created_at = ? WHERE project_id = ?", then, project)
        states = f"UPDATE feature_states SET changed_at = ? WHERE feature_id IN {inside}"
        self._execute(states, then, project)

    def use(self, project: str, environment: str) -> None:
        """Let an application have asked for the features of a project a while ago."""
        then = str(datetime.now(UTC).replace(tzinfo=None) - timedelta(days=1))
        self._execute(
            "INSERT INTO feature_seen (feature_id, environment, first_seen_at, last_seen_at) "
            "SELECT id, ?, ?, ? FROM features WHERE project_id = ?",
            *(environment, then, then, project),
        )

    def link(self, username: str) -> str:
        """The path of a link with which this user sets a new password."""
        return "/set-up/" + command(self.home, "user", "reset-password", username).split("/")[-1]

    def context(self, browser: Browser, who: str | None = ADMIN, **options: Any) -> BrowserContext:
        """A browser window in which this user is signed in (None: no one)."""
        if who is not None and who not in self._cookies:
            with self._window(browser) as context:
                page = context.new_page()
                page.goto(self.link(who))
                page.get_by_label("New password").fill(PASSWORD)
                tokens = page.get_by_label("Also revoke")  # if they have any
                if tokens.count():
                    tokens.uncheck()
                page.get_by_role("button", name="Set password").click()
                page.get_by_role("link", name="Home").wait_for()
                self._cookies[who] = context.storage_state()
        self.let_password_be_given(datetime.now(UTC))
        state = self._cookies[who] if who else None
        return self._window(browser, storage_state=state, **options)

    def _window(self, browser: Browser, **options: Any) -> BrowserContext:
        context = browser.new_context(base_url=self.pages, ignore_https_errors=True, **options)
        context.set_default_timeout(10_000)
        return context

    def let_password_be_given(self, at: datetime) -> None:
        """When that was in every session: lately, or so long ago that it is asked for again."""
        self._execute("UPDATE sessions SET proved_at = ?", str(at.replace(tzinfo=None)))

    def _seen(self, username: str, *, created: timedelta, signed_in: timedelta) -> None:
        now = datetime.now(UTC).replace(tzinfo=None)
        change = "UPDATE accounts SET created_at = ?, last_sign_in_at = ? WHERE username = ?"
        self._execute(change, str(now - created), str(now - signed_in), username)

    def _execute(self, statement: str, *values: str) -> None:
        with closing(sqlite3.connect(self.home / "flagstaff.db", timeout=30)) as file, file:
            file.execute(statement, values)

    def _change_tags(
        self,
        project: str,
        features: tuple[str, ...],
        added: list[str] | None = None,
        removed: list[str] | None = None,
    ) -> None:
        tags = {"addedTags": _as_json(added), "removedTags": _as_json(removed)}
        self.api("PUT", f"/projects/{project}/tags", {"features": features, "tags": tags})


def names(number: int, project: str) -> list[str]:
    """So many names of features of the project, sorted; no two projects share any."""
    made = [f"{project}.{part}.{change}" for part in PARTS for change in CHANGES]
    return sorted(made[:number])


@contextmanager
def furnished(home: Path, demo: Path | None = None) -> Iterator[Instance]:
    """A server with the demo's organisation, one Viewer without a project, and some leftovers.

    ``demo``: a folder that has the demo already, to be copied.
    """
    if demo is None:
        command(home, "demo")
    else:
        copytree(demo, home, dirs_exist_ok=True)
    command(home, "user", "create", "--username", VIEWER, "--name", "Vera Lind")
    token = command(home, "token", "create", COLLEAGUE, "--description", "to prepare")
    with reachable(home) as (server, pages):
        instance = Instance(server.address, pages, home, token)
        instance.api("POST", "/projects", {"id": "empty", "name": "Empty"})
        instance.api("POST", "/projects", {"id": "retired", "name": "Retired"})
        instance.api("DELETE", "/projects/retired")
        prepare_imports(instance)
        yield instance


def prepare_imports(instance: Instance) -> None:
    """One that waits for decisions, one that is done, and one that could not be read."""
    content = sample("export-8.2.0")
    small = {"features": [{"name": "moved.basket", "project": "empty"}]}
    planned = instance.api("POST", "/imports", {"content": content})
    import_features(instance, small)
    gone = {"url": "http://127.0.0.1:9", "token": "none"}
    instance.api("POST", "/imports", gone)
    assert planned["id"] == 1


def import_features(instance: Instance, content: dict[str, Any]) -> None:
    """Take over what an exported file holds."""
    path = f"/imports/{instance.api('POST', '/imports', {'content': content})['id']}"

    def has_settled() -> bool:
        return instance.api("GET", path)["state"] not in BUSY

    await_written(has_settled)
    digest = instance.api("GET", path)["plan"]["digest"]
    instance.api("POST", f"{path}/apply", {"digest": digest})
    await_written(has_settled)


@contextmanager
def reachable(home: Path, **options: Any) -> Iterator[tuple[Server, str]]:
    """A server, and the address at which browsers find it."""
    with ExitStack() as stack:
        port, front = free_port(), None
        if THROUGH_NGINX:
            front = stack.enter_context(nginx(home.with_name("nginx"), port))
        settings = front.settings if front else {}
        # Nothing listens there.
        nowhere = "http://127.0.0.1:9"
        options = {"WEBHOOK_HOSTS": nowhere, "IMPORT_HOSTS": nowhere, **options}
        server = stack.enter_context(
            running(FLAGSTAFF, "/ready", port=port, HOME=str(home), **(options | settings))
        )
        yield server, front.address if front else server.address


def command(home: Path, *words: str) -> str:
    """What the command ``flagstaff`` prints."""
    return Within(home).ok(*words)


def _as_json(tags: list[str] | None) -> list[dict[str, str]]:
    pairs = (tag.split(":") for tag in tags or [])
    return [{"type": type, "value": value} for type, value in pairs]
