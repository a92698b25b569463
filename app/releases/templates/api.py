from typing import Any
from uuid import UUID

from flask import Response, url_for

from app.catalogue.releases.models import ReleaseTemplate
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.releases.templates import schemas, service
from app.releases.templates.service import TemplateView
from app.web.current import current_actor
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "release templates",
    __name__,
    url_prefix="/api/admin/release-plan-templates",
    description="Templates: the steps that releases start from.",
)
project_bp = ApiBlueprint(
    "release templates of a project",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>/release-templates",
    description="Templates that only one project can use.",
)

STEP = {
    "name": "25%",
    "strategies": [{"name": "flexibleRollout", "parameters": {"rollout": "25"}}],
    "transitionCondition": {"intervalMinutes": 1440},
}
EVERYONE = {"name": "Everyone", "strategies": [{"name": "flexibleRollout"}]}
QUICK = {"name": "Quick", "milestones": [STEP, EVERYONE]}


@bp.get("", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ReleaseTemplateRow(many=True))
def index() -> list[TemplateView]:
    """List the release templates that all projects can use"""
    return service.views(service.for_all(current_actor))


@bp.post("", needs=Permission.ADMIN)
@bp.arguments(schemas.NewReleaseTemplate, example=QUICK)
@bp.response(201, schemas.ReleaseTemplateRow, etag=True)
def create(data: dict[str, Any]) -> tuple[TemplateView, dict[str, str]]:
    """Create a release template for all projects"""
    template = service.create(current_actor, **data)
    return _view(template), {"Location": url_for(".show", template=template.id)}


@bp.get("/<uuid:template>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ReleaseTemplateRow, etag=True)
def show(template: UUID) -> TemplateView:
    """Read a release template"""
    return _view(service.get(current_actor, template))


@bp.put("/<uuid:template>", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403, 409, 412))
@bp.arguments(schemas.ReleaseTemplateChanges, example=QUICK)
@bp.response(200, schemas.ReleaseTemplateRow, etag=True)
def update(data: dict[str, Any], template: UUID) -> TemplateView:
    """Update a release template

    Fields that are left out stay as they are. Releases that started from it keep their steps.
    Needs ADMIN, or UPDATE_PROJECT in its project.
    """
    found = _get_for_change(template)
    service.update(current_actor, found, **data)
    return _view(found)


@bp.delete("/<uuid:template>", needs=Access.SIGNED_IN, refuses=(403, 412))
@bp.response(204)
def remove(template: UUID) -> Response:
    """Delete a release template

    Releases that started from it go on. Needs ADMIN, or UPDATE_PROJECT in its project.
    """
    service.remove(current_actor, _get_for_change(template))
    return no_body(204)


@project_bp.get("", needs=Access.SIGNED_IN)
@project_bp.arguments(schemas.ProjectTemplateQuery, location="query")
@project_bp.response(200, schemas.ReleaseTemplateRow(many=True))
def index_of_project(query: dict[str, str], project_id: str) -> list[TemplateView]:
    """List the release templates of a project"""
    with_root = "include" in query
    return service.views(service.of_project(current_actor, project_id, with_root=with_root))


@project_bp.post("", needs=Permission.UPDATE_PROJECT, refuses=(404,))
@project_bp.arguments(schemas.NewReleaseTemplate, example=QUICK)
@project_bp.response(201, schemas.ReleaseTemplateRow, etag=True)
def create_in_project(data: dict[str, Any], project_id: str) -> tuple[TemplateView, dict[str, str]]:
    """Create a release template that only this project can use"""
    template = service.create(current_actor, project=project_id, **data)
    address = url_for("release templates.show", template=template.id)
    return _view(template), {"Location": address}


@project_bp.put("/<uuid:template>", needs=Permission.UPDATE_PROJECT, refuses=(404, 409, 412))
@project_bp.arguments(schemas.ReleaseTemplateChanges, example=QUICK)
@project_bp.response(200, schemas.ReleaseTemplateRow, etag=True)
def update_in_project(data: dict[str, Any], project_id: str, template: UUID) -> TemplateView:
    """Update a release template of a project

    Fields that are left out stay as they are. Releases that started from it keep their steps.
    """
    found = service.get(current_actor, template, project_id=project_id, for_change=True)
    check_if_match(schemas.ReleaseTemplateRow, _view(found))
    service.update(current_actor, found, **data)
    return _view(found)


def _get_for_change(template: UUID) -> ReleaseTemplate:
    """The template, if the caller may change it and knows its present state."""
    found = service.get(current_actor, template, for_change=True)
    current_actor.require(*service.permission(found.project_id))
    check_if_match(schemas.ReleaseTemplateRow, _view(found))
    return found


def _view(template: ReleaseTemplate) -> TemplateView:
    [view] = service.views([template])
    return view
