from typing import Any

from flask import Response, url_for

from app.catalogue.environments import schemas, service
from app.catalogue.environments.models import Environment
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.web.current import current_actor
from app.web.listing import PageQuery, whole
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "environments",
    __name__,
    url_prefix="/api/admin/environments",
    description="Where features run: development, production and so on.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.arguments(whole(PageQuery), location="query")
@bp.response(200, schemas.EnvironmentList)
def index(page: dict[str, int]) -> Page[Environment]:
    """List environments"""
    return service.search(**page)


@bp.post("", needs=Permission.ADMIN)
@bp.arguments(schemas.NewEnvironment, example={"name": "staging", "type": "preproduction"})
@bp.response(201, schemas.EnvironmentRow, etag=True)
def create(data: dict[str, Any]) -> tuple[Environment, dict[str, str]]:
    """Create an environment"""
    environment = service.create(current_actor, **data)
    return environment, {"Location": url_for(".show", name=environment.name)}


@bp.get("/<key:name>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.EnvironmentRow, etag=True)
def show(name: str) -> Environment:
    """Read an environment"""
    return service.get(name)


@bp.put("/<key:name>", needs=Permission.ADMIN, refuses=(412,))
@bp.arguments(schemas.EnvironmentChanges, example={"deprecated": True})
@bp.response(200)
def update(data: dict[str, Any], name: str) -> Response:
    """Update an environment

    Fields that are left out stay as they are. The name cannot be changed.
    """
    environment = service.get_for_change(name)
    check_if_match(schemas.EnvironmentRow, environment)
    service.update(current_actor, environment, **data)
    return no_body()
