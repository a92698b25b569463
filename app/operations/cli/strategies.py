"""Commands for the strategies of a feature in an environment."""

from typing import Any

import click

from app.catalogue.strategies import schemas, words
from app.catalogue.strategies.models import Strategy
from app.core.actor import Actor
from app.operations.cli.commands import Output, change_command, query_command, table, validated
from app.operations.cli.proposing import do_or_propose
from app.operations.cli.strategy_options import (
    environment_option,
    fields_of,
    project_argument,
    strategy_options,
    type_option,
)
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import Action
from app.releases.switching import strategies

HEADINGS = ("id", "strategy")
_feature = click.argument("feature")
_id = click.argument("id")


@click.group()
def strategy() -> None:
    """Manage who gets a FEATURE of a PROJECT in an environment."""


@strategy.command("list")
@project_argument
@_feature
@environment_option
@query_command
def list_strategies(actor: Actor, project: str, feature: str, environment: str) -> Output:
    """List the strategies of a feature in their order."""
    found = strategies.state(actor, project, feature, environment).strategies
    rows = schemas.StrategyRow(many=True).dump(found)
    return Output({"strategies": rows}, table(HEADINGS, map(_row, found)))


@strategy.command()
@project_argument
@_feature
@environment_option
@type_option
@strategy_options
@click.option("--disabled", is_flag=True, default=None, help="SDKs don’t get it yet.")
@change_command
def add(actor: Actor, project: str, feature: str, environment: str, **given: Any) -> Output:
    """Add a strategy. It does not switch the feature on.

    Where changes need approvals, this opens a change request. With --reason, it adds it at once.
    """
    values = validated(schemas.NewStrategy, fields_of(actor, project, **given))
    return do_or_propose(
        actor,
        lambda: _output(strategies.add(actor, project, feature, environment, **values)),
        lambda: [Proposal(feature, Action.ADD_STRATEGY, values)],
    )


@strategy.command()
@project_argument
@_feature
@_id
@environment_option
@strategy_options
@click.option("--disabled/--enabled", default=None, help="Whether SDKs get it.")
@change_command
def update(
    actor: Actor, project: str, feature: str, id: str, environment: str, **given: Any
) -> Output:
    """Change the strategy ID. Options that are left out change nothing.

    Where changes need approvals, this opens a change request. With --reason, it changes it at once.
    """
    values = validated(schemas.StrategyChanges, fields_of(actor, project, **given))

    def act() -> Output:
        found = strategies.get_for_change(actor, project, feature, environment, id)
        strategies.update(actor, project, found, **values)
        return _output(found)

    edit = Proposal(feature, Action.UPDATE_STRATEGY, {"id": id, **values})
    return do_or_propose(actor, act, lambda: [edit])


@strategy.command()
@project_argument
@_feature
@_id
@environment_option
@change_command
def delete(actor: Actor, project: str, feature: str, id: str, environment: str) -> Output:
    """Delete the strategy ID. A feature that has no other is switched off.

    Where changes need approvals, this opens a change request. With --reason, it deletes it at once.
    """

    def act() -> Output:
        found = strategies.get_for_change(actor, project, feature, environment, id)
        strategies.remove(actor, found)
        return Output({"id": id}, f"Deleted a strategy of {feature} in {environment}.")

    removal = Proposal(feature, Action.DELETE_STRATEGY, {"id": id})
    return do_or_propose(actor, act, lambda: [removal])


def _output(found: Strategy) -> Output:
    return Output(schemas.StrategyRow().dump(found), table(HEADINGS, [_row(found)]))


def _row(found: Strategy) -> tuple[object, ...]:
    return found.id, words.summary(found)
