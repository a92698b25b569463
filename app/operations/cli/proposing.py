"""Propose the changes of a command in a change request, if they need approvals.

The command line has no account and no drafts, so each command opens a change request. With a
reason, it makes the changes at once, as Admins can.
"""

from collections.abc import Iterable, Sequence

from app.catalogue.projects.approvals import needing_approval
from app.core.actor import Actor
from app.core.words import counted
from app.operations.cli.commands import Output
from app.releases.change_requests import editing, review, schemas, service
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.views import View
from app.web.current import current_settings


def guarded_place(actor: Actor, project: str, environments: Iterable[str]) -> str | None:
    """The environment to propose a change in; None if the change can be made or is refused."""
    if actor.reason:
        return None
    found = needing_approval(project, environments)
    return found[0] if len(found) == 1 else None


def propose(actor: Actor, project: str, environment: str, changes: Sequence[Proposal]) -> Output:
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
