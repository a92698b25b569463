import json
from datetime import UTC, datetime
from os import SEEK_END
from pathlib import Path

import click

from app.cli.commands import Said, changing, checked, reading, table
from app.cli.instance import HEADS
from app.core.actor import Actor
from app.core.settings import current_settings
from app.event_log import service as event_log
from app.event_log.schemas import EventQuery, EventRow
from app.event_log.sentences import sentence
from app.events import service


@click.group()
def events() -> None:
    """Look after the event log."""


@events.command("list")
@click.option("--type", help="Of this type only, like feature-archived.")
@click.option("--project", help="About this project.")
@click.option("--feature", help="About this feature.")
@click.option("--text", help="In the name of who acted, the project, feature or reason.")
@click.option("--from", "from_", metavar="TIME", help="Not before this, like 2026-11-21T09:30:00Z.")
@click.option("--to", metavar="TIME", help="Before this time.")
@click.option("--before", metavar="ID", help="With a number below this one.")
@click.option("--limit", default="50", show_default=True, help="How many at most; up to 1000.")
@reading
def list_events(actor: Actor, **given: str | None) -> Said:
    """List events, the newest first."""
    given["from"] = given.pop("from_")
    found, total = event_log.search(actor, **checked(EventQuery, given))
    rows = (
        (event.id, f"{event.created_at:%Y-%m-%d %H:%M}", event.created_by, sentence(event))
        for event in found
    )
    return Said(
        {"events": EventRow().dump(found, many=True), "total": total},
        f"{table(('id', 'when (UTC)', 'who', 'what'), rows)}\n{len(found)} of {total:,}",
    )


@events.command()
@reading
def verify(_actor: Actor) -> Said:
    """Check that no event was changed, taken out or put in between.

    Also that those that were written down outside the database are still the same.
    """
    verdict = service.verify(written_down(current_settings().home))
    if verdict.broken is not None:
        number, how = verdict.broken
        raise click.ClickException(f"The log is broken at event {number}: {how}.")
    digest = verdict.digest.hex()
    return Said(
        {"count": verdict.count, "lastId": verdict.last_id, "digest": digest},
        f"{verdict.count:,} events, unbroken, ending with number {verdict.last_id}, {digest}",
    )


@events.command()
@click.option(
    "--before",
    required=True,
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day, in UTC, before which events go.",
)
@changing
def prune(actor: Actor, before: datetime) -> Said:
    """Take the oldest events away for ever; the log says that it was done.

    Save them first: every list of events can be downloaded, and the database be backed up.
    """
    number = service.prune(actor, before=before.replace(tzinfo=UTC))
    return Said({"count": number}, f"Took {number:,} events away.")


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
