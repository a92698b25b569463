"""Propose the changes of a command in a change request, if they need approvals.

The command line has no account and no drafts, so each command opens a change request. With a
reason, it makes the changes at once, as Admins can.
"""

from collections.abc import Callable, Sequence

from app.core.actor import Actor
from app.core.db import check_changes
from app.core.errors import NeedsApprovals
from app.core.events import service as events
from app.core.words import counted
from app.operations.cli.commands import Output
from app.releases.change_requests import editing, review, schemas, service
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.views import View
from app.web.current import current_settings


def do_or_propose(
    actor: Actor, act: Callable[[], Output], changes: Callable[[], Sequence[Proposal]]
) -> Output:
    """Return the output of ``act``. If that needs approvals in one place, propose ``changes``.

    Raises:
        NeedsApprovals: when it needs approvals in several places, or in one that is not visible.

    """
    try:
        with events.savepoint(keeps=True):
            output = act()
            check_changes()
            return output
    except NeedsApprovals as refusal:
        if refusal.place is None:
            raise
        place = refusal.place
    return _propose(actor, *place, changes())


def _propose(actor: Actor, project: str, environment: str, changes: Sequence[Proposal]) -> Output:
    """Open a change request and send it to review. The output says how to go on."""
    request = editing.propose(actor, project, environment, changes)
    review.send(actor, request)
    view = service.get(actor, project, request.id)
    return Output({"changeRequest": schemas.ChangeRequestRow().dump(view)}, _next_steps(view))


def _next_steps(view: View) -> str:
    request, project = view.request, view.request.project_id
    page = current_settings().address(f"/projects/{project}/change-requests/{request.id}")
    approvals = counted(view.required, "approval")
    return (
        f"Changes in {request.environment} need {approvals}, so nothing has changed yet.\n"
        f"Change request {request.id} waits for review: {view.title}\n"
        f"Approve it at {page}\n"
        f"Then apply it there, or with: flagstaff change-request apply {project} {request.id}"
    )
