from typing import Any

import click

from app.access.groups import schemas, service
from app.access.groups.models import Group
from app.core.actor import Actor
from app.core.errors import NotFound
from app.core.permissions import PROJECT_ROLES, ROOT_ROLES, Role
from app.core.words import spoken
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    query_command,
    table,
    validated,
)

HEADINGS = ("id", "role", "projects", "members", "name")
ROLES = {role.name.lower(): role for role in ROOT_ROLES}
IN_PROJECTS = {role.name.lower(): role for role in PROJECT_ROLES}
NO_ROLE = "none"
_name = click.argument("name")
_role = click.option(
    "--role", type=click.Choice([*ROLES, NO_ROLE], case_sensitive=False), help="Role everywhere."
)
_project = click.option(
    "--project",
    "projects",
    multiple=True,
    metavar="ID=ROLE",
    help="A role in a project, owner or member; repeat it for several. All that it gives.",
)


@click.group()
def group() -> None:
    """Manage groups, which give roles to people of single sign-on."""


@group.command("list")
@query_command
def list_groups(_actor: Actor) -> Output:
    """List groups and what they give."""
    page = service.search(limit=UNLIMITED, offset=0)
    rows = [_row(found, found.member_count) for found in page.items]
    return Output(schemas.AccessGroupList().dump(page), table(HEADINGS, rows))


@group.command()
@_name
@_role
@_project
@change_command
def create(actor: Actor, name: str, role: str | None, projects: tuple[str, ...]) -> Output:
    """Create the group NAME, as the provider names it."""
    body = {"name": name, **_given(role, projects)}
    return _output(service.create(actor, **validated(schemas.NewGroup, body)))


@group.command()
@_name
@_role
@_project
@change_command
def update(actor: Actor, name: str, role: str | None, projects: tuple[str, ...]) -> Output:
    """Change what the group NAME gives. Options that are left out change nothing."""
    found = _find(name)
    service.update(actor, found, **validated(schemas.GroupChanges, _given(role, projects)))
    return _output(found)


@group.command()
@_name
@change_command
def delete(actor: Actor, name: str) -> Output:
    """Delete the group NAME. Its members lose what it gave."""
    found = _find(name)
    service.remove(actor, found)
    return Output({"name": found.name}, f"Deleted group {found.name}.")


def _find(name: str) -> Group:
    found = service.named(name)
    if found is None:
        raise NotFound(f"There is no group {name!r}.")
    return service.get_for_change(found.id)


def _given(role: str | None, projects: tuple[str, ...]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if role is not None:
        given["rootRole"] = None if role == NO_ROLE else ROLES[role.lower()].value
    if projects:
        given["projects"] = [_grant(each) for each in projects]
    return given


def _grant(text: str) -> dict[str, Any]:
    id, _, role = text.rpartition("=")
    if role.lower() not in IN_PROJECTS:
        raise click.BadParameter(f"{text!r} must look like payments=member or payments=owner.")
    return {"id": id, "roleId": IN_PROJECTS[role.lower()].value}


def _output(found: Group) -> Output:
    members = len(service.member_ids(found))
    return Output(schemas.GroupDetail().dump(found), table(HEADINGS, [_row(found, members)]))


def _row(found: Group, members: int) -> tuple[object, ...]:
    role: Role | None = found.root_role
    gives = [f"{row.role.title} of {row.project_id}" for row in found.projects]
    return found.id, role.title if role else "none", spoken(gives) or "none", members, found.name
