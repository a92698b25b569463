"""The command ``flagstaff``, for the people who run the machine."""

import os
import sys
from collections.abc import Sequence
from pkgutil import resolve_name

import click
from click.core import ParameterSource
from click.exceptions import NoArgsIsHelpError
from flask.helpers import get_debug_flag

from app.operations.cli.errors import message_for
from app.operations.cli.serve import serve

REMOTE = ("export", "apply")
"""Commands that can work on another Flagstaff, over HTTP."""


class _Commands(click.Group):
    """Imports the commands that administer when one is asked for: a server needs none of them.

    All at once: each needs the models that the tables of its own refer to.
    """

    def list_commands(self, _context: click.Context) -> list[str]:
        return sorted([*self.commands, *self._administration().commands])

    def get_command(self, _context: click.Context, cmd_name: str) -> click.Command | None:
        return self.commands.get(cmd_name) or self._administration().commands.get(cmd_name)

    def _administration(self) -> click.Group:
        group: click.Group = resolve_name(f"{__name__}.administration:administration")
        return group


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="flagstaff", prog_name="flagstaff")
@click.option(
    "--server",
    metavar="URL",
    envvar="FLAGSTAFF_SERVER",
    help=f"The Flagstaff on which {' or '.join(REMOTE)} works, if not the one on this machine.",
)
@click.pass_context
def cli(context: click.Context, server: str | None) -> None:
    """Run and administer Flagstaff, a portal for feature toggles.

    Settings come from environment variables that start with FLAGSTAFF_. The page /help of a running
    server lists them all.
    """
    command = context.invoked_subcommand
    if command in REMOTE:
        context.default_map = {command: {"server": server}}
    elif context.get_parameter_source("server") is ParameterSource.COMMANDLINE:
        raise click.UsageError(f"--server goes with {' or '.join(REMOTE)}, not with {command}.")


cli.add_command(serve)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command in ``arguments``, by default those of the process.

    An error is printed on one line and ends the process with a status other than 0. With
    FLASK_DEBUG=1 its traceback is shown.
    """
    try:
        cli(arguments, prog_name="flagstaff", standalone_mode=False)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        hint = f" Try: {error.ctx.command_path} --help" if error.ctx else ""
        _fail(error.format_message() + hint, error.exit_code)
    except click.ClickException as error:
        _fail(error.format_message(), error.exit_code)
    except click.Abort:
        sys.exit(130)
    except BrokenPipeError:  # the reader of a pipe, like head, has ended
        # Otherwise Python would fail again when it flushes the output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if get_debug_flag():
            raise
        _fail(message_for(error))


def _fail(message: str, status: int = 1) -> None:
    click.echo(f"flagstaff: {' '.join(message.split())}", err=True)
    sys.exit(status)
