from typing import Any

from flask import Response, url_for

from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint, no_body
from app.core.errors import Invalid
from app.core.paging import Page
from app.core.permissions import Access, Permission
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


@bp.post("", needs=Permission.CREATE_PROJECT, refuses=(409,))
@bp.arguments(schemas.NewProject)
@bp.response(201, schemas.ProjectDetail)
def create(data: dict[str, Any]) -> tuple[Project, dict[str, str]]:
    """Create a project

    The caller becomes its Owner. Without environments, all that are not deprecated are enabled.
    """
    project = service.create(current_actor, **data)
    return project, {"Location": url_for(".show", project_id=project.id)}


@bp.get("/<key:project_id>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ProjectDetail)
def show(project_id: str) -> Project:
    """Read a project"""
    return service.get(current_actor, project_id)


@bp.put("/<key:project_id>", needs=Permission.UPDATE_PROJECT)
@bp.arguments(schemas.ProjectChanges)
@bp.response(200)
def update(data: dict[str, Any], project_id: str) -> Response:
    """Update a project

    Fields that are left out stay as they are.
    """
    if data.pop("id", project_id) != project_id:
        message = f"The id can't be changed; leave it out or send {project_id!r}."
        raise Invalid.because([{"path": "/id", "message": message}])
    project = service.get_for_change(current_actor, project_id)
    service.update(current_actor, project, **data)
    return no_body()
