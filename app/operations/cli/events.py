from datetime import UTC, datetime

import click

from app.core.actor import Actor
from app.core.events import service
from app.core.events.verification import Head
from app.core.events.words import sentence
from app.core.words import counted, spoken
from app.operations.cli.commands import Output, change_command, query_command, table, validated
from app.operations.upkeep import checkpoints as operation
from app.operations.upkeep.checkpoints import HEADS
from app.portal.event_log import service as event_log
from app.portal.event_log import undoing
from app.portal.event_log.schemas import EventQuery, EventRow
from app.web.current import current_settings


@click.group()
def events() -> None:
    """List, undo, verify and prune events."""


@events.command("list")
@click.option("--type", help="Only events like this: feature-archived, or all about switching.")
@click.option("--project", help="Only events of this project.")
@click.option("--feature", help="Only events of this feature.")
@click.option("--by", help="The user name or the e-mail of the account that acted.")
@click.option("--text", help="Text in the user name, project, feature or reason.")
@click.option(
    "--from", "from_", metavar="TIME", help="At this time or later, like 2026-11-21T09:30:00Z."
)
@click.option("--to", metavar="TIME", help="Before this time.")
@click.option("--before", metavar="ID", help="Only events with an id below this one.")
@click.option(
    "--limit", default="50", show_default=True, help="The greatest number of events, up to 1000."
)
@query_command
def list_events(actor: Actor, **given: str | None) -> Output:
    """List events, newest first."""
    given["from"] = given.pop("from_")
    found, total = event_log.search(actor, **validated(EventQuery, given))
    naming = event_log.naming(event_log.accounts_in(found))
    rows = (
        (
            event.id,
            f"{event.created_at:%Y-%m-%d %H:%M}",
            event.created_by,
            sentence(event, naming=naming),
        )
        for event in found
    )
    return Output(
        {"events": EventRow().dump(found, many=True), "total": total},
        f"{table(('id', 'when (UTC)', 'who', 'what'), rows)}\n{len(found)} of {total:,}",
    )


@events.command("undo")
@click.argument("event_id", metavar="ID", type=int)
@change_command
def undo_event(actor: Actor, event_id: int) -> Output:
    """Undo the event with this ID, and all others of its batch.

    It is refused if someone has changed the same thing since.
    """
    acting = actor.for_act(service.new_batch())
    undone = undoing.undo(acting, event_id=event_id)
    return Output(
        {"undone": [event.id for event in undone], "batchId": acting.batch_id},
        f"{counted(len(undone), 'event')} undone.",
    )


@events.command()
@click.option(
    "--head",
    "heads",
    multiple=True,
    metavar="ID:DIGEST",
    help="An event and its digest, as you kept them elsewhere; the server's log has them too.",
)
@query_command
def verify(_actor: Actor, heads: tuple[str, ...]) -> Output:
    """Check that no event was changed, removed or added.

    The log is also compared with event_heads.jsonl in the home folder, where the server writes
    down where it ends.
    """
    verdict, file = operation.verify(current_settings().home, [_head(text) for text in heads])
    if verdict.problems:
        raise click.ClickException("The event log isn’t intact. " + " ".join(verdict.problems))
    digest = verdict.digest.hex()
    since = verdict.last_id - file.last_id
    coverage = [_coverage(file.last_id, since)]
    if file.cut_off:
        lines = spoken(file.cut_off)
        coverage.append(f"Cut off, as by a full disk, and passed over: line {lines} of {HEADS}.")
    return Output(
        {
            "count": verdict.count,
            "lastId": verdict.last_id,
            "digest": digest,
            "writtenDownTo": file.last_id,
            "cutOff": file.cut_off,
        },
        f"{counted(verdict.count, 'event')}, intact, "
        f"ending with event {verdict.last_id}, {digest}\n" + "\n".join(coverage),
    )


def _head(text: str) -> Head:
    id, _, digest = text.partition(":")
    try:
        return int(id), bytes.fromhex(digest)
    except ValueError:
        raise click.BadParameter("Use ID:DIGEST, like 412:9f86d0…", param_hint="--head") from None


def _coverage(last_id: int, since: int) -> str:
    if not last_id:
        return "Nothing is written down outside the database to compare with."
    if not since:
        return "Everything up to the last event is written down outside the database."
    return f"{counted(since, 'event')} since event {last_id} not yet written down outside."


@events.command()
@click.option(
    "--before",
    required=True,
    type=click.DateTime(["%Y-%m-%d"]),
    help="Remove events from before this day (UTC).",
)
@change_command
def prune(actor: Actor, before: datetime) -> Output:
    """Remove the oldest events for good. The log records that.

    Keep a copy first: download the list of events, or make a backup. Run this where the server
    runs, so that event_heads.jsonl has it too.
    """
    pruning = service.prune(actor, before=before.replace(tzinfo=UTC))
    is_dry_run = click.get_current_context().params["dry_run"]
    if pruning.count and not is_dry_run:
        operation.write_down_pruning(current_settings().home, pruning)
    return Output({"count": pruning.count}, f"{counted(pruning.count, 'event')} removed.")
