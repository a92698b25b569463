"""Pages that propose to archive features, or to change a segment, where that needs approvals."""

from typing import Any

from flask import flash
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response

from app.catalogue.archive import service as archiving
from app.catalogue.archive.pages import confirm, guarded_in
from app.catalogue.segments import pages as segment_pages
from app.catalogue.segments.forms import SegmentForm
from app.catalogue.segments.models import Segment
from app.core.errors import ChangedSinceReview
from app.core.permissions import Access, Permission
from app.core.words import counted
from app.releases.change_requests import proposals
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import OPEN_REQUESTS, Action
from app.releases.change_requests.pages_proposing import propose, to_draft
from app.web.current import current_actor
from app.web.routes import PageBlueprint

bp = PageBlueprint(
    "proposal_archive_pages",
    __name__,
    url_prefix="/projects/<key:project_id>/environments/<key:environment>/propose",
)


@bp.post("/archive", needs=Permission.DELETE_FEATURE)
def archive(project_id: str, environment: str) -> ResponseReturnValue:
    """Archive the features that are not on here, and propose to archive the others.

    If the plan is still what was shown.
    """

    def save(names: list[str], detach: list[str], shown: dict[str, Any]) -> Response:
        plan = archiving.plan(current_actor, project_id, names, detach=detach)
        if plan.facts != shown:
            raise ChangedSinceReview
        on_here = guarded_in(project_id, plan).get(environment, [])
        if now := plan.apart_from(on_here):
            archiving.archive(current_actor, project_id, now)
            flash(f"{counted(len(now), 'feature')} archived.", "ok")
        changes = proposals.archiving(plan, but=now)
        return to_draft(propose(project_id, environment, changes))

    return confirm(project_id, save)


@bp.post("/segments/<id:id>", needs=Access.SIGNED_IN, keeps=(OPEN_REQUESTS,))
def change_segment(project_id: str, environment: str, id: int) -> ResponseReturnValue:
    """Propose to change a segment that strategies use here."""

    def save(segment: Segment, form: SegmentForm) -> Response:
        payload = {"id": segment.id, **form.values}
        change = Proposal(None, Action.UPDATE_SEGMENT, payload)
        return to_draft(propose(project_id, environment, [change]))

    return segment_pages.change(id, save)
