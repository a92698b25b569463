from typing import Any

import click

from app.catalogue.tagging import renaming_types
from app.catalogue.tagging.schemas import TypeRenaming
from app.catalogue.tags import schemas, service
from app.catalogue.tags.models import HUES, TagType
from app.core.actor import Actor
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    query_command,
    table,
    validated,
)

HEADINGS = ("name", "hue", "description")
_name = click.argument("name")
_description = click.option("--description", help="What tags of this type say.")
_hue = click.option("--hue", type=int, help=f"The number of its colour, 1 to {HUES}.")


@click.group("tag-type")
def tag_type() -> None:
    """Manage tag types, which group tags."""


@tag_type.command("list")
@query_command
def list_tag_types(_actor: Actor) -> Output:
    """List tag types."""
    page = service.search_types(limit=UNLIMITED, offset=0)
    return Output(schemas.TagTypeList().dump(page), table(HEADINGS, map(_row, page.items)))


@tag_type.command()
@_name
@_description
@_hue
@change_command
def create(actor: Actor, name: str, **given: Any) -> Output:
    """Create the tag type NAME."""
    values = validated(schemas.NewTagType, {"name": name, **given})
    return _output(service.create_type(actor, **values))


@tag_type.command()
@_name
@_description
@_hue
@change_command
def update(actor: Actor, name: str, **given: Any) -> Output:
    """Change the tag type NAME. Options that are left out change nothing."""
    found = service.get_type(name)
    service.update_type(actor, found, **validated(schemas.TagTypeUpdate, given))
    return _output(found)


@tag_type.command()
@_name
@click.argument("to")
@change_command
def rename(actor: Actor, name: str, to: str) -> Output:
    """Rename the tag type NAME to TO, with its tags on all features."""
    values = validated(TypeRenaming, {"type": name, "to": to})
    return _output(renaming_types.rename(actor, values["type"], values["to"]))


@tag_type.command()
@_name
@change_command
def delete(actor: Actor, name: str) -> Output:
    """Delete the tag type NAME and its unused tags. No feature may have a tag of this type."""
    service.remove_type(actor, service.get_type(name))
    return Output({"name": name}, f"Deleted tag type {name}.")


def _output(found: TagType) -> Output:
    return Output(schemas.TagTypeRow().dump(found), table(HEADINGS, [_row(found)]))


def _row(found: TagType) -> tuple[object, ...]:
    return found.name, found.hue, found.description
