"""User names: which are free, and which are valid.

Invisible characters and mixed scripts are refused, since such names can look alike. UTS 39 calls
this rule for scripts "highly restrictive": letters of one script, or of those that are written
together in Japanese, Korean and Chinese.
"""

import re
import unicodedata

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.models import Account, key_of
from app.core.db import db
from app.core.errors import Invalid, NameExists
from app.core.words import INVISIBLE

_WRITTEN_TOGETHER = {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}
_UNSEEN_KINDS = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_LETTERS = {"Ll", "Lo", "Lt", "Lu"}

# Also spaces in a row, which a page shows as one.
_has_unseen = re.compile(rf"[{INVISIBLE}\U000e0000-\U000e0fff]|\s{{2}}").search


def rename(account: Account, username: str | None) -> None:
    """Set the account's user name. Only a new one is checked: an old one stays valid."""
    if username is not None and username != account.username and (wrong := fault(username)):
        raise Invalid.at("/username", wrong)
    account.username = username
    account.username_key = key_of(username) if username else None


def name_taken(username: str | None) -> NameExists:
    return NameExists(f"The username {username!r} is taken. Choose another.", field="username")


def refuse_taken(account: Account) -> None:
    """Refuse a user name that is another's e-mail, and the other way round: both sign people in.

    Also refuse a taken e-mail here, since a violated constraint doesn't say which of the two is
    taken. A concurrent insert past this check is refused for its user name, which is also a 409.
    """
    if _is_taken(account.username_key, account, Account.email_key):
        message = f"The username {account.username!r} is the email of another user. Choose another."
        raise NameExists(message, field="username")
    if _is_taken(account.email_key, account, Account.email_key, Account.username_key):
        raise NameExists(f"The email {account.email!r} belongs to another user.", field="email")


def fault(username: str) -> str | None:
    """Why a user name is not valid, in words; None if it is."""
    if _has_unseen(username) or any(unicodedata.category(c) in _UNSEEN_KINDS for c in username):
        return "Use only characters that can be seen, and single spaces."
    text = unicodedata.normalize("NFKC", username)
    scripts = {_script(char) for char in text if unicodedata.category(char) in _LETTERS}
    if len(scripts) > 1 and not scripts <= _WRITTEN_TOGETHER:
        return "Use letters of one alphabet: others can look the same."
    return None


def _script(letter: str) -> str:
    """The script of a letter is the first word of its name."""
    return unicodedata.name(letter, "").partition(" ")[0]


def _is_taken(
    key: str | None, besides: Account, *columns: InstrumentedAttribute[str | None]
) -> bool:
    taken = sa.or_(*(column == key for column in columns))
    query = sa.exists().where(taken, Account.id.is_distinct_from(besides.id))
    # A flush could violate the constraint here, before the caller turns that into a refusal.
    with db.session.no_autoflush:
        return key is not None and bool(db.session.scalar(sa.select(query)))
