from flask import Response

from app.catalogue.favourites import schemas, service
from app.catalogue.favourites.service import FavouriteItem
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.web.current import current_actor
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "favourites",
    __name__,
    url_prefix="/api/admin",
    description="The projects and features that the caller keeps at hand.",
)

PROJECT = "/projects/<key:project_id>/favorites"
FEATURE = "/projects/<key:project_id>/features/<key:name>/favorites"


@bp.get("/user/favorites", needs=Access.SIGNED_IN)
@bp.response(200, schemas.FavouriteList)
def index() -> dict[str, list[FavouriteItem]]:
    """List the caller's favourites

    Those in projects that the caller can no longer see are left out.
    """
    return {"favorites": service.all_of(current_actor)}


@bp.post(PROJECT, needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(409,))
@bp.response(200)
def add_project(project_id: str) -> Response:
    """Make a project a favourite"""
    service.add(current_actor, project_id)
    return no_body()


@bp.delete(PROJECT, needs=Access.SIGNED_IN)
@bp.response(200)
def remove_project(project_id: str) -> Response:
    """Remove a project from the favourites"""
    service.remove(current_actor, project_id)
    return no_body()


@bp.post(FEATURE, needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(409,))
@bp.response(200)
def add_feature(project_id: str, name: str) -> Response:
    """Make a feature a favourite"""
    service.add(current_actor, project_id, name)
    return no_body()


@bp.delete(FEATURE, needs=Access.SIGNED_IN)
@bp.response(200)
def remove_feature(project_id: str, name: str) -> Response:
    """Remove a feature from the favourites"""
    service.remove(current_actor, project_id, name)
    return no_body()
