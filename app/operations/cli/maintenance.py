from functools import partial

import click

from app.core.actor import Actor
from app.core.maintenance import service
from app.operations.cli.commands import Output, change_command, query_command

_switch_command = partial(change_command, even_in_maintenance=True)


@click.group()
def maintenance() -> None:
    """Make this Flagstaff read-only for a while. Applications don't notice."""


@maintenance.command()
@_switch_command
def on(actor: Actor) -> Output:
    """Switch on maintenance mode: nothing can be changed until it ends."""
    service.switch(actor, on=True)
    return _output()


@maintenance.command()
@_switch_command
def off(actor: Actor) -> Output:
    """Switch off maintenance mode. Change requests that fell due are applied now."""
    service.switch(actor, on=False)
    return _output()


@maintenance.command()
@query_command
def show(_actor: Actor) -> Output:
    """Show whether maintenance mode is on, since when, and who switched it on."""
    return _output()


def _output() -> Output:
    found = service.current()
    if found is None:
        return Output({"enabled": False}, "Maintenance mode is off.")
    text = f"Maintenance mode is on since {found.since:%Y-%m-%d at %H:%M} UTC, by {found.by}."
    return Output({"enabled": True}, text)
