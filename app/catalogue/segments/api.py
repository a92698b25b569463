from typing import Any

from flask import Response, url_for

from app.catalogue.context import service as context
from app.catalogue.segments import queries, schemas, service
from app.catalogue.segments.models import Segment
from app.catalogue.segments.queries import SegmentView, Use
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.web.current import current_actor
from app.web.listing import whole
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "segments",
    __name__,
    url_prefix="/api/admin/segments",
    description="Segments: groups of people that many strategies can use.",
)

NORDIC = {
    "name": "Nordic customers",
    "constraints": [{"contextName": "userId", "operator": "IN", "values": ["1042", "2210"]}],
}


@bp.get("", needs=Access.SIGNED_IN)
@bp.arguments(whole(schemas.SegmentQuery), location="query")
@bp.response(200, schemas.SegmentList)
def index(query: dict[str, Any]) -> Page[SegmentView]:
    """List segments

    Without the segments of projects that you cannot see.
    """
    return service.search(current_actor, **query)


@bp.post("", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403, 404))
@bp.arguments(schemas.NewSegment, example=NORDIC)
@bp.response(201, schemas.SegmentRow, etag=True)
def create(data: dict[str, Any]) -> tuple[SegmentView, dict[str, str]]:
    """Create a segment

    Needs CREATE_SEGMENT, or UPDATE_PROJECT_SEGMENT in its project.
    """
    current_actor.require(*service.permission(Permission.CREATE_SEGMENT, data.get("project")))
    segment = service.create(current_actor, **data)
    return service.view(segment), {"Location": url_for(".show", id=segment.id)}


@bp.post("/validate", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False, refuses=(409,))
@bp.arguments(schemas.SegmentName, example={"name": "Nordic customers"})
@bp.response(204)
def validate(data: dict[str, Any]) -> Response:
    """Check the name of a segment"""
    service.check_name(**data)
    return no_body(204)


@bp.get("/<id:id>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.SegmentRow, etag=True)
def show(id: int) -> SegmentView:
    """Read a segment"""
    return service.view(service.get(current_actor, id))


@bp.put("/<id:id>", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403, 409, 412))
@bp.arguments(schemas.SegmentChanges, example=NORDIC)
@bp.response(204)
def update(data: dict[str, Any], id: int) -> Response:
    """Update a segment

    Fields that are left out stay as they are. Needs UPDATE_SEGMENT, or UPDATE_PROJECT_SEGMENT in
    its project.
    """
    segment = _get_for_change(Permission.UPDATE_SEGMENT, id)
    if "project" in data:
        current_actor.require(*service.permission(Permission.UPDATE_SEGMENT, data["project"]))
    service.update(current_actor, segment, **data)
    return no_body(204)


@bp.delete("/<id:id>", needs=Access.SIGNED_IN, refuses=(403, 409, 412))
@bp.response(204)
def remove(id: int) -> Response:
    """Delete a segment

    Needs DELETE_SEGMENT, or UPDATE_PROJECT_SEGMENT in its project.
    """
    service.remove(current_actor, _get_for_change(Permission.DELETE_SEGMENT, id))
    return no_body(204)


@bp.get("/<id:id>/strategies", needs=Access.SIGNED_IN)
@bp.response(200, schemas.UseList)
def index_strategies(id: int) -> dict[str, list[Use]]:
    """List the strategies that use a segment

    Without those in projects that you cannot see.
    """
    return {"strategies": service.uses(current_actor, service.get(current_actor, id))}


def _get_for_change(general: Permission, id: int) -> Segment:
    """The segment, if the caller may change it and knows its present state."""
    segment = service.get(current_actor, id, for_change=True)
    current_actor.require(*service.permission(general, segment.project_id))
    check_if_match(schemas.SegmentRow, service.view(segment))
    return segment


fields_bp = ApiBlueprint(
    "uses of a context field",
    __name__,
    url_prefix="/api/admin/context/<key:name>",
    description="Which strategies compare a context field.",
)


@fields_bp.get("/strategies", needs=Access.SIGNED_IN)
@fields_bp.response(200, schemas.UseList)
def index_comparing(name: str) -> dict[str, list[Use]]:
    """List the strategies that compare a context field

    Without those in projects that you cannot see.
    """
    return {"strategies": queries.comparing(current_actor, context.get(name).name)}
