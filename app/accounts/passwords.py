"""Passwords of people: what is accepted, how they are kept, and setting the first one by a link.

The rules are NIST SP 800-63B-4: length and a list of bad ones, no rules of composition.
"""

import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from app.accounts.models import LONGEST_PASSWORD, Account, SetupLink
from app.core import secrets
from app.core.actor import Actor
from app.core.db import db, save, utcnow
from app.core.errors import Conflict, Invalid, NotFound, TooManyRequests, WrongPassword
from app.events import service as events
from app.events.models import EventType
from app.sessions import service as sessions

LINK_VALID = timedelta(hours=48)
FEWEST_CHARACTERS = 5
"""Different ones; below that it is a pattern, not a password."""

COMMON = ("password", "passwort", "motdepasse", "1234567", "qwertyuiop", "letmein", "flagstaff")

# OWASP's second choice: 46 MiB, one pass, one lane. Two at once keep both cores of a small
# machine busy; more would only make everybody wait, so they are asked to come again.
_hasher = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1)
_at_once = threading.BoundedSemaphore(2)


@contextmanager
def turn() -> Iterator[None]:
    """One of the few that may work with passwords at a time.

    Raises:
        TooManyRequests: at once, when all are taken.

    """
    if not _at_once.acquire(blocking=False):
        raise TooManyRequests(seconds=1)
    try:
        yield
    finally:
        _at_once.release()


def change(actor: Actor, account: Account, *, old: str, new: str, shortest: int) -> None:
    """Set a new password for somebody who knows the old one.

    Raises:
        WrongPassword: for whom does not.

    """
    if account.password_hash is None:
        raise Conflict(
            "This account has no password to change. An Admin can give you a set-up link; "
            "service accounts never have one."
        )
    wrong = WrongPassword.at("/oldPassword", "This is not your present password.")
    check(account, old, otherwise=wrong)
    _set(actor, account, new, shortest)


def check(account: Account, password: str, *, otherwise: WrongPassword) -> None:
    """Go on only if the password is the account's."""
    with turn():
        is_right = fits(account.password_hash, password)
    if not is_right:
        raise otherwise


def make_link(account: Account) -> str:
    """The path of a new one-time link for a password; links made before stop working."""
    _forget_links(account)
    secret = secrets.generate()
    link = SetupLink(
        account_id=account.id, digest=secrets.digest(secret), expires_at=utcnow() + LINK_VALID
    )
    save(link)
    return f"/set-up/{secret}"


def account_of_link(secret: str) -> Account:
    """Whose password the link may set.

    Raises:
        NotFound: unknown, used and expired alike.

    """
    query = (
        sa.select(Account)
        .join(SetupLink)
        .where(
            SetupLink.digest == secrets.digest(secret),
            SetupLink.expires_at > utcnow(),
            Account.deleted_at.is_(None),
        )
        .with_for_update(of=SetupLink)
    )
    account = db.session.scalar(query)
    if account is None:
        raise NotFound("This link is unknown, used or expired. An Admin can make a new one.")
    return account


def set_by_link(actor: Actor, account: Account, *, password: str, shortest: int) -> None:
    """Set the password of the account that a link named; no link of it works after that."""
    _set(actor, account, password, shortest)
    _forget_links(account)


def set_first(actor: Actor, account: Account, *, password: str, shortest: int) -> None:
    """Set the password of an account that has just been made."""
    _set(actor, account, password, shortest)


def fits(known: str | None, password: str) -> bool:
    """Whether the password is the one whose hash is ``known``; to be asked in a ``turn``.

    With None the work is the same: how long it takes must not tell whether an account exists.
    """
    if len(password) > LONGEST_PASSWORD:
        return False
    try:
        _hasher.verify(known or _of_nobody(), unicodedata.normalize("NFKC", password))
    except VerifyMismatchError:
        return False
    return known is not None


def _set(actor: Actor, account: Account, password: str, shortest: int) -> None:
    """``shortest`` is the operator's least length, in characters."""
    # What is too long anyway is not normalised, which may take the square of its length.
    fits_in = len(password) <= LONGEST_PASSWORD
    tidy = unicodedata.normalize("NFKC", password) if fits_in else password
    if fault := _fault(account, tidy, shortest):
        raise Invalid.at("/newPassword", fault)
    with turn():
        account.password_hash = _hasher.hash(tidy)
    sessions.close_all([account.id], but=actor.session_id)
    events.record(actor, EventType.PASSWORD_CHANGED, data={"id": account.id, "name": account.label})


def _fault(account: Account, password: str, shortest: int) -> str | None:
    if len(password) > LONGEST_PASSWORD:
        return f"Use at most {LONGEST_PASSWORD} characters."
    if len(password) < shortest:
        return f"Use at least {shortest} characters; a few words make a good password."
    folded = password.casefold()
    if len(set(folded)) < FEWEST_CHARACTERS:
        return "Use more different characters."
    own = [account.username, account.name, (account.email or "").partition("@")[0]]
    rest = folded
    for word in (*COMMON, *(part.casefold() for part in own if part)):
        rest = rest.replace(word, "")
    if len(rest) < min(shortest, len(folded)) // 2:
        return "This is easily guessed: it is mostly common words or your own name."
    return None


@cache
def _of_nobody() -> str:
    return _hasher.hash(secrets.generate())


def _forget_links(account: Account) -> None:
    db.session.execute(sa.delete(SetupLink).where(SetupLink.account_id == account.id))
