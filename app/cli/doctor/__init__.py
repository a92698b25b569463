"""``flagstaff doctor``: what is wrong, or will be, in words, and what to do about it."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

import click

from app.cli.commands import Said, json_option, say
from app.cli.doctor import instance, machine
from app.cli.doctor.findings import Finding, State
from app.cli.doctor.proxy import proxy
from app.cli.doctor.settings import safety
from app.cli.instance import opened
from app.config import Settings
from app.core.settings import current_key

MARKS = {State.FINE: "ok     ", State.WARNING: "warning", State.WRONG: "WRONG  "}


@click.command()
@click.option("--proxy", "url", metavar="URL", help="Also look through the reverse proxy at URL.")
@json_option
def doctor(url: str | None, *, as_json: bool) -> None:
    """Say what is wrong with this instance, or will be, and what to do about it.

    Changes nothing. Run it with the settings of the server and as its user, whether the server
    runs or not. The status is 1 if anything is wrong; warnings alone leave it 0.
    """
    with opened() as settings:
        found = list(_findings(settings, url))
    lines = []
    for finding in found:
        lines.append(f"{MARKS[finding.state]}  {finding.about:<10} {finding.says}")
        if finding.remedy:
            lines.append(f"{'':<20} -> {finding.remedy}")
    number = Counter(finding.state for finding in found)
    lines.append(f"\n{number[State.WRONG]} wrong, {number[State.WARNING]} warnings")
    value = {"findings": [asdict(finding) for finding in found]}
    say(Said(value, "\n".join(lines)), as_json=as_json)
    sys.exit(any(finding.state is State.WRONG for finding in found))


def _findings(settings: Settings, url: str | None) -> Iterator[Finding]:
    yield from safety(settings)
    yield from machine.files(settings)
    yield from machine.disk(settings)
    yield from instance.database(settings)
    yield from instance.last_backup(settings)
    if url is not None:
        yield from proxy(url, settings, current_key())
