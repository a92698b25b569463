from typing import Any

from flask import Response, url_for

from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint, no_body
from app.core.errors import Invalid
from app.core.paging import Page
from app.core.permissions import Access, Permission, Role
from app.core.requests import check_if_match
from app.projects import schemas, service
from app.projects.models import Project

bp = ApiBlueprint(
    "projects",
    __name__,
    url_prefix="/api/admin/projects",
    description="Projects: who sees them, who changes them, where they run.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.arguments(schemas.ProjectQuery, location="query")
@bp.response(200, schemas.ProjectList)
def index(query: dict[str, Any]) -> Page[Project]:
    """List projects"""
    return service.search(current_actor, **query)


@bp.post("", needs=Permission.CREATE_PROJECT)
@bp.arguments(
    schemas.NewProject, example={"id": "payments", "name": "Payments", "mode": "protected"}
)
@bp.response(201, schemas.ProjectDetail, etag=True)
def create(data: dict[str, Any]) -> tuple[Project, dict[str, str]]:
    """Create a project

    The caller becomes its Owner. Without environments, all that are not deprecated are enabled.
    """
    project = service.create(current_actor, **data)
    return project, {"Location": url_for(".show", project_id=project.id)}


@bp.get("/<key:project_id>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ProjectDetail, etag=True)
def show(project_id: str) -> Project:
    """Read a project"""
    return service.get(current_actor, project_id)


@bp.put("/<key:project_id>", needs=Permission.UPDATE_PROJECT, refuses=(409, 412))
@bp.arguments(schemas.ProjectChanges, example={"name": "Payments", "mode": "private"})
@bp.response(200)
def update(data: dict[str, Any], project_id: str) -> Response:
    """Update a project

    Fields that are left out stay as they are.
    """
    if data.pop("id", project_id) != project_id:
        message = f"The id can't be changed; leave it out or send {project_id!r}."
        raise Invalid.at("/id", message)
    project = service.get_for_change(current_actor, project_id)
    check_if_match(schemas.ProjectDetail, project)
    service.update(current_actor, project, **data)
    return no_body()


@bp.delete("/<key:project_id>", needs=Permission.DELETE_PROJECT, refuses=(409, 412))
@bp.response(200)
def archive(project_id: str) -> Response:
    """Archive a project

    Refused while it has active features. Its id stays taken, and it can be revived.
    """
    project = service.get_for_change(current_actor, project_id)
    check_if_match(schemas.ProjectDetail, project)
    service.archive(current_actor, project)
    return no_body()


@bp.post("/<key:project_id>/revive", needs=Permission.DELETE_PROJECT)
@bp.response(200)
def revive(project_id: str) -> Response:
    """Revive an archived project"""
    service.revive(current_actor, project_id)
    return no_body()


@bp.put("/<key:project_id>/environments", needs=Permission.UPDATE_PROJECT, refuses=(409, 412))
@bp.arguments(schemas.ProjectEnvironments, example={"environments": ["development", "production"]})
@bp.response(200)
def set_environments(data: dict[str, Any], project_id: str) -> Response:
    """Say which environments a project has, and how many approvals changes need there"""
    project = service.get_for_change(current_actor, project_id)
    check_if_match(schemas.ProjectDetail, project)
    service.set_environments(current_actor, project, **data)
    return no_body()


@bp.get("/<key:project_id>/access", needs=Access.SIGNED_IN)
@bp.response(200, schemas.Access)
def index_members(project_id: str) -> dict[str, Any]:
    """List the members of a project"""
    return {"members": service.members(current_actor, project_id)}


@bp.put("/<key:project_id>/access", needs=Permission.PROJECT_USER_ACCESS_WRITE, refuses=(409,))
@bp.arguments(schemas.AccessChange, example={"members": [{"id": 1, "roleId": 4}]})
@bp.response(200)
def set_members(data: dict[str, dict[int, Role]], project_id: str) -> Response:
    """Say who the members of a project are

    The list replaces the present one. A project that has an Owner keeps at least one.
    """
    project = service.get_for_change(current_actor, project_id)
    service.set_members(current_actor, project, data["members"])
    return no_body()
