"""Commands for default strategies, which features without a strategy get when switched on."""

from typing import Any

import click

from app.catalogue.strategies import schemas, words
from app.catalogue.strategies.models import Strategy
from app.core.actor import Actor
from app.operations.cli.commands import Output, change_command, query_command, table, validated
from app.operations.cli.strategy_options import (
    environment_option,
    fields_of,
    project_argument,
    strategy_options,
    type_option,
)
from app.releases.switching import defaults

HEADINGS = ("environment", "strategy")


@click.group("default-strategy")
def default_strategy() -> None:
    """Manage what features of a PROJECT get when they are switched on without a strategy."""


@default_strategy.command()
@project_argument
@environment_option
@query_command
def show(actor: Actor, project: str, environment: str) -> Output:
    """Show the default strategy of an environment."""
    return _output(defaults.get(actor, project, environment))


@default_strategy.command("set")
@project_argument
@environment_option
@type_option
@strategy_options
@change_command
def set_default(actor: Actor, project: str, environment: str, **given: Any) -> Output:
    """Replace the default strategy of an environment. Features that are on keep theirs."""
    present = defaults.get_for_change(actor, project, environment)
    values = validated(schemas.DefaultStrategy, fields_of(actor, project, **given))
    return _output(defaults.choose(actor, present, **values))


@default_strategy.command()
@project_argument
@environment_option
@change_command
def reset(actor: Actor, project: str, environment: str) -> Output:
    """Go back to: on for everyone."""
    defaults.reset(actor, defaults.get_for_change(actor, project, environment))
    return _output(defaults.get(actor, project, environment))


def _output(found: Strategy) -> Output:
    text = table(HEADINGS, [(found.environment, words.summary(found))])
    return Output(schemas.DefaultStrategyRow().dump(found), text)
