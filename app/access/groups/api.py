from typing import Any

from flask import Response, url_for

from app.access.groups import schemas, service
from app.access.groups.models import Group
from app.core.paging import Page
from app.core.permissions import Permission
from app.web.current import current_actor
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "groups",
    __name__,
    url_prefix="/api/admin/groups",
    description="Groups of the organisation, and which roles they give to those who are in them.",
)

EXAMPLE = {"name": "payments-team", "rootRole": 3, "projects": [{"id": "default", "roleId": 5}]}


@bp.get("", needs=Permission.ADMIN)
@bp.arguments(schemas.GroupQuery, location="query")
@bp.response(200, schemas.AccessGroupList)
def index(query: dict[str, Any]) -> Page[Group]:
    """List groups"""
    return service.search(**query)


@bp.post("", needs=Permission.ADMIN)
@bp.arguments(schemas.NewGroup, example=EXAMPLE)
@bp.response(201, schemas.GroupDetail, etag=True)
def create(data: dict[str, Any]) -> tuple[Group, dict[str, str]]:
    """Create a group

    People are in it from their next single sign-on, if their provider names it then.
    """
    group = service.create(current_actor, **data)
    return group, {"Location": url_for(".show", group_id=group.id)}


@bp.get("/<id:group_id>", needs=Permission.ADMIN)
@bp.response(200, schemas.GroupDetail, etag=True)
def show(group_id: int) -> Group:
    """Read a group"""
    return service.get(group_id)


@bp.put("/<id:group_id>", needs=Permission.ADMIN, refuses=(409, 412))
@bp.arguments(schemas.GroupChanges, example=EXAMPLE)
@bp.response(204)
def update(data: dict[str, Any], group_id: int) -> Response:
    """Update a group

    Fields that are left out stay as they are. Its members get and lose roles immediately. The last
    Admin who can sign in keeps that role.
    """
    group = service.get_for_change(group_id)
    check_if_match(schemas.GroupDetail, group)
    service.update(current_actor, group, **data)
    return no_body(204)


@bp.delete("/<id:group_id>", needs=Permission.ADMIN, refuses=(409, 412))
@bp.response(204)
def remove(group_id: int) -> Response:
    """Delete a group

    Its members lose the roles that it gave.
    """
    group = service.get_for_change(group_id)
    check_if_match(schemas.GroupDetail, group)
    service.remove(current_actor, group)
    return no_body(204)
