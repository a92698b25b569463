"""Options of the commands that add or change a strategy."""

from collections.abc import Sequence
from typing import Any

import click

from app.catalogue.segments import service as segments
from app.catalogue.strategies import types
from app.catalogue.strategies.schemas_variants import thousandths
from app.core.actor import Actor
from app.operations.cli.commands import Command
from app.operations.cli.constraints import constraint_option, read

project_argument = click.argument("project")
environment_option = click.option("--environment", required=True, help="Where it counts.")
type_option = click.option(
    "--type", "name", default=types.ROLLOUT, help="The type, by default a rollout."
)

OPTIONS = (
    click.option("--title", help="A title, for people only."),
    click.option("--rollout", help="The share of people in percent."),
    click.option("--stickiness", help="The context field that the share goes by."),
    click.option(
        "--parameter",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of another type of strategy.",
    ),
    constraint_option,
    click.option(
        "--segment",
        "segments",
        multiple=True,
        metavar="NAME",
        help="A segment that people have to be in. All of them replace the old ones.",
    ),
    click.option(
        "--variant",
        "variants",
        multiple=True,
        metavar="NAME[=PERCENT]",
        help="A variant, with a weight or sharing the rest. All of them replace the old ones.",
    ),
)


def strategy_options(command: Command) -> Command:
    """Add the options that ``fields_of`` reads, and ``--title``, to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def fields_of(
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
