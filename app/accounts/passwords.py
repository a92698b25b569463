"""Passwords: which are accepted, and how they are stored.

The rules follow NIST SP 800-63B-4: a minimum length and a blocklist, no composition rules.
"""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from app.accounts import links
from app.accounts.models import LONGEST_PASSWORD, Account, SetupLink
from app.accounts.sessions import service as sessions
from app.accounts.tokens import service as tokens
from app.core import secrets
from app.core.actor import Actor
from app.core.errors import Conflict, Invalid, TooManyRequests, WrongPassword
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.locks import Slots

FEWEST_CHARACTERS = 5
"""Distinct characters that a password needs; with fewer it is a pattern."""

LONG = 15
"""Shorter passwords, where they are allowed, must be hard to guess."""
FEWEST_GUESSES = 10**8
"""As many as eight random characters take, by the estimate of zxcvbn."""

COMMON = ("password", "passwort", "motdepasse", "1234567", "qwertyuiop", "letmein", "flagstaff")

# OWASP's second recommendation: 46 MiB, one pass, one lane. Two hashes keep both cores of a small
# machine busy. More would only slow each other down, so further requests get a 429.
hasher = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1)
_slots = Slots("password", 2)


def share_slots(home: Path) -> None:
    """Count the slots over all processes that share this folder."""
    _slots.folder = home


@contextmanager
def hashing_slot() -> Iterator[None]:
    """Hold one of the few slots for hashing or checking a password.

    Raises:
        TooManyRequests: immediately, if none is free.

    """
    with _slots.hold() as is_free:
        if not is_free:
            raise TooManyRequests(seconds=1)
        yield


def change(
    actor: Actor,
    account: Account,
    *,
    old: str,
    new: str,
    shortest: int,
    revoke_tokens: bool = False,
) -> None:
    """Set a new password after checking the old one.

    Raises:
        WrongPassword: if the old one is wrong.

    """
    if account.password_hash is None:
        raise Conflict(
            "This account has no password to change. Ask an Admin for a link to set one. "
            "Service accounts never have a password."
        )
    wrong = WrongPassword.at("/oldPassword", "This is not your current password.")
    check(account, old, otherwise=wrong)
    _set(actor, account, new, shortest)
    if revoke_tokens:
        tokens.revoke_each(actor, account.id)


def check(account: Account, password: str, *, otherwise: WrongPassword) -> None:
    """Raise ``otherwise`` unless the password is the account's."""
    with hashing_slot():
        is_right = matches(account.password_hash, password)
    if not is_right:
        raise otherwise


def set_by_link(
    actor: Actor,
    account: Account,
    link: SetupLink,
    *,
    password: str,
    shortest: int,
    revoke_tokens: bool = False,
) -> None:
    """Set the password of an account by a link from ``links.find``."""
    links.note_use(actor, account, link)
    _set(actor, account, password, shortest)
    if revoke_tokens:
        tokens.revoke_each(actor, account.id)


def set_by_admin(actor: Actor, account: Account, *, password: str, shortest: int) -> None:
    """Set the password of someone else. Their sessions end."""
    _set(actor, account, password, shortest)


def refuse_weak(account: Account, password: str, shortest: int) -> None:
    """Refuse what ``account`` could not choose as a password."""
    if fault := _fault(account, password, shortest):
        raise Invalid.at("/password", fault)


def set_first(actor: Actor, account: Account, *, password: str, shortest: int) -> None:
    """Set the password of a new account."""
    _set(actor, account, password, shortest)


def matches(known: str | None, password: str) -> bool:
    """Whether the password has the hash ``known``. Call it while holding a ``hashing_slot``.

    None takes as long as a real hash, so that timing doesn't reveal whether an account exists.
    """
    if len(password) > LONGEST_PASSWORD:
        return False
    try:
        hasher.verify(known or _dummy_hash(), unicodedata.normalize("NFKC", password))
    except VerifyMismatchError:
        return False
    return known is not None


def _set(actor: Actor, account: Account, password: str, shortest: int) -> None:
    """``shortest``: the configured minimum length, in characters."""
    # A password that is too long isn't normalized: that can take quadratic time.
    is_short_enough = len(password) <= LONGEST_PASSWORD
    tidy = unicodedata.normalize("NFKC", password) if is_short_enough else password
    if fault := _fault(account, tidy, shortest):
        raise Invalid.at("/newPassword", fault)
    with hashing_slot():
        account.password_hash = hasher.hash(tidy)
    links.end_all([account.id])
    sessions.close_all([account.id], but=actor.session_id)
    events.record(actor, EventType.PASSWORD_CHANGED, data={"id": account.id, "name": account.label})


def _fault(account: Account, password: str, shortest: int) -> str | None:
    if len(password) > LONGEST_PASSWORD:
        return f"Use at most {LONGEST_PASSWORD} characters."
    if len(password) < shortest:
        return f"Use at least {shortest} characters. A few words make a good password."
    folded = password.casefold()
    if len(set(folded)) < FEWEST_CHARACTERS:
        return "Use more different characters."
    own = [account.username, account.name, (account.email or "").partition("@")[0]]
    rest = folded
    for word in (*COMMON, *(part.casefold() for part in own if part)):
        rest = rest.replace(word, "")
    if len(rest) < min(shortest, len(folded)) // 2:
        return "This is easy to guess: it is mostly common words or your own name."
    if len(password) < LONG:
        from zxcvbn import zxcvbn  # noqa: PLC0415 - 14 MB of words, which few instances need

        known = [*COMMON, *own, *(account.name or "").split()]
        if zxcvbn(password, known)["guesses"] < FEWEST_GUESSES:
            return "This is easy to guess. Make it longer: a few words make a good password."
    return None


@cache
def _dummy_hash() -> str:
    return hasher.hash(secrets.generate())
