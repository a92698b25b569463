from collections.abc import Sequence
from typing import Any

import click

from app.catalogue.strategies import custom, types
from app.catalogue.strategies import schemas_types as schemas
from app.catalogue.strategies.models import CustomParameter, StrategyType
from app.core.actor import Actor
from app.operations.cli.commands import Output, change_command, query_command, table, validated

HEADINGS = ("name", "parameters", "state", "description")
REQUIRED = "required"
_name = click.argument("name")
_description = click.option("--description", help="Who it chooses.")
_parameters = click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME[:TYPE][:required]",
    help="A value that its strategies set, like regions:list:required. The types are "
    f"{', '.join(types.CHECKS)}. Give the option once for each; all of them replace the old ones.",
)


@click.group("strategy-type")
def strategy_type() -> None:
    """Manage types of strategy that your applications implement themselves."""


@strategy_type.command("list")
@query_command
def list_strategy_types(_actor: Actor) -> Output:
    """List strategy types: those that every SDK knows, then yours."""
    found = custom.with_built_in()
    rows = schemas.StrategyTypeList().dump({"strategies": found})
    return Output(rows, table(HEADINGS, map(_row, found)))


@strategy_type.command()
@_name
@_description
@_parameters
@change_command
def create(actor: Actor, name: str, **given: Any) -> Output:
    """Create the strategy type NAME. Applications have to implement it."""
    values = validated(schemas.NewStrategyType, {"name": name, **_fields(**given)})
    return _output(custom.create(actor, **values))


@strategy_type.command()
@_name
@_description
@_parameters
@click.option("--no-parameters", is_flag=True, help="Remove all parameters.")
@change_command
def update(actor: Actor, name: str, *, no_parameters: bool, **given: Any) -> Output:
    """Change the strategy type NAME. Options that are left out change nothing."""
    found = custom.get(name, for_change=True)
    fields = _fields(**given) | ({"parameters": []} if no_parameters else {})
    custom.update(actor, found, **validated(schemas.StrategyTypeChanges, fields))
    return _output(found)


@strategy_type.command()
@_name
@change_command
def deprecate(actor: Actor, name: str) -> Output:
    """Stop offering the strategy type NAME. Strategies that have it stay as they are."""
    return _set_deprecated(actor, name, deprecated=True)


@strategy_type.command()
@_name
@change_command
def reactivate(actor: Actor, name: str) -> Output:
    """Offer the strategy type NAME again."""
    return _set_deprecated(actor, name, deprecated=False)


@strategy_type.command()
@_name
@change_command
def delete(actor: Actor, name: str) -> Output:
    """Delete the strategy type NAME. No strategy may have it."""
    custom.remove(actor, custom.get(name, for_change=True))
    return Output({"name": name}, f"Deleted strategy type {name}.")


def _set_deprecated(actor: Actor, name: str, *, deprecated: bool) -> Output:
    found = custom.get(name, for_change=True)
    custom.set_deprecated(actor, found, deprecated=deprecated)
    return _output(found)


def _fields(parameters: Sequence[str], **given: Any) -> dict[str, Any]:
    """The options by the names they have in the API."""
    return given | ({"parameters": list(map(_parameter, parameters))} if parameters else {})


def _parameter(text: str) -> dict[str, Any]:
    name, *rest = text.split(":")
    required = rest[-1:] == [REQUIRED]
    kinds = rest[:-1] if required else rest
    if len(kinds) > 1:
        raise click.BadParameter(
            f"{text!r} is not NAME[:TYPE][:{REQUIRED}].", param_hint="--parameter"
        )
    return {"name": name, "required": required, **({"type": kinds[0]} if kinds else {})}


def _output(found: StrategyType) -> Output:
    return Output(schemas.StrategyTypeRow().dump(found), table(HEADINGS, [_row(found)]))


def _row(found: StrategyType) -> tuple[object, ...]:
    state = "built in" if found.name in types.TYPES else "deprecated" if found.deprecated else ""
    return found.name, ", ".join(map(_written, found.parameters)), state, found.description


def _written(parameter: CustomParameter) -> str:
    """A parameter in the form of ``--parameter``."""
    return ":".join(
        [parameter["name"], parameter["type"], *([REQUIRED] if parameter["required"] else [])]
    )
