"""The command ``flagstaff``, for the people who run the machine."""

import os
import sys
from collections.abc import Sequence

import click
from click.exceptions import NoArgsIsHelpError
from flask.helpers import get_debug_flag

from app.operations.cli import (
    backup,
    browser_origins,
    change_requests,
    configuration,
    context_fields,
    database,
    default_strategies,
    environments,
    evaluate,
    events,
    features,
    groups,
    instance,
    projects,
    scim_tokens,
    sdk_tokens,
    search,
    segments,
    service_accounts,
    strategies,
    strategy_types,
    tag_types,
    tokens,
    unleash,
    users,
    webhooks,
)
from app.operations.cli.errors import message_for


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="flagstaff", prog_name="flagstaff")
def cli() -> None:
    """Run and administer Flagstaff, a portal for feature toggles.

    Settings come from environment variables that start with FLAGSTAFF_. The page /help of a running
    server lists them all.
    """


for command in (
    instance.serve,
    users.user,
    groups.group,
    service_accounts.service_account,
    tokens.token,
    scim_tokens.scim_token,
    sdk_tokens.sdk_token,
    browser_origins.browser_origins,
    webhooks.webhook,
    projects.project,
    features.feature,
    features.tag_group,
    search.search,
    evaluate.evaluate,
    tag_types.tag_type,
    environments.environment,
    context_fields.context_field,
    segments.segment,
    strategies.strategy,
    default_strategies.default_strategy,
    change_requests.change_request,
    strategy_types.strategy_type,
    events.events,
    unleash.import_group,
    configuration.export,
    configuration.apply,
    backup.backup,
    backup.restore,
    database.db_group,
    instance.doctor,
    instance.example,
    instance.completion,
    instance.demo,
):
    cli.add_command(command)
features.feature.add_command(unleash.export)


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
