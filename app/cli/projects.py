from typing import Any

import click

from app.cli.commands import ALL, Said, account_of, changing, checked, reading, role_option, table
from app.core.actor import Actor
from app.core.errors import NotFound
from app.core.permissions import PROJECT_ROLES, Role
from app.projects import schemas, service
from app.projects.models import Project, ProjectMode

_id = click.argument("id")
_mode = click.option(
    "--mode", type=click.Choice([mode.value for mode in ProjectMode]), help="Who sees and changes."
)
_description = click.option("--description", help="What it is for.")


@click.group()
def project() -> None:
    """Manage projects and their members."""


@project.command("list")
@click.option("--text", help="Part of the name or id.")
@_mode
@click.option("--archived", is_flag=True, help="The archived ones instead.")
@reading
def list_projects(actor: Actor, text: str | None, mode: str | None, *, archived: bool) -> Said:
    """List projects."""
    given = {"text": text, "mode": mode, "archived": str(archived).lower()}
    query = checked(schemas.ProjectQuery, given) | {"limit": ALL}
    value = schemas.ProjectList().dump(service.search(actor, **query))
    keys = ("id", "mode", "featureCount", "memberCount", "name")
    rows = ([row[key] for key in keys] for row in value["projects"])
    return Said(value, table(("id", "mode", "features", "members", "name"), rows))


@project.command()
@_id
@reading
def show(actor: Actor, id: str) -> Said:
    """Show the project ID."""
    return _told(service.get(actor, id))


@project.command()
@_id
@click.option("--name", required=True, help="What people call it.")
@_mode
@_description
@click.option("--environment", "environments", multiple=True, help="Each that it has; else all.")
@changing
def create(
    actor: Actor,
    id: str,
    *,
    name: str,
    mode: str | None,
    description: str | None,
    environments: tuple[str, ...],
) -> Said:
    """Create the project ID. Nobody owns it yet: flagstaff project grant."""
    given = {
        "id": id,
        "name": name,
        "mode": mode,
        "description": description,
        "environments": list(environments) or None,
    }
    return _told(service.create(actor, **checked(schemas.NewProject, given)))


@project.command()
@_id
@click.option("--name", help="What people call it.")
@_mode
@_description
@changing
def update(
    actor: Actor, id: str, name: str | None, mode: str | None, description: str | None
) -> Said:
    """Change the project ID; an option that is left out changes nothing."""
    found = service.get_for_change(actor, id)
    given = {"name": name or found.name, "mode": mode, "description": description}
    changes = checked(schemas.ProjectChanges, given)
    return _told(service.update(actor, found, **changes))


@project.command()
@_id
@changing
def archive(actor: Actor, id: str) -> Said:
    """Archive the project ID, which must have no active features. It can be revived."""
    service.archive(actor, service.get_for_change(actor, id))
    return Said({"id": id}, f"Project {id} is archived.")


@project.command()
@_id
@changing
def revive(actor: Actor, id: str) -> Said:
    """Bring the archived project ID back."""
    return _told(service.revive(actor, id))


@project.command()
@_id
@reading
def members(actor: Actor, id: str) -> Said:
    """List who has a role in the project ID."""
    return _members(actor, id)


@project.command()
@_id
@click.argument("account")
@role_option(PROJECT_ROLES, default="Member", show_default=True)
@changing
def grant(actor: Actor, id: str, account: str, role: int) -> Said:
    """Give ACCOUNT, a person or service account, a role in the project ID."""
    found = service.get_for_change(actor, id)
    roles = service.roles(actor, id) | {account_of(account).id: Role(role)}
    service.set_members(actor, found, roles)
    return _members(actor, id)


@project.command()
@_id
@click.argument("account")
@changing
def withdraw(actor: Actor, id: str, account: str) -> Said:
    """Take the role in the project ID from ACCOUNT; one Owner must remain."""
    found = service.get_for_change(actor, id)
    roles = service.roles(actor, id)
    if roles.pop(account_of(account).id, None) is None:
        raise NotFound(f"{account} has no role in project {id}.")
    service.set_members(actor, found, roles)
    return _members(actor, id)


def _told(found: Project) -> Said:
    value: dict[str, Any] = schemas.ProjectDetail().dump(found)
    environments = ", ".join(value["environments"])
    rows = [(value["id"], value["mode"], environments, value["name"])]
    return Said(value, table(("id", "mode", "environments", "name"), rows))


def _members(actor: Actor, id: str) -> Said:
    value = schemas.Access().dump({"members": service.members(actor, id)})
    rows = (
        (row["id"], Role(row["roleId"]).title, row["accountType"], row["username"] or row["name"])
        for row in value["members"]
    )
    return Said(value, table(("id", "role", "kind", "account"), rows))
