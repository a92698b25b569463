import sys
from collections import Counter
from dataclasses import asdict

import click

from app.operations.cli.commands import Output, json_option, print_output
from app.operations.server.instance import open_instance
from app.operations.upkeep.doctor import run_checks
from app.operations.upkeep.doctor.findings import State
from app.web.settings import current_key

MARKS = {State.FINE: "ok     ", State.WARNING: "warning", State.WRONG: "WRONG  "}


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
    lines.append(f"\n{number[State.WRONG]} wrong, {number[State.WARNING]} warnings")
    data = {"findings": [asdict(finding) for finding in found]}
    print_output(Output(data, "\n".join(lines)), as_json=as_json)
    sys.exit(any(finding.state is State.WRONG for finding in found))
