"""The command ``flagstaff``: a third face of the services, for whoever runs the machine."""

import sys
from collections.abc import Sequence

import click
from click.exceptions import NoArgsIsHelpError
from sqlalchemy.exc import SQLAlchemyError

from app.cli import (
    backup,
    completion,
    database,
    demo,
    doctor,
    events,
    example,
    features,
    projects,
    serve,
    service_accounts,
    tokens,
    users,
)
from app.cli.instance import Lost
from app.config import WrongSetting
from app.core.errors import DomainError
from app.core.migrations import WrongSchema


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="flagstaff", prog_name="flagstaff")
def cli() -> None:
    """Administer the feature toggles of an organisation on its own machine.

    Settings are read from environment variables that begin with FLAGSTAFF_; see README.md.
    """


for command in (
    serve.serve,
    users.user,
    service_accounts.service_account,
    tokens.token,
    projects.project,
    features.feature,
    features.tag_group,
    events.events,
    backup.backup,
    backup.restore,
    database.db_group,
    doctor.doctor,
    example.example,
    completion.completion,
    demo.demo,
):
    cli.add_command(command)


def main(words: Sequence[str] | None = None) -> None:
    """Run a command, that of the process unless ``words`` are given.

    Whatever stops it is one line and a status other than zero.
    """
    try:
        cli(words, prog_name="flagstaff", standalone_mode=False)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        hint = f" Try: {error.ctx.command_path} --help" if error.ctx else ""
        _stop(error.format_message() + hint, error.exit_code)
    except click.ClickException as error:
        _stop(error.format_message(), error.exit_code)
    except click.Abort:
        sys.exit(130)
    except DomainError as error:
        _stop(error.message)
    except (WrongSetting, WrongSchema, Lost, OSError) as error:
        _stop(str(error))
    except SQLAlchemyError as error:
        _stop(f"The database can't be used: {str(error).splitlines()[0]}")


def _stop(message: str, status: int = 1) -> None:
    click.echo(f"flagstaff: {' '.join(message.split())}", err=True)
    sys.exit(status)
