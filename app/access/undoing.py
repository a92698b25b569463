"""Undoing what was done to people's accounts."""

from collections.abc import Sequence

from app.accounts import service as accounts
from app.accounts.models import AccountKind
from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.undoing import Inverse, each, former
from app.core.permissions import Permission, Role


def _undo_update(actor: Actor, event: Event) -> None:
    is_person = event.type is EventType.USER_UPDATED
    kind = AccountKind.PERSON if is_person else AccountKind.SERVICE
    account = accounts.get_for_change((event.data or {})["id"], kind=kind)
    before = former(event, account.snapshot())
    if "rootRole" in before:
        before["root_role"] = role = Role(before.pop("rootRole"))
        if role is Role.ADMIN:
            raise Conflict(
                f"To make {account.called} an Admin takes your password, so do it on their page."
            )
    accounts.update(actor, account, **before)


def _undo_deactivation(actor: Actor, events: Sequence[Event]) -> None:
    accounts.reactivate_all(actor, _ids(events))


def _undo_reactivation(actor: Actor, events: Sequence[Event]) -> None:
    accounts.deactivate_all(actor, _ids(events))


INVERSES = {
    EventType.SERVICE_ACCOUNT_UPDATED: Inverse(Permission.ADMIN, each(_undo_update)),
    EventType.USER_UPDATED: Inverse(Permission.ADMIN, each(_undo_update)),
    EventType.USER_DEACTIVATED: Inverse(
        Permission.ADMIN, _undo_deactivation, but="Their tokens stay revoked."
    ),
    EventType.USER_REACTIVATED: Inverse(Permission.ADMIN, _undo_reactivation),
}


def _ids(events: Sequence[Event]) -> list[int]:
    return [(event.data or {})["id"] for event in events]
