"""The commands of ``flagstaff``, as they describe themselves to ``--help``."""

from collections.abc import Iterator
from pkgutil import resolve_name
from typing import NamedTuple

import click

COMMON = {"--json", "--dry-run", "--reason", "--help"}
"""Options that nearly every command has, so they are explained once."""


class OptionEntry(NamedTuple):
    usage: str
    help: str


class CommandEntry(NamedTuple):
    """``usage``: ``flagstaff user show NAME``; ``help``: its paragraphs."""

    usage: str
    help: list[str]
    options: list[OptionEntry]


class GroupEntry(NamedTuple):
    """Commands under one name, such as ``flagstaff user``."""

    name: str
    help: list[str]
    commands: list[CommandEntry]


def groups() -> list[GroupEntry]:
    """First the commands that stand alone, then each group."""
    # Imported at run time, because the commands import the application, and so this page.
    cli: click.Group = resolve_name("app.operations.cli:cli")
    # With its settings, because click caches the options as the first context names them.
    return list(_groups(cli, click.Context(cli, info_name="flagstaff", **cli.context_settings)))


def _groups(group: click.Group, context: click.Context) -> Iterator[GroupEntry]:
    inner = [
        (command, click.Context(command, parent=context, info_name=name))
        for name in sorted(group.list_commands(context))
        if (command := group.get_command(context, name))
    ]
    commands = [_entry(*one) for one in inner if not isinstance(one[0], click.Group)]
    yield GroupEntry(context.command_path, _paragraphs(group), commands)
    for command, below in inner:
        if isinstance(command, click.Group):
            yield from _groups(command, below)


def _entry(command: click.Command, context: click.Context) -> CommandEntry:
    names = [
        parameter.make_metavar(context)
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    ]
    options = [
        OptionEntry(record[0], _one_line(record[1]))
        for parameter in command.params
        if not COMMON.intersection(parameter.opts)
        and (record := parameter.get_help_record(context))
        and record[1]
    ]
    return CommandEntry(" ".join([context.command_path, *names]), _paragraphs(command), options)


def _paragraphs(command: click.Command) -> list[str]:
    text = (command.help or "").replace("\b", "")
    return [_one_line(paragraph) for paragraph in text.split("\n\n")]


def _one_line(text: str) -> str:
    return " ".join(text.split())
