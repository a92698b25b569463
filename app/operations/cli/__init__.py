"""The command ``flagstaff``, for the people who run the machine."""

import os
import sys
from collections.abc import Sequence
from pkgutil import resolve_name

import click
from click.exceptions import NoArgsIsHelpError
from flask.helpers import get_debug_flag

from app.operations.cli.errors import message_for

COMMANDS = {
    "apply": "configuration:apply",
    "backup": "backup:backup",
    "browser-origins": "browser_origins:browser_origins",
    "change-request": "change_requests:change_request",
    "completion": "instance:completion",
    "context-field": "context_fields:context_field",
    "db": "database:db_group",
    "default-strategy": "default_strategies:default_strategy",
    "demo": "instance:demo",
    "doctor": "instance:doctor",
    "environment": "environments:environment",
    "evaluate": "evaluate:evaluate",
    "events": "events:events",
    "example": "instance:example",
    "export": "configuration:export",
    "feature": "features:feature",
    "group": "groups:group",
    "import": "unleash:import_group",
    "project": "projects:project",
    "restore": "backup:restore",
    "scim-token": "scim_tokens:scim_token",
    "sdk-token": "sdk_tokens:sdk_token",
    "search": "search:search",
    "segment": "segments:segment",
    "serve": "serve:serve",
    "service-account": "service_accounts:service_account",
    "strategy": "strategies:strategy",
    "strategy-type": "strategy_types:strategy_type",
    "tag": "features:tag_group",
    "tag-type": "tag_types:tag_type",
    "token": "tokens:token",
    "user": "users:user",
    "webhook": "webhooks:webhook",
}
"""Where each is: its module and its name there."""


class _Commands(click.Group):
    """Imports a command when it is asked for: a server needs one of them."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _context: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = resolve_name(f"{__name__}.{COMMANDS[cmd_name]}")
        return found


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="flagstaff", prog_name="flagstaff")
def cli() -> None:
    """Run and administer Flagstaff, a portal for feature toggles.

    Settings come from environment variables that start with FLAGSTAFF_. The page /help of a running
    server lists them all.
    """


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
