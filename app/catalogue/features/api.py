from typing import Any

from flask import Response, jsonify, url_for

from app.catalogue.features import bulk, dependencies, health, lifecycle, links, schemas, service
from app.catalogue.features.bulk import Edit, Settings
from app.catalogue.features.credits import creators_in, credited
from app.catalogue.features.health import Health
from app.catalogue.features.queries import FeatureView, LifecycleStep
from app.catalogue.projects import service as projects
from app.catalogue.tags.models import TagName
from app.core.errors import Invalid
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.web.current import current_actor, current_settings
from app.web.json_patch import Operation, patched
from app.web.listing import whole
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body
from app.web.schemas import MAX_ITEMS

bp = ApiBlueprint(
    "features",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>",
    description="Features, their dependencies, tags and links.",
)

_LINK = {"url": "https://wiki.example.com/checkout", "title": "Specification"}


@bp.get("/features", needs=Access.SIGNED_IN)
@bp.arguments(whole(schemas.FeatureQuery), location="query")
@bp.response(200, schemas.ProjectFeatures)
def index(query: dict[str, Any], project_id: str) -> Page[FeatureView]:
    """List features"""
    after = current_settings().stale_after
    page = service.search(current_actor, project_id, stale_after=after, **query)
    return page.of(credited(current_actor, page.items))


@bp.post("/features", needs=Permission.CREATE_FEATURE, refuses=(404,))
@bp.arguments(schemas.NewFeature, example={"name": "checkout.new-flow", "type": "release"})
@bp.response(201, schemas.FeatureRow, etag=True)
def create(data: dict[str, Any], project_id: str) -> tuple[FeatureView, dict[str, str]]:
    """Create a feature

    With tags, it also needs UPDATE_FEATURE.
    """
    tags = [TagName(tag["type"], tag["value"]) for tag in data.pop("tags")]
    if tags:
        current_actor.require(Permission.UPDATE_FEATURE, project_id)
    view = service.create(current_actor, project_id, first_tags=tags, **data)
    path = url_for(".show", project_id=project_id, name=view.feature.name)
    return view, {"Location": path}


@bp.get("/health", needs=Access.SIGNED_IN)
@bp.response(200, schemas.HealthRow)
def show_health(project_id: str) -> Health:
    """Read the health of a project

    How far its features have come, how old they are, and how many are ready to archive.
    """
    return health.for_project(current_actor, project_id, stale_after=current_settings().stale_after)


@bp.get("/features/<key:name>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.FeatureRow, etag=True)
def show(project_id: str, name: str) -> FeatureView:
    """Read a feature"""
    return _shown(service.get(current_actor, project_id, name))


@bp.put("/features/<key:name>", needs=Permission.UPDATE_FEATURE, refuses=(409, 412))
@bp.arguments(schemas.FeatureChanges, example={"stale": True})
@bp.response(200, schemas.FeatureRow, etag=True)
def update(data: dict[str, Any], project_id: str, name: str) -> FeatureView:
    """Update a feature

    Fields that are left out stay as they are.
    """
    return _update(service.get_for_change(current_actor, project_id, name), data)


@bp.patch("/features/<key:name>", needs=Permission.UPDATE_FEATURE, refuses=(409, 412))
@bp.arguments(
    Operation(many=True), example=[{"op": "replace", "path": "/description", "value": "New flow"}]
)
@bp.response(200, schemas.FeatureRow, etag=True)
def patch(data: list[dict[str, Any]], project_id: str, name: str) -> FeatureView:
    """Change parts of a feature

    By JSON Patch (RFC 6902). A description that is removed is null afterwards.
    """
    view = service.get_for_change(current_actor, project_id, name)
    kept = ("name", "type", "stale", "impressionData")
    wanted = patched(schemas.FeatureChanges(), schemas.FeatureRow().dump(view), data, kept=kept)
    return _update(view, {"description": None} | wanted)


def _update(view: FeatureView, changes: dict[str, Any]) -> FeatureView:
    name = view.feature.name
    if changes.pop("name", name) != name:
        raise Invalid.at("/name", f"The name cannot be changed. Leave it out or send {name!r}.")
    check_if_match(schemas.FeatureRow, view)
    service.update(current_actor, view.feature, **changes)
    return _shown(view)


def _shown(view: FeatureView) -> FeatureView:
    """The view as a read returns it."""
    lived = lifecycle.with_life([view], stale_after=current_settings().stale_after)
    return credited(current_actor, lived)[0]


@bp.get("/features/<key:name>/lifecycle", needs=Access.SIGNED_IN)
@bp.response(200, schemas.StageRow(many=True))
def show_lifecycle(project_id: str, name: str) -> list[LifecycleStep]:
    """List the stages of a feature

    Those that it entered, in order. The last one is the stage that it is in.
    """
    return service.steps(current_actor, project_id, name)


@bp.post("/features/<key:name>/lifecycle/complete", needs=Permission.UPDATE_FEATURE, refuses=(409,))
@bp.arguments(schemas.Completion, example={"status": "kept", "statusValue": "blue"})
@bp.response(200)
def complete(data: dict[str, Any], project_id: str, name: str) -> Response:
    """Mark a feature as completed

    Kept or discarded. Applications get what they got before.
    """
    feature = service.lock_for_change(current_actor, project_id, name)
    lifecycle.complete(current_actor, feature, **data)
    return no_body()


@bp.post(
    "/features/<key:name>/lifecycle/uncomplete", needs=Permission.UPDATE_FEATURE, refuses=(409,)
)
@bp.response(200)
def uncomplete(project_id: str, name: str) -> Response:
    """Mark a feature as not completed"""
    feature = service.lock_for_change(current_actor, project_id, name)
    lifecycle.uncomplete(current_actor, feature)
    return no_body()


@bp.get("/features/<key:name>/parents", needs=Access.SIGNED_IN)
@bp.response(200)
def index_parents(project_id: str, name: str) -> Response:
    """List the features that a feature can depend on

    Names of active features of the project that depend on nothing.
    """
    service.get(current_actor, project_id, name)
    found = dependencies.possible_parents(project_id, MAX_ITEMS)
    return jsonify([parent for parent in found if parent != name])


@bp.get("/features/<key:name>/parent-variants", needs=Access.SIGNED_IN)
@bp.response(200)
def index_parent_variants(project_id: str, name: str) -> Response:
    """List the variants of a feature, which its children can name

    Of its strategies and those that strategies share, in all environments.
    """
    return jsonify(service.get(current_actor, project_id, name).variant_names)


@bp.get("/dependencies", needs=Access.SIGNED_IN)
@bp.response(200)
def show_dependencies(project_id: str) -> Response:
    """Read whether a feature of the project depends on another"""
    return jsonify(dependencies.exist_in(current_actor, project_id))


@bp.get("/flag-creators", needs=Access.SIGNED_IN)
@bp.response(200)
def index_creators(project_id: str) -> Response:
    """List the people who created features of the project"""
    projects.require(current_actor, project_id)
    found = creators_in(project_id)
    return jsonify([{"id": each.id, "name": each.name} for each in found])


@bp.post("/features/<key:name>/dependencies", needs=Permission.UPDATE_FEATURE_DEPENDENCY)
@bp.arguments(schemas.Parent, example={"feature": "checkout.base"})
@bp.response(200)
def add_dependency(data: dict[str, Any], project_id: str, name: str) -> Response:
    """Make a feature depend on another

    A feature has at most one parent. A new parent replaces the old one. Dependencies are one level
    deep.
    """
    dependencies.add(current_actor, project_id, name, data.pop("feature"), **data)
    return no_body()


@bp.delete(
    "/features/<key:name>/dependencies", needs=Permission.UPDATE_FEATURE_DEPENDENCY, refuses=(409,)
)
@bp.response(200)
def remove_dependencies(project_id: str, name: str) -> Response:
    """Remove a feature's dependency"""
    dependencies.remove(current_actor, project_id, name)
    return no_body()


@bp.delete(
    "/features/<key:name>/dependencies/<key:parent>",
    needs=Permission.UPDATE_FEATURE_DEPENDENCY,
    refuses=(409,),
)
@bp.response(200)
def remove_dependency(project_id: str, name: str, parent: str) -> Response:
    """Remove a feature's dependency on one parent"""
    dependencies.remove(current_actor, project_id, name, parent)
    return no_body()


@bp.post("/features/<key:name>/link", needs=Permission.UPDATE_FEATURE, refuses=(409,))
@bp.arguments(schemas.Link, example=_LINK)
@bp.response(204)
def add_link(data: dict[str, Any], project_id: str, name: str) -> Response:
    """Add a link to a feature

    To a page about it, such as its ticket. A feature can have 50 links.
    """
    links.add(current_actor, service.lock_for_change(current_actor, project_id, name), **data)
    return no_body(204)


@bp.put("/features/<key:name>/link/<key:link_id>", needs=Permission.UPDATE_FEATURE, refuses=(409,))
@bp.arguments(schemas.Link, example=_LINK)
@bp.response(204)
def update_link(data: dict[str, Any], project_id: str, name: str, link_id: str) -> Response:
    """Update a link of a feature

    A title that is left out stays as it is.
    """
    feature = service.lock_for_change(current_actor, project_id, name)
    links.update(current_actor, feature, link_id, **data)
    return no_body(204)


@bp.delete(
    "/features/<key:name>/link/<key:link_id>", needs=Permission.UPDATE_FEATURE, refuses=(409,)
)
@bp.response(204)
def remove_link(project_id: str, name: str, link_id: str) -> Response:
    """Remove a link from a feature"""
    feature = service.lock_for_change(current_actor, project_id, name)
    links.remove(current_actor, feature, link_id)
    return no_body(204)


@bp.post("/stale", needs=Permission.UPDATE_FEATURE, refuses=(404,))
@bp.arguments(schemas.StaleFeatures, example={"features": ["checkout.base"], "stale": True})
@bp.response(202)
def mark_stale(data: dict[str, Any], project_id: str) -> Response:
    """Mark several features as stale or not stale

    All or none: if one feature is unknown or archived, nothing is changed.
    """
    return _change_many(project_id, data["features"], {"stale": data["stale"]})


@bp.post("/type", needs=Permission.UPDATE_FEATURE, refuses=(404,))
@bp.arguments(schemas.TypedFeatures, example={"features": ["checkout.base"], "type": "release"})
@bp.response(202)
def change_type(data: dict[str, Any], project_id: str) -> Response:
    """Change the type of several features

    All or none: if one feature is unknown or archived, nothing is changed.
    """
    return _change_many(project_id, data["features"], {"type": data["type"]})


def _change_many(project_id: str, features: list[str], settings: Settings) -> Response:
    bulk.apply(current_actor, project_id, [Edit(features, settings)])
    return no_body(202)


all_bp = ApiBlueprint(
    "all features",
    __name__,
    url_prefix="/api/admin/features",
    description="Features of all projects that the caller can see.",
)


@all_bp.get("", needs=Access.SIGNED_IN)
@all_bp.arguments(schemas.AllFeaturesQuery, location="query")
@all_bp.response(200, schemas.FeatureList, whole=True)
def index_all(query: dict[str, Any]) -> Page[FeatureView]:
    """List features of all projects"""
    after = current_settings().stale_after
    return service.search_everywhere(current_actor, stale_after=after, **query)


@all_bp.post("/validate", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False, refuses=(409,))
@all_bp.arguments(schemas.FeatureName, example={"name": "checkout.new-flow"})
@all_bp.response(200)
def validate(data: dict[str, Any]) -> Response:
    """Check the name of a feature"""
    service.check_name(**data)
    return no_body()
