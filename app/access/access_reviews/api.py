from typing import Any

from flask import url_for

from app.access.access_reviews import schemas, service
from app.access.access_reviews.models import AccessReview
from app.access.access_reviews.service import Current
from app.catalogue.projects import service as projects
from app.core.errors import Invalid
from app.core.paging import Page
from app.core.permissions import Permission
from app.web.current import current_actor
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "access reviews",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>/access-reviews",
    description="Reviews of the access to a project, each signed off by someone.",
)

NEEDS = Permission.PROJECT_USER_ACCESS_WRITE
EXAMPLE = {"version": "9f86d081884c7d659a2f", "entries": [{"id": 1, "decision": "keep"}]}


@bp.get("", needs=NEEDS)
@bp.arguments(schemas.ReviewQuery, location="query")
@bp.response(200, schemas.ReviewList)
def index(query: dict[str, Any], project_id: str) -> Page[AccessReview]:
    """List access reviews of a project"""
    project = projects.get(current_actor, project_id)
    return service.search(project.id, **query)


@bp.get("/current", needs=NEEDS)
@bp.response(200, schemas.CurrentReview)
def show_current(project_id: str) -> Current:
    """Read the access to a project as it is now

    With where each role comes from and the last sign-in or use of a token.
    """
    return service.current(projects.get(current_actor, project_id).id)


@bp.post("", needs=NEEDS, refuses=(404,))
@bp.arguments(schemas.SignOff, example=EXAMPLE)
@bp.response(201, schemas.ReviewSheet)
def sign_off(data: dict[str, Any], project_id: str) -> tuple[AccessReview, dict[str, str]]:
    """Sign off an access review

    Decides about every member, and takes the role from those who don’t keep it. 409 if the members
    are not those of that version any more.
    """
    project = projects.get_for_change(current_actor, project_id)
    entries = data.pop("entries")
    decisions = {entry["id"]: entry["decision"] == schemas.KEEP for entry in entries}
    if len(decisions) < len(entries):
        raise Invalid.at("/entries", "Decide about each account once.")
    review = service.sign_off(current_actor, project, decisions, **data)
    place = url_for(".show", project_id=project_id, review_id=review.id)
    return review, {"Location": place}


@bp.get("/<id:review_id>", needs=NEEDS)
@bp.response(200, schemas.ReviewSheet)
def show(project_id: str, review_id: int) -> AccessReview:
    """Read an access review"""
    return service.get(projects.get(current_actor, project_id).id, review_id)
