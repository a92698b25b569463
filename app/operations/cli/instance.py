"""Commands about the instance itself."""

import os
import signal
import socket
import sys
from collections import Counter
from dataclasses import asdict
from tempfile import TemporaryDirectory

import click
from click.shell_completion import get_completion_class
from flask import Flask

from app.accounts import links
from app.core.actor import COMMAND_LINE
from app.core.config import Settings, from_environment, from_process
from app.core.db import unit_of_work
from app.operations.cli.commands import (
    Output,
    find_account,
    json_option,
    print_output,
    progress_bar,
)
from app.operations.demo import service
from app.operations.server.instance import migrate, open_instance, write_transaction
from app.operations.upkeep.doctor import run_checks
from app.operations.upkeep.doctor.findings import Severity
from app.portal.help.examples import EXAMPLES
from app.web.current import current_key


@click.command()
@click.argument("name", type=click.Choice(list(EXAMPLES)))
def example(name: str) -> None:
    """Print an example configuration file that uses the current settings.

    For nginx: FLAGSTAFF_BASE_URL=https://flags.example.org flagstaff example nginx
    """
    click.echo(EXAMPLES[name].text(from_process()))


SHELLS = ("bash", "zsh", "fish")
OF_A_DEMO = [
    f"FLAGSTAFF_{name}" for name in ("HOST", "PORT", "BASE_URL", "URL_PREFIX", "PROCESSES")
]
"""The settings that count for ``flagstaff demo --serve``: none says where data is."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes flagstaff commands in SHELL.

    For bash: echo 'eval "$(flagstaff completion bash)"' >> ~/.bashrc
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click supports all of SHELLS  # noqa: S101
    root = context.find_root()
    click.echo(kind(root.command, {}, "flagstaff", "_FLAGSTAFF_COMPLETE").source())


@click.command()
@click.option("--serve", is_flag=True, help="Serve it from a new folder, deleted at the end.")
def demo(*, serve: bool) -> None:
    """Fill an empty instance with a made-up organisation to explore.

    With --serve, nothing else is needed: the organisation is in a folder of its own, the server
    listens on a free port of this machine, and a link to sign in with is printed. SIGTERM or Ctrl-C
    ends it and deletes the folder. Your own instance is not touched. Of the settings, only
    FLAGSTAFF_HOST, FLAGSTAFF_PORT, FLAGSTAFF_BASE_URL, FLAGSTAFF_URL_PREFIX and FLAGSTAFF_PROCESSES
    count.
    """
    if serve:
        sys.exit(_serve_demo())
    with write_transaction() as settings:
        report, admin = service.fill(settings.inactivity, progress_bar)
    click.echo(
        f"{report}\nNext, create a token for an Admin and start the server:\n"
        f'  flagstaff token create {admin} --description "first look"\n'
        "  flagstaff serve"
    )


def _serve_demo() -> int:
    from app.operations.server import application, serve  # noqa: PLC0415 - others don't need them

    # Until the server handles it: otherwise it would end the process, and leave the folder.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with TemporaryDirectory(prefix="flagstaff-demo-") as home:
        environ = {name: os.environ.get(name, "") for name in OF_A_DEMO}
        environ["FLAGSTAFF_PORT"] = environ["FLAGSTAFF_PORT"] or _free_port()
        app = application.application(from_environment(environ | {"FLAGSTAFF_HOME": home}))

        def prepare(app: Flask) -> list[str]:
            return [*_fill(app), *application.prepare(app)]

        return serve.serve(app, announce=click.echo, prepare=prepare)


def _fill(app: Flask) -> list[str]:
    """Fill the instance; return lines for the operator."""
    settings: Settings = app.config["SETTINGS"]
    with app.app_context():
        migrate(settings)
        with unit_of_work(writes=True):
            report, admin = service.fill(settings.inactivity, progress_bar)
        with unit_of_work(writes=True):
            link = settings.address(links.create(COMMAND_LINE, find_account(admin)))
    return [
        report,
        f"Sign in as {admin}, an Admin, with a password that you choose: {link}",
        "Ctrl-C ends the server and deletes all of this.",
    ]


def _free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return str(found.getsockname()[1])


MARKS = {Severity.FINE: "ok     ", Severity.WARNING: "warning", Severity.WRONG: "WRONG  "}


@click.command()
@click.option("--proxy", "url", metavar="URL", help="Also check the reverse proxy at URL.")
@json_option
def doctor(url: str | None, *, as_json: bool) -> None:
    """Find problems with this instance and show how to fix each.

    Nothing is changed. Run it with the server's settings and as the server's user, whether the
    server is running or not. The exit status is 1 if anything is wrong, and 0 if there are only
    warnings.
    """
    with open_instance() as settings:
        found = list(run_checks(settings, current_key(), url=url))
    lines = []
    for finding in found:
        lines.append(f"{MARKS[finding.state]}  {finding.about:<10} {finding.says}")
        if finding.remedy:
            lines.append(f"{'':<20} -> {finding.remedy}")
    number = Counter(finding.state for finding in found)
    lines.append(f"\n{number[Severity.WRONG]} wrong, {number[Severity.WARNING]} warnings")
    data = {"findings": [asdict(finding) for finding in found]}
    print_output(Output(data, "\n".join(lines)), as_json=as_json)
    sys.exit(any(finding.state is Severity.WRONG for finding in found))
