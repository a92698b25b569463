"""People whom the organisation’s directory manages, by SCIM: it decides who they are."""

from collections.abc import Mapping
from typing import Any

from app.accounts.models import Account
from app.core.errors import Conflict

MANAGED = "is managed by your directory"
DECIDES = {"username": "user name", "email": "e-mail", "name": "full name"}
"""What the directory decides about a person."""


def manages(account: Account) -> bool:
    return account.scim_id is not None


def no_deletion(account: Account) -> str:
    """Why the account can’t be deleted here; empty if no directory manages it."""
    if not manages(account):
        return ""
    return f"{account.called} {MANAGED}. Delete or deactivate them there."


def refuse_by_hand(account: Account, changes: Mapping[str, Any]) -> None:
    """Refuse changes of what the directory decides.

    Raises:
        Conflict: if there is one.

    """
    if not manages(account):
        return
    for field, words in DECIDES.items():
        if field in changes and changes[field] != getattr(account, field):
            raise Conflict(f"{account.called} {MANAGED}. Change their {words} there.")
