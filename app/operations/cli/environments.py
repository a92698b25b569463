from typing import Any

import click

from app.catalogue.environments import schemas, service
from app.catalogue.environments.models import Environment, EnvironmentType
from app.core.actor import Actor
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    query_command,
    table,
    validated,
)

HEADINGS = ("order", "type", "state", "name")
_name = click.argument("name")
_types = click.Choice([type.value for type in EnvironmentType])
_sort_order = click.option(
    "--sort-order", type=int, help="Its place in lists: lower numbers come first."
)


@click.group()
def environment() -> None:
    """Manage environments, such as development and production."""


@environment.command("list")
@query_command
def list_environments(_actor: Actor) -> Output:
    """List environments in their order."""
    page = service.search(limit=UNLIMITED, offset=0)
    return Output(schemas.EnvironmentList().dump(page), table(HEADINGS, map(_row, page.items)))


@environment.command()
@_name
@click.option("--type", type=_types, required=True, help="What it is used for.")
@_sort_order
@change_command
def create(actor: Actor, name: str, **given: Any) -> Output:
    """Create the environment NAME. Projects use it once they turn it on in their settings."""
    values = validated(schemas.NewEnvironment, {"name": name, **_fields(given)})
    return _output(service.create(actor, **values))


@environment.command()
@_name
@click.option("--type", type=_types, help="What it is used for.")
@_sort_order
@click.option(
    "--deprecated/--not-deprecated", default=None, help="Whether new projects leave it out."
)
@change_command
def update(actor: Actor, name: str, **given: Any) -> Output:
    """Change the environment NAME. Options that are left out change nothing."""
    found = service.get_for_change(name)
    service.update(actor, found, **validated(schemas.EnvironmentChanges, _fields(given)))
    return _output(found)


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """The options by the names they have in the API."""
    return {"sortOrder": given.pop("sort_order"), **given}


def _output(found: Environment) -> Output:
    return Output(schemas.EnvironmentRow().dump(found), table(HEADINGS, [_row(found)]))


def _row(found: Environment) -> tuple[object, ...]:
    state = "deprecated" if found.deprecated else "in use"
    return found.sort_order, found.type.value, state, found.name
