"""The actions behind the buttons of a change request, by the value of the button."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from app.core.actor import Actor
from app.core.errors import Invalid, PreconditionFailed
from app.core.words import counted
from app.releases.change_requests import applying, editing, reversing, review, service
from app.releases.change_requests.models import ChangeRequest, State

Values = Mapping[str, Any]
_read_change_button = re.compile(r"(remove)-([1-9]\d{0,8})").fullmatch

PICK_UP = "Applications pick this up within 15 seconds."
ASKS = {"discard", "cancel"}
"""Buttons that need a confirmation."""


class EditedSince(Exception):
    """The request, or what it leads to, has changed since it was shown. Nothing was done."""


class Outcome(NamedTuple):
    """A message about what was done, and the id of the request to show next, if any."""

    says: str
    leads_to: int | None


def decide(actor: Actor, project_id: str, id: int, to: str, values: Values) -> Outcome:
    """Run the action of the button ``to`` on the version that was shown.

    Raises:
        EditedSince: when there is a newer version.
        DomainError: when the actor may not, or it can’t be done.

    """
    if to == "reverse":
        applied = service.get(actor, project_id, id)
        draft = reversing.reverse(actor, applied.request)
        return Outcome("This is a new draft. Send it for review when it’s complete.", draft.id)
    button = _read_change_button(to)
    if button is None and to not in _REQUEST_ACTIONS:
        raise Invalid("Choose what to do with this change request.")
    try:
        request = service.get_for_change(actor, project_id, id, version=values["version"])
    except PreconditionFailed:
        raise EditedSince from None
    if button is None:
        return Outcome(
            _REQUEST_ACTIONS[to](actor, request, values), None if to == "discard" else id
        )
    is_all = len(request.changes) == 1 and request.state is State.DRAFT
    says = _CHANGE_ACTIONS[button[1]](actor, request, int(button[2]))
    return Outcome(says, None if is_all else id)


def _approve(actor: Actor, request: ChangeRequest, values: Values) -> str:
    review.approve(actor, request, values.get("comment") or None)
    missing = review.view(request).missing
    if missing:
        return f"Approved. It needs {counted(missing, 'more approval')}."
    return "Approved. It can be applied now."


def _reject(actor: Actor, request: ChangeRequest, values: Values) -> str:
    review.reject(actor, request, values.get("comment") or None)
    return f"Rejected. {request.created_by} can read why on this page."


def _withdraw_approval(actor: Actor, request: ChangeRequest, values: Values) -> str:
    review.withdraw_approval(actor, request, values.get("comment") or None)
    return "Your approval is withdrawn."


def _comment(actor: Actor, request: ChangeRequest, values: Values) -> str:
    text = values.get("comment")
    if not text:
        raise Invalid.at("/comment", "Enter a comment.")
    service.comment(actor, request, text)
    return "Comment added."


def _save(actor: Actor, request: ChangeRequest, values: Values) -> str:
    changed = service.describe(
        actor, request, title=values.get("title"), description=values.get("description")
    )
    return "Saved." if changed else "Nothing changed."


def _send(actor: Actor, request: ChangeRequest, values: Values) -> str:
    _save(actor, request, values)
    review.send(actor, request)
    needed = counted(review.view(request).missing, "approval")
    return f"Sent for review. It needs {needed}."


def _withdraw(actor: Actor, request: ChangeRequest, _: Values) -> str:
    review.withdraw(actor, request)
    return "It’s a draft again, which only you can see."


def _discard(actor: Actor, request: ChangeRequest, _: Values) -> str:
    editing.discard_draft(actor, request)
    return "Draft discarded."


def _cancel(actor: Actor, request: ChangeRequest, values: Values) -> str:
    review.cancel(actor, request, values.get("comment") or None)
    return "Cancelled. Nothing was changed."


def _apply(actor: Actor, request: ChangeRequest, _: Values) -> str:
    applying.apply(actor, request)
    number = len(request.changes)
    return f"Applied. {counted(number, 'change')} took effect{' at once' * (number > 1)}. {PICK_UP}"


def _schedule(actor: Actor, request: ChangeRequest, values: Values) -> str:
    review.schedule(actor, request, values.get("scheduled_at"))
    return "Scheduled. It’s applied by itself then."


def _unschedule(actor: Actor, request: ChangeRequest, _: Values) -> str:
    review.unschedule(actor, request)
    return "No longer scheduled. The approvals stay."


def _remove(actor: Actor, request: ChangeRequest, id: int) -> str:
    is_all = len(request.changes) == 1
    editing.discard(actor, request, id)
    return "That was the only change, so the draft is discarded." if is_all else "Change removed."


_CHANGE_ACTIONS: dict[str, Callable[[Actor, ChangeRequest, int], str]] = {
    "remove": _remove,
}
_REQUEST_ACTIONS: dict[str, Callable[[Actor, ChangeRequest, Values], str]] = {
    "approve": _approve,
    "reject": _reject,
    "withdraw-approval": _withdraw_approval,
    "comment": _comment,
    "save": _save,
    "send": _send,
    "withdraw": _withdraw,
    "discard": _discard,
    "cancel": _cancel,
    "apply": _apply,
    "schedule": _schedule,
    "unschedule": _unschedule,
}
