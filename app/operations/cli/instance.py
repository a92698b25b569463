"""Commands about the instance itself."""

import sys
from collections import Counter
from dataclasses import asdict

import click
from click.shell_completion import get_completion_class

from app.core.config import from_process
from app.operations.cli.commands import Output, json_option, print_output, progress_bar
from app.operations.demo import service
from app.operations.server.instance import open_instance, write_transaction
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
def demo() -> None:
    """Fill an empty instance with a made-up organisation to explore."""
    with write_transaction() as settings:
        report = service.fill(settings.inactivity, progress_bar)
    click.echo(report)


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
