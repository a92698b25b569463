"""The history of a change request."""

from typing import Any

from app.core.actor import Actor
from app.core.db import save
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.releases.change_requests.models import STEPS, ChangeRequest, Step, StepKind

REPEATED = frozenset(
    {
        StepKind.OPENED,
        StepKind.EDITED,
        StepKind.WITHDRAWN,
        StepKind.APPROVED,
        StepKind.APPROVAL_WITHDRAWN,
        StepKind.COMMENTED,
        StepKind.SCHEDULED,
        StepKind.UNSCHEDULED,
    }
)
"""Steps that people can take again and again."""


def note(
    actor: Actor,
    request: ChangeRequest,
    kind: StepKind,
    type: EventType,
    *,
    text: str | None = None,
    **data: Any,
) -> None:
    """Record a step in the history of the request and in the event log."""
    if kind in REPEATED:
        remedy = "Cancel it and propose it again."
        STEPS.require_room(Step.request_id == request.id, remedy=remedy)
    save(
        Step(
            request_id=request.id,
            kind=kind,
            created_by=actor.username,
            created_by_id=actor.id,
            text=text,
        )
    )
    payload = {
        "id": request.id,
        "title": request.title,
        "environment": request.environment,
        "state": request.state,
        "version": request.version,
        "createdBy": request.created_by,
    }
    if text is not None:
        payload["comment"] = text
    events.record(actor, type, project=request.project_id, data={**payload, **data})
