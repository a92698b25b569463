"""Signing in with a password."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from flask import Flask

from app.access.auth import service
from app.accounts import passwords
from app.accounts.models import Account
from app.accounts.sessions.models import Session
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from tests.support.browser import Browser, Page
from tests.support.people import PASSWORD, People

REAL = passwords.hasher
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Hashes as the application's hasher does, in a thousandth of its time."""


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Let hashing and signing in take no time, except in tests that ask for ``real_passwords``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "hasher", CHEAP)
        patch.setattr(service, "STEP", timedelta(milliseconds=1))
        yield


@pytest.fixture
def real_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash as the application does."""
    monkeypatch.setattr(passwords, "hasher", REAL)


@pytest.fixture
def ada(app: Flask, people: People) -> int:
    """A person with a password, an Admin."""
    id = people.person("ada", role="Admin")
    with app.app_context(), unit_of_work(writes=True):
        account = db.session.get_one(Account, id)
        account.email = account.email_key = "ada@example.org"
    people.give_password(id)
    return id


def sign_in(browser: Browser, name: str, password: str = PASSWORD, **more: str) -> Page:
    return browser.post("/sign-in", {"name": name, "password": password, **more})


def let_time_pass(app: Flask, **span: float) -> None:
    """Let the password have been given so long ago in every session."""
    with app.app_context(), unit_of_work(writes=True):
        at = utcnow() - timedelta(**span or {"minutes": 6})
        db.session.execute(sa.update(Session).values(proved_at=at))
