from typing import Any

import click

from app.catalogue.projects import members as membership
from app.catalogue.projects import schemas, service
from app.catalogue.projects.models import Project, ProjectMode
from app.core.actor import Actor
from app.core.permissions import PROJECT_ROLES, Role
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    find_account,
    query_command,
    role_option,
    table,
    validated,
)
from app.operations.cli.proposing import do_or_propose
from app.releases.change_requests import proposals

_id = click.argument("id")
_mode = click.option(
    "--mode",
    type=click.Choice([mode.value for mode in ProjectMode]),
    help="Who can see and change the project.",
)
_description = click.option("--description", help="What the project is for.")


@click.group()
def project() -> None:
    """Manage projects and their members."""


@project.command("list")
@click.option("--text", help="Part of the name or the id.")
@_mode
@click.option("--archived", is_flag=True, help="List archived projects instead.")
@query_command
def list_projects(actor: Actor, text: str | None, mode: str | None, *, archived: bool) -> Output:
    """List projects."""
    given = {"text": text, "mode": mode, "archived": str(archived).lower()}
    query = validated(schemas.ProjectQuery, given) | {"limit": UNLIMITED}
    value = schemas.ProjectList().dump(service.search(actor, **query))
    keys = ("id", "mode", "featureCount", "memberCount", "name")
    rows = ([row[key] for key in keys] for row in value["projects"])
    return Output(value, table(("id", "mode", "features", "members", "name"), rows))


@project.command()
@_id
@query_command
def show(actor: Actor, id: str) -> Output:
    """Show the project ID."""
    return _output(service.get(actor, id))


@project.command()
@_id
@click.option("--name", required=True, help="The name people see.")
@_mode
@_description
@click.option(
    "--environment",
    "environments",
    multiple=True,
    help="An environment to use. Repeat for several. Default: all.",
)
@change_command
def create(
    actor: Actor,
    id: str,
    *,
    name: str,
    mode: str | None,
    description: str | None,
    environments: tuple[str, ...],
) -> Output:
    """Create the project ID. Add an Owner with flagstaff project grant."""
    given = {
        "id": id,
        "name": name,
        "mode": mode,
        "description": description,
        "environments": list(environments) or None,
    }
    return _output(service.create(actor, **validated(schemas.NewProject, given)))


@project.command()
@_id
@click.option("--name", help="The name people see.")
@_mode
@_description
@change_command
def update(
    actor: Actor, id: str, name: str | None, mode: str | None, description: str | None
) -> Output:
    """Change the project ID. Options that are left out change nothing."""
    found = service.get_for_change(actor, id)
    given = {"name": name or found.name, "mode": mode, "description": description}
    changes = validated(schemas.ProjectChanges, given)
    service.update(actor, found, **changes)
    return _output(found)


@project.command()
@_id
@change_command
def archive(actor: Actor, id: str) -> Output:
    """Archive the project ID. It must have no active features. You can revive it."""

    def act() -> Output:
        service.archive(actor, service.get_for_change(actor, id))
        return Output({"id": id}, f"Project {id} archived.")

    return do_or_propose(actor, act, proposals.archiving_project)


@project.command()
@_id
@change_command
def revive(actor: Actor, id: str) -> Output:
    """Revive the archived project ID."""
    return _output(service.revive(actor, id))


@project.command()
@_id
@query_command
def members(actor: Actor, id: str) -> Output:
    """List the members of the project ID."""
    return _members(actor, id)


@project.command()
@_id
@click.argument("account")
@role_option(PROJECT_ROLES, default="Member", show_default=True)
@change_command
def grant(actor: Actor, id: str, account: str, role: int) -> Output:
    """Give the person or service account ACCOUNT a role in the project ID."""
    found = service.get_for_change(actor, id)
    membership.set_role(actor, found, find_account(account).id, Role(role))
    return _members(actor, id)


@project.command()
@_id
@click.argument("account")
@change_command
def withdraw(actor: Actor, id: str, account: str) -> Output:
    """Remove the member ACCOUNT from the project ID. One Owner must remain."""
    found = service.get_for_change(actor, id)
    membership.remove(actor, found, find_account(account).id)
    return _members(actor, id)


def _output(found: Project) -> Output:
    value: dict[str, Any] = schemas.ProjectDetail().dump(found)
    environments = ", ".join(value["environments"])
    rows = [(value["id"], value["mode"], environments, value["name"])]
    return Output(value, table(("id", "mode", "environments", "name"), rows))


def _members(actor: Actor, id: str) -> Output:
    value = schemas.Access().dump({"members": membership.of(actor, id)})
    rows = (
        (row["id"], Role(row["roleId"]).title, row["accountType"], row["username"] or row["name"])
        for row in value["members"]
    )
    return Output(value, table(("id", "role", "kind", "account"), rows))
