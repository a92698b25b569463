from typing import Any

from flask import Response, url_for

from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint, no_body
from app.core.errors import Invalid
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.core.requests import check_if_match
from app.features import schemas, service, tagging
from app.features.queries import FeatureView

bp = ApiBlueprint(
    "features",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>",
    description="Feature toggles, what they depend on, and their tags.",
)

TAGGING_EXAMPLE = {
    "features": ["checkout.new-flow", "checkout.base"],
    "tags": {"addedTags": [{"type": "simple", "value": "beta"}], "removedTags": []},
}


@bp.get("/features", needs=Access.SIGNED_IN)
@bp.arguments(schemas.FeatureQuery, location="query")
@bp.response(200, schemas.FeatureList)
def index(query: dict[str, Any], project_id: str) -> Page[FeatureView]:
    """List features"""
    return service.search(current_actor, project_id, **query)


@bp.post("/features", needs=Permission.CREATE_FEATURE, refuses=(404,))
@bp.arguments(schemas.NewFeature, example={"name": "checkout.new-flow", "type": "release"})
@bp.response(201, schemas.FeatureRow, etag=True)
def create(data: dict[str, Any], project_id: str) -> tuple[FeatureView, dict[str, str]]:
    """Create a feature"""
    view = service.create(current_actor, project_id, **data)
    path = url_for(".show", project_id=project_id, name=view.feature.name)
    return view, {"Location": path}


@bp.get("/features/<key:name>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.FeatureRow, etag=True)
def show(project_id: str, name: str) -> FeatureView:
    """Read a feature"""
    return service.get(current_actor, project_id, name)


@bp.put("/features/<key:name>", needs=Permission.UPDATE_FEATURE, refuses=(409, 412))
@bp.arguments(schemas.FeatureChanges, example={"stale": True})
@bp.response(200)
def update(data: dict[str, Any], project_id: str, name: str) -> Response:
    """Update a feature

    Fields that are left out stay as they are.
    """
    if data.pop("name", name) != name:
        raise Invalid.at("/name", f"The name can't be changed; leave it out or send {name!r}.")
    view = service.get_for_change(current_actor, project_id, name)
    check_if_match(schemas.FeatureRow, view)
    service.update(current_actor, view.feature, **data)
    return no_body()


@bp.post("/features/<key:name>/dependencies", needs=Permission.UPDATE_FEATURE_DEPENDENCY)
@bp.arguments(schemas.Parent, example={"feature": "checkout.base"})
@bp.response(200)
def add_dependency(data: dict[str, str], project_id: str, name: str) -> Response:
    """Let a feature depend on another

    A feature has one parent at most: a new one replaces the old. Dependencies are one level deep.
    """
    service.add_dependency(current_actor, project_id, name, data["feature"])
    return no_body()


@bp.delete(
    "/features/<key:name>/dependencies", needs=Permission.UPDATE_FEATURE_DEPENDENCY, refuses=(409,)
)
@bp.response(200)
def remove_dependencies(project_id: str, name: str) -> Response:
    """Remove a feature's dependency"""
    service.remove_dependencies(current_actor, project_id, name)
    return no_body()


@bp.delete(
    "/features/<key:name>/dependencies/<key:parent>",
    needs=Permission.UPDATE_FEATURE_DEPENDENCY,
    refuses=(409,),
)
@bp.response(200)
def remove_dependency(project_id: str, name: str, parent: str) -> Response:
    """Remove a feature's dependency on one parent"""
    service.remove_dependencies(current_actor, project_id, name, parent)
    return no_body()


@bp.put("/tags", needs=Permission.UPDATE_FEATURE, refuses=(404, 409))
@bp.arguments(schemas.Tagging, example=TAGGING_EXAMPLE)
@bp.response(200)
def change_tags(data: dict[str, Any], project_id: str) -> Response:
    """Add and remove tags on several features

    Features and tags are sets. What is there already is not added again, what is not there need
    not be removed, and new tags are created. One unknown feature, and nothing is done.
    """
    tagging.change(
        current_actor,
        project_id,
        features=data["features"],
        added=data["tags"]["added_tags"],
        removed=data["tags"]["removed_tags"],
    )
    return no_body()
