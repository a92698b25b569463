import json
from datetime import UTC, datetime
from os import SEEK_END
from pathlib import Path

import click

from app.cli.instance import HEADS, change, look
from app.core.actor import COMMAND_LINE
from app.events import service


@click.group()
def events() -> None:
    """Look after the event log."""


@events.command()
def verify() -> None:
    """Check that no event was changed, taken out or put in between.

    Also that those that were written down outside the database are still the same.
    """
    with look() as settings:
        verdict = service.verify(written_down(settings.home))
    if verdict.broken is not None:
        number, how = verdict.broken
        raise click.ClickException(f"The log is broken at event {number}: {how}.")
    end = f"ending with number {verdict.last_id}, {verdict.digest.hex()}"
    click.echo(f"{verdict.count:,} events, unbroken, {end}")


@events.command()
@click.option(
    "--before",
    required=True,
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day, in UTC, before which events go.",
)
def prune(before: datetime) -> None:
    """Take the oldest events away for ever; the log says that it was done.

    Save them first: every list of events can be downloaded, and the database be backed up.
    """
    with change():
        number = service.prune(COMMAND_LINE, before=before.replace(tzinfo=UTC))
    click.echo(f"Took {number:,} events away.")


def write_down(home: Path) -> None:
    """Note where the log ends in a file, by which a log that is told anew is found out."""
    last_id, digest = service.head()
    line = json.dumps({"id": last_id, "digest": digest.hex()}) + "\n"
    with (home / HEADS).open("ab+") as file:
        file.seek(max(file.seek(0, SEEK_END) - 1, 0))
        if file.read(1) not in {b"", b"\n"}:
            line = "\n" + line  # the one before was written in half: the disk was full
        file.write(line.encode())


def written_down(home: Path) -> dict[int, bytes]:
    """Digests of events by number, as they were noted in the file."""
    file = home / HEADS
    lines = file.read_text("ascii").splitlines() if file.exists() else []
    heads = (json.loads(line) for line in lines if line.endswith("}"))  # others were cut off
    return {head["id"]: bytes.fromhex(head["digest"]) for head in heads if head["id"]}
