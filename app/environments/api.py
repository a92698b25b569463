from typing import Any

from flask import Response

from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint, no_body
from app.core.paging import Page, PageQuery
from app.core.permissions import Access, Permission
from app.environments import schemas, service
from app.environments.models import Environment

bp = ApiBlueprint(
    "environments",
    __name__,
    url_prefix="/api/admin/environments",
    description="Where features run: development, production and so on.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.EnvironmentList)
def index(page: dict[str, int]) -> Page[Environment]:
    """List environments"""
    return service.search(**page)


@bp.post("", needs=Permission.ADMIN)
@bp.arguments(schemas.NewEnvironment, example={"name": "staging", "type": "preproduction"})
@bp.response(201, schemas.EnvironmentRow)
def create(data: dict[str, Any]) -> Environment:
    """Create an environment"""
    return service.create(current_actor, **data)


@bp.put("/<key:name>", needs=Permission.ADMIN)
@bp.arguments(schemas.EnvironmentChanges, example={"deprecated": True})
@bp.response(200)
def update(data: dict[str, Any], name: str) -> Response:
    """Update an environment: its type, its place, whether it is deprecated"""
    service.update(current_actor, service.get_for_change(name), **data)
    return no_body()
