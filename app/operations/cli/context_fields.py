from collections.abc import Sequence
from typing import Any

import click

from app.catalogue.context import schemas, service
from app.catalogue.context.models import ContextField
from app.core.actor import Actor
from app.operations.cli.commands import Output, change_command, query_command, table, validated

HEADINGS = ("name", "stickiness", "legal values", "description")
_name = click.argument("name")
_description = click.option("--description", help="What it says about the person who asks.")
_stickiness = click.option(
    "--stickiness/--no-stickiness", default=None, help="Whether rollouts can go by it."
)
_legal_values = click.option(
    "--legal-value",
    "legal_values",
    multiple=True,
    metavar="VALUE",
    help="A value it may have. Give the option once for each; all of them replace the old ones.",
)


@click.group("context-field")
def context_field() -> None:
    """Manage context fields: what applications tell about the person who asks."""


@context_field.command("list")
@query_command
def list_context_fields(_actor: Actor) -> Output:
    """List context fields in their order."""
    found = service.list_all()
    rows = schemas.ContextFieldRow(many=True).dump(found)
    return Output({"contextFields": rows}, table(HEADINGS, map(_row, found)))


@context_field.command()
@_name
@_description
@_stickiness
@_legal_values
@change_command
def create(actor: Actor, name: str, **given: Any) -> Output:
    """Create the context field NAME."""
    values = validated(schemas.NewContextField, {"name": name, **_fields(**given)})
    return _output(service.create(actor, **values))


@context_field.command()
@_name
@_description
@_stickiness
@_legal_values
@click.option("--any-value", is_flag=True, help="Remove all legal values.")
@change_command
def update(actor: Actor, name: str, *, any_value: bool, **given: Any) -> Output:
    """Change the context field NAME. Options that are left out change nothing."""
    found = service.get(name, for_change=True)
    fields = _fields(**given) | ({"legalValues": []} if any_value else {})
    service.update(actor, found, **validated(schemas.ContextFieldChanges, fields))
    return _output(found)


@context_field.command()
@_name
@change_command
def delete(actor: Actor, name: str) -> Output:
    """Delete the context field NAME. Nothing may use it."""
    service.remove(actor, service.get(name, for_change=True))
    return Output({"name": name}, f"Deleted context field {name}.")


def _fields(legal_values: Sequence[str], **given: Any) -> dict[str, Any]:
    """The options by the names they have in the API."""
    values = [{"value": value} for value in legal_values]
    return given | ({"legalValues": values} if values else {})


def _output(found: ContextField) -> Output:
    return Output(schemas.ContextFieldRow().dump(found), table(HEADINGS, [_row(found)]))


def _row(found: ContextField) -> tuple[object, ...]:
    stickiness = "yes" if found.stickiness else "no"
    return found.name, stickiness, ", ".join(found.values) or "any", found.description
