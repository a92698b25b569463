from typing import Any

from flask import Response, url_for

from app.catalogue.environments import service as environments
from app.catalogue.environments.models import Environment
from app.catalogue.environments.schemas import EnvironmentList
from app.catalogue.projects import members, queries, schemas, service
from app.catalogue.projects.models import Project
from app.core.errors import Conflict, Invalid, NotFound
from app.core.paging import Page
from app.core.permissions import Access, Permission, Role
from app.web.current import current_actor
from app.web.listing import whole
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "projects",
    __name__,
    url_prefix="/api/admin/projects",
    description="Projects: who can see and change them, and which environments they use.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.arguments(whole(schemas.ProjectQuery), location="query")
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

    The caller becomes its Owner. Without environments, it uses all that are not deprecated.
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
        message = f"The id cannot be changed. Leave it out or send {project_id!r}."
        raise Invalid.at("/id", message)
    project = service.get_for_change(current_actor, project_id)
    check_if_match(schemas.ProjectDetail, project)
    service.update(current_actor, project, **data)
    return no_body()


@bp.delete("/<key:project_id>", needs=Permission.DELETE_PROJECT, refuses=(409, 412))
@bp.response(200)
def archive(project_id: str) -> Response:
    """Archive a project

    Refused while it has active features. Its id stays taken. You can revive it. Where the project
    needs approvals, this takes a change request.
    """
    project = service.get_for_change(current_actor, project_id)
    check_if_match(schemas.ProjectDetail, project)
    service.archive(current_actor, project)
    return no_body()


@bp.post("/<key:project_id>/restore", needs=Permission.DELETE_PROJECT)
@bp.response(200)
def revive(project_id: str) -> Response:
    """Revive an archived project"""
    service.revive(current_actor, project_id)
    return no_body()


@bp.put("/<key:project_id>/environments", needs=Permission.UPDATE_PROJECT, refuses=(409, 412))
@bp.arguments(schemas.ProjectEnvironments, example={"environments": ["development", "production"]})
@bp.response(200)
def set_environments(data: dict[str, Any], project_id: str) -> Response:
    """Replace the environments of a project, and how many approvals their changes need

    Approvals stay as they are if changeRequestEnvironments is left out. To lower them, or to leave
    out an environment that needs approvals, takes a change request.
    """
    project = service.get_for_change(current_actor, project_id)
    check_if_match(schemas.ProjectDetail, project)
    service.set_environments(current_actor, project, **data)
    return no_body()


@bp.post("/<key:project_id>/environments", needs=Permission.UPDATE_PROJECT, refuses=(404,))
@bp.arguments(schemas.AddedEnvironment, example={"environment": "production"})
@bp.response(200)
def add_environment(data: dict[str, Any], project_id: str) -> Response:
    """Add an environment to a project"""
    project = service.get_for_change(current_actor, project_id)
    if data["environment"] in project.environments:
        raise Conflict(f"Project {project_id} uses {data['environment']} already.")
    wanted = [*project.environments, data["environment"]]
    try:
        service.set_environments(current_actor, project, environments=wanted)
    except Invalid as error:
        raise error.moved(f"/environments/{len(wanted) - 1}", "/environment") from None
    return no_body()


@bp.delete(
    "/<key:project_id>/environments/<key:environment>",
    needs=Permission.UPDATE_PROJECT,
    refuses=(409,),
)
@bp.response(200)
def remove_environment(project_id: str, environment: str) -> Response:
    """Remove an environment from a project

    Its features are off there afterwards. If it needs approvals, that takes a change request.
    """
    project = service.get_for_change(current_actor, project_id)
    rest = [name for name in project.environments if name != environment]
    if len(rest) == len(project.environments):
        raise NotFound(f"Project {project_id} does not use an environment {environment}.")
    if not rest:
        raise Conflict(f"{environment} is the last environment of project {project_id}.")
    service.set_environments(current_actor, project, environments=rest)
    return no_body()


@bp.get("/<key:project_id>/access", needs=Access.SIGNED_IN)
@bp.response(200, schemas.Access, etag=True)
def index_members(project_id: str) -> dict[str, Any]:
    """List the members of a project"""
    return {"members": members.of(current_actor, project_id)}


@bp.put("/<key:project_id>/access", needs=Permission.PROJECT_USER_ACCESS_WRITE, refuses=(409, 412))
@bp.arguments(schemas.AccessChange, example={"members": [{"id": 1, "roleId": 4}]})
@bp.response(200)
def set_members(data: dict[str, dict[int, Role]], project_id: str) -> Response:
    """Replace the members of a project

    Accounts that are not in the list lose their role. To change one member and leave all others
    as they are, use POST and DELETE. A project that has an Owner keeps at least one.
    """
    project = _with_current_members(project_id)
    members.replace(current_actor, project, data["members"])
    return no_body()


@bp.post("/<key:project_id>/access", needs=Permission.PROJECT_USER_ACCESS_WRITE, refuses=(412,))
@bp.arguments(schemas.MemberRef, example={"id": 1, "roleId": 4})
@bp.response(200)
def set_member(data: dict[str, Any], project_id: str) -> Response:
    """Add a member to a project, or change their role

    All other members stay as they are. A project that has an Owner keeps at least one.
    """
    project = _with_current_members(project_id)
    members.set_role(current_actor, project, data["id"], data["role_id"])
    return no_body()


@bp.delete(
    "/<key:project_id>/access/<id:account_id>",
    needs=Permission.PROJECT_USER_ACCESS_WRITE,
    refuses=(409, 412),
)
@bp.response(200)
def remove_member(project_id: str, account_id: int) -> Response:
    """Remove a member of a project

    A project that has an Owner keeps at least one.
    """
    members.remove(current_actor, _with_current_members(project_id), account_id)
    return no_body()


def _with_current_members(project_id: str) -> Project:
    """The project, locked. Refuses a request that was based on other members than the current."""
    project = service.get_for_change(current_actor, project_id)
    check_if_match(schemas.Access, {"members": queries.members(project.id)})
    return project


environments_bp = ApiBlueprint(
    "environments of a project",
    __name__,
    url_prefix="/api/admin/environments/project",
    description="The environments that a project uses.",
)


@environments_bp.get("/<key:project_id>", needs=Access.SIGNED_IN)
@environments_bp.response(200, EnvironmentList)
def index_environments(project_id: str) -> dict[str, list[Environment]]:
    """List the environments that a project uses"""
    used = set(service.get(current_actor, project_id).environments)
    return {"items": [each for each in environments.list_all() if each.name in used]}
