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


@bp.put("/sort-order", needs=Permission.ADMIN, refuses=(404, 409))
@bp.arguments(schemas.SortOrder, example={"development": 1, "production": 2})
@bp.response(200)
def sort(data: dict[str, int]) -> Response:
    """Sort environments

    By their names. Environments that are left out keep their place.
    """
    for name in sorted(data):
        service.update(current_actor, service.get_for_change(name), sort_order=data[name])
    return no_body()


@bp.post("/<key:name>/on", needs=Permission.ADMIN, refuses=(404,))
@bp.response(204)
def reinstate(name: str) -> Response:
    """Stop deprecating an environment

    New projects get it again.
    """
    service.update(current_actor, service.get_for_change(name), deprecated=False)
    return no_body(204)


@bp.post("/<key:name>/off", needs=Permission.ADMIN, refuses=(404,))
@bp.response(204)
def deprecate(name: str) -> Response:
    """Deprecate an environment

    New projects no longer get it. Features stay as they are.
    """
    service.update(current_actor, service.get_for_change(name), deprecated=True)
    return no_body(204)


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
