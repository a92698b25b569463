"""Commands for the strategies of a feature in an environment."""

from collections.abc import Sequence
from typing import Any

import click

from app.cli.commands import Output, change_command, query_command, table, validated
from app.cli.constraints import constraint_option, read
from app.core.actor import Actor
from app.segments import service as segments
from app.strategies import schemas, types, words
from app.strategies.models import Strategy
from app.strategies.schemas_variants import thousandths
from app.switching import strategies

HEADINGS = ("id", "strategy")
_project = click.argument("project")
_feature = click.argument("feature")
_id = click.argument("id")
_environment = click.option("--environment", required=True, help="Where it counts.")
_title = click.option("--title", help="A title, for people only.")
_rollout = click.option("--rollout", help="The share of people in percent.")
_stickiness = click.option("--stickiness", help="The context field that the share goes by.")
_parameters = click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of another type of strategy.",
)
_segments = click.option(
    "--segment",
    "segments",
    multiple=True,
    metavar="NAME",
    help="A segment that people have to be in. All of them replace the old ones.",
)
_variants = click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME[=PERCENT]",
    help="A variant, with a weight or sharing the rest. All of them replace the old ones.",
)


@click.group()
def strategy() -> None:
    """Manage who gets a FEATURE of a PROJECT in an environment."""


@strategy.command("list")
@_project
@_feature
@_environment
@query_command
def list_strategies(actor: Actor, project: str, feature: str, environment: str) -> Output:
    """List the strategies of a feature in their order."""
    found = strategies.state(actor, project, feature, environment).strategies
    rows = schemas.StrategyRow(many=True).dump(found)
    return Output({"strategies": rows}, table(HEADINGS, map(_row, found)))


@strategy.command()
@_project
@_feature
@_environment
@click.option("--type", "name", default=types.ROLLOUT, help="The type, by default a rollout.")
@_title
@_rollout
@_stickiness
@_parameters
@constraint_option
@_segments
@_variants
@click.option("--disabled", is_flag=True, default=None, help="SDKs don’t get it yet.")
@change_command
def add(actor: Actor, project: str, feature: str, environment: str, **given: Any) -> Output:
    """Add a strategy. It does not switch the feature on."""
    values = validated(schemas.NewStrategy, _fields(actor, project, **given))
    return _output(strategies.add(actor, project, feature, environment, **values))


@strategy.command()
@_project
@_feature
@_id
@_environment
@_title
@_rollout
@_stickiness
@_parameters
@constraint_option
@_segments
@_variants
@click.option("--disabled/--enabled", default=None, help="Whether SDKs get it.")
@change_command
def update(
    actor: Actor, project: str, feature: str, id: str, environment: str, **given: Any
) -> Output:
    """Change the strategy ID. Options that are left out change nothing."""
    found = strategies.get_for_change(actor, project, feature, environment, id)
    values = validated(schemas.StrategyChanges, _fields(actor, project, **given))
    strategies.update(actor, project, found, **values)
    return _output(found)


@strategy.command()
@_project
@_feature
@_id
@_environment
@change_command
def delete(actor: Actor, project: str, feature: str, id: str, environment: str) -> Output:
    """Delete the strategy ID. A feature that has no other is switched off."""
    strategies.remove(actor, strategies.get_for_change(actor, project, feature, environment, id))
    return Output({"id": id}, f"Deleted a strategy of {feature} in {environment}.")


def _fields(
    actor: Actor,
    project: str,
    *,
    rollout: str | None,
    stickiness: str | None,
    parameters: Sequence[str],
    constraints: Sequence[str],
    segments: Sequence[str],
    variants: Sequence[str],
    **given: Any,
) -> dict[str, Any]:
    """The options by the names they have in the API."""
    values = {"rollout": rollout, "stickiness": stickiness, **dict(map(_parameter, parameters))}
    lists = {
        "parameters": {name: value for name, value in values.items() if value is not None},
        "constraints": read(constraints),
        "segments": [_segment_id(actor, project, name) for name in segments],
        "variants": [_variant(text) for text in variants],
    }
    return given | {name: value for name, value in lists.items() if value}


def _parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--parameter")
    return name, value


def _segment_id(actor: Actor, project: str, name: str) -> int:
    known = {segment.name: segment.id for segment in segments.available(actor, project)}
    if name not in known:
        raise click.BadParameter(f"There is no segment {name!r}.", param_hint="--segment")
    return known[name]


def _variant(text: str) -> dict[str, Any]:
    name, equals, percent = text.partition("=")
    if not equals:
        return {"name": name}
    return {"name": name, "weight": thousandths(percent), "weightType": "fix"}


def _output(found: Strategy) -> Output:
    return Output(schemas.StrategyRow().dump(found), table(HEADINGS, [_row(found)]))


def _row(found: Strategy) -> tuple[object, ...]:
    return found.id, words.summary(found)
