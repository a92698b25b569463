"""Transitions between states, as the API requests them, and the decision behind each."""

from datetime import datetime

from app.core.actor import Actor
from app.core.errors import Invalid
from app.releases.change_requests import applying, review
from app.releases.change_requests.models import ChangeRequest, State


def take(
    actor: Actor,
    request: ChangeRequest,
    *,
    state: State,
    comment: str | None = None,
    scheduled_at: datetime | None = None,
) -> None:
    """Move a request from ``get_for_change`` to a state, by the decision that leads there."""
    if scheduled_at is not None and state is not State.SCHEDULED:
        raise Invalid.at("/scheduledAt", "Leave it out, or send the state Scheduled.")
    if state is State.SCHEDULED:
        review.schedule(actor, request, scheduled_at)
    elif state is State.IN_REVIEW and request.state is State.DRAFT:
        review.send(actor, request)
    elif state is State.APPROVED and request.state is State.SCHEDULED:
        review.unschedule(actor, request)
    elif state in _WITH_COMMENT:
        _WITH_COMMENT[state](actor, request, comment)
    else:
        _ALONE[state](actor, request)


_WITH_COMMENT = {
    State.IN_REVIEW: review.withdraw_approval,
    State.APPROVED: review.approve,
    State.REJECTED: review.reject,
    State.CANCELLED: review.cancel,
}
_ALONE = {State.DRAFT: review.withdraw, State.APPLIED: applying.apply}
