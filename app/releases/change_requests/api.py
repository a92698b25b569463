from typing import Any

from flask import Response

from app.accounts.models import Account
from app.catalogue.features import service as features
from app.catalogue.receipts.schemas import ReceiptsRow
from app.catalogue.receipts.service import Receipts
from app.catalogue.strategies.queries import ProjectUse
from app.core.errors import Invalid
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.releases.change_requests import (
    applying,
    configuration,
    editing,
    reversing,
    schemas,
    service,
    states,
)
from app.releases.change_requests.applying import ApplyPlan
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import CLOSED, OPEN_REQUESTS, STEPS, State
from app.releases.change_requests.views import View
from app.web.current import current_actor
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "change_requests",
    __name__,
    url_prefix="/api/admin",
    description="Changes to guarded environments, which others approve before they are applied.",
)

OPEN = tuple(state for state in State if state not in CLOSED)
PROJECT = "/projects/<key:project_id>"
LIST = f"{PROJECT}/change-requests"
ONE = f"{LIST}/<id:id>"
PLACE = f"{PROJECT}/environments/<key:environment>/change-requests"
SWITCH_ON = {"feature": "checkout.base", "action": "updateEnabled", "payload": {"enabled": True}}


@bp.post(PLACE, needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,), refuses=(403, 404))
@bp.arguments(schemas.ProposalQuery, location="query")
@bp.arguments(schemas.ProposedChanges, example=SWITCH_ON)
@bp.response(200, schemas.ChangeRequestRow)
def propose(
    query: dict[str, Any],
    data: dict[str, Any] | list[dict[str, Any]],
    project_id: str,
    environment: str,
) -> View:
    """Propose changes

    One, or an array of them. They are added to one of your drafts for the environment. Needs the
    permission for each change as if it needed no approval. In an open project, anyone can propose
    what a Member can do.
    """
    several = data if isinstance(data, list) else [data]
    proposals = [Proposal(each.get("feature"), each["action"], each["payload"]) for each in several]
    try:
        request = editing.propose(
            current_actor, project_id, environment, proposals, into=query.get("draft")
        )
    except Invalid as error:
        if isinstance(data, list):
            raise
        raise error.moved("/0/", "/") from None
    return service.get(current_actor, project_id, request.id)


@bp.get(LIST, needs=Access.SIGNED_IN)
@bp.arguments(schemas.ChangeRequestQuery, location="query")
@bp.response(200, schemas.ChangeRequestList)
def index(query: dict[str, Any], project_id: str) -> Page[View]:
    """List change requests

    Newest first, with your own drafts. Only reading a single one shows each feature before and
    after its changes, and what applications get in the end.
    """
    return service.in_project(current_actor, project_id, **query)


@bp.get("/search/change-requests", needs=Access.SIGNED_IN)
@bp.arguments(schemas.SearchQuery, location="query")
@bp.response(200, schemas.ChangeRequestList)
def search(query: dict[str, Any]) -> Page[View]:
    """Search change requests

    In all projects that you can see.
    """
    return service.search(current_actor, **query)


@bp.get(f"{LIST}/pending", needs=Access.SIGNED_IN)
@bp.arguments(schemas.ChangeRequestQuery(exclude=("state",)), location="query")
@bp.response(200, schemas.ChangeRequestList)
def index_pending(query: dict[str, Any], project_id: str) -> Page[View]:
    """List change requests that are open"""
    return service.in_project(current_actor, project_id, states=OPEN, **query)


@bp.get(f"{LIST}/pending/<key:name>", needs=Access.SIGNED_IN)
@bp.arguments(schemas.ChangeRequestQuery(exclude=("state", "feature")), location="query")
@bp.response(200, schemas.ChangeRequestList)
def index_pending_of(query: dict[str, Any], project_id: str, name: str) -> Page[View]:
    """List change requests of a feature that are open"""
    features.get(current_actor, project_id, name)
    return service.in_project(current_actor, project_id, states=OPEN, feature=name, **query)


@bp.get(f"{LIST}/count", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ChangeRequestCounts)
def count(project_id: str) -> dict[str, int]:
    """Count change requests by state"""
    found = service.count(current_actor, project_id)
    return {
        "total": sum(found.values()),
        "review_required": found[State.IN_REVIEW],
        **{state.value.lower(): number for state, number in found.items()},
    }


@bp.get(f"{ONE}/receipts", needs=Access.SIGNED_IN)
@bp.response(200, ReceiptsRow, whole=True)
def show_receipts(project_id: str, id: int) -> Receipts:
    """Read which instances have what a change request changed

    Its changes are applied at once, so they arrive together.
    """
    return service.receipts(current_actor, project_id, id)


@bp.get(f"{LIST}/config", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ConfigRow(many=True))
def show_config(project_id: str) -> list[ProjectUse]:
    """List which environments need approvals"""
    return configuration.environments(current_actor, project_id)


@bp.put(f"{PLACE}/config", needs=Permission.UPDATE_PROJECT, refuses=(404,))
@bp.arguments(
    schemas.ApprovalsConfig, example={"changeRequestsEnabled": True, "requiredApprovals": 2}
)
@bp.response(200)
def set_config(data: dict[str, Any], project_id: str, environment: str) -> Response:
    """Set how many approvals an environment needs

    It holds for change requests that are open, too. To ask for fewer needs as many approvals as
    changes there need now: propose it with the action updateApprovals.
    """
    configuration.set_required(
        current_actor,
        project_id,
        environment,
        enabled=data["change_requests_enabled"],
        required=data.get("required_approvals"),
    )
    return no_body()


@bp.get(f"{LIST}/available-reviewers/<key:environment>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ReviewerRow(many=True))
def index_reviewers(project_id: str, environment: str) -> list[Account]:
    """List who can approve changes in an environment

    People who are members of the project, and Admins. No one can approve what they propose.
    """
    return configuration.approvers(current_actor, project_id, environment)


@bp.get(ONE, needs=Access.SIGNED_IN)
@bp.response(200, schemas.ChangeRequestRow)
def show(project_id: str, id: int) -> View:
    """Read a change request

    With what applications get of each feature once it is applied: that is what people approve. If
    something else changes it, approvals no longer count.
    """
    return service.get(current_actor, project_id, id)


@bp.delete(ONE, needs=Access.SIGNED_IN, refuses=(403, 409))
@bp.response(200)
def discard_draft(project_id: str, id: int) -> Response:
    """Discard a draft"""
    request = service.get_for_change(current_actor, project_id, id)
    editing.discard_draft(current_actor, request)
    return no_body()


@bp.put(f"{ONE}/state", needs=Access.SIGNED_IN, keeps=(STEPS,), refuses=(403, 409, 412))
@bp.arguments(schemas.NewState, example={"state": "In review"})
@bp.response(200, schemas.ChangeRequestRow)
def set_state(data: dict[str, Any], project_id: str, id: int) -> View:
    """Take a change request to another state

    In review: sends your draft, or takes your approval back. Approved: approves it, or ends its
    schedule. Applied, Scheduled: takes enough approvals. Rejected: needs a comment. Cancelled: by
    its author or an Admin. Draft: its author
    edits it out of sight.
    """
    version = data.pop("version", None)
    request = service.get_for_change(current_actor, project_id, id, version=version)
    states.take(current_actor, request, **data)
    return service.get(current_actor, project_id, id)


@bp.put(f"{ONE}/title", needs=Access.SIGNED_IN, keeps=(STEPS,), refuses=(403, 409))
@bp.arguments(schemas.NewTitle, example={"title": "Widen the checkout to Denmark"})
@bp.response(200)
def set_title(data: dict[str, Any], project_id: str, id: int) -> Response:
    """Give a change request a title, and say why

    Approvals stay.
    """
    request = service.get_for_change(current_actor, project_id, id)
    description = data.get("description", request.description)
    service.describe(current_actor, request, title=data["title"], description=description)
    return no_body()


@bp.put(f"{ONE}/approvers", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403, 409))
@bp.arguments(schemas.Reviewers, example={"reviewers": [2]})
@bp.response(200)
def set_reviewers(data: dict[str, Any], project_id: str, id: int) -> Response:
    """Ask people for a review"""
    request = service.get_for_change(current_actor, project_id, id)
    service.set_reviewers(current_actor, request, data["reviewers"])
    return no_body()


@bp.post(f"{ONE}/comments", needs=Access.SIGNED_IN, keeps=(STEPS,), refuses=(404,))
@bp.arguments(schemas.NewComment, example={"text": "Support has the texts."})
@bp.response(201, schemas.ChangeRequestRow)
def comment(data: dict[str, Any], project_id: str, id: int) -> View:
    """Comment on a change request"""
    request = service.get_for_change(current_actor, project_id, id)
    service.comment(current_actor, request, data["text"])
    return service.get(current_actor, project_id, id)


@bp.put(
    f"{ONE}/changes/<id:change>",
    needs=Access.SIGNED_IN,
    keeps=(OPEN_REQUESTS, STEPS),
    refuses=(403, 409),
)
@bp.arguments(schemas.EditedChange, example=SWITCH_ON)
@bp.response(200, schemas.ChangeRequestRow)
def edit_change(data: dict[str, Any], project_id: str, id: int, change: int) -> View:
    """Edit one change

    All approvals are gone then. The action and the feature stay as they are.
    """
    request = service.get_for_change(current_actor, project_id, id)
    proposal = Proposal(data.get("feature"), data["action"], data["payload"])
    editing.edit(current_actor, request, change, proposal)
    return service.get(current_actor, project_id, id)


@bp.delete(f"{ONE}/changes/<id:change>", needs=Access.SIGNED_IN, refuses=(403, 409))
@bp.response(200)
def discard_change(project_id: str, id: int, change: int) -> Response:
    """Discard one change

    All approvals are gone then. The last change of a draft takes the draft with it.
    """
    request = service.get_for_change(current_actor, project_id, id)
    editing.discard(current_actor, request, change)
    return no_body()


@bp.post(
    f"{ONE}/plan",
    needs=Access.SIGNED_IN,
    keeps=NOTHING,
    refuses=(403, 404),
    even_in_maintenance=True,
)
@bp.response(200, schemas.PlanRow)
def plan(project_id: str, id: int) -> ApplyPlan:
    """Plan applying a change request

    What it would do now, and why it can’t. Changes nothing.
    """
    request = service.get_for_change(current_actor, project_id, id)
    return applying.plan(current_actor, request)


@bp.post(f"{ONE}/reverse", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,), refuses=(403, 404))
@bp.response(200, schemas.ChangeRequestRow)
def reverse(project_id: str, id: int) -> View:
    """Propose the opposite of an applied change request

    It becomes a new draft for the environment.
    """
    applied = service.get(current_actor, project_id, id)
    draft = reversing.reverse(current_actor, applied.request)
    return service.get(current_actor, project_id, draft.id)
