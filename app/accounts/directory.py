"""People managed by the organisation’s directory, by SCIM: it decides their names and e-mails."""

from collections.abc import Mapping
from typing import Any

from app.accounts.models import Account
from app.core.errors import Conflict

MANAGED = "is managed by your directory"
DECIDES = {"username": "user name", "email": "e-mail", "name": "full name"}
"""Fields that the directory decides, in words."""


def manages(account: Account) -> bool:
    return account.scim_id is not None


def no_deletion(account: Account) -> str:
    """Why the account can’t be deleted here; empty if no directory manages it."""
    if not manages(account):
        return ""
    return f"{account.called} {MANAGED}. Delete or deactivate them there."


def refuse_by_hand(account: Account, changes: Mapping[str, Any]) -> None:
    """Refuse manual changes of fields that the directory decides.

    Raises:
        Conflict: if there is such a change.

    """
    if not manages(account):
        return
    for field, words in DECIDES.items():
        if field in changes and changes[field] != getattr(account, field):
            raise Conflict(f"{account.called} {MANAGED}. Change their {words} there.")
