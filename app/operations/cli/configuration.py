"""Commands for the configuration of an instance as a file: export it, apply it."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from app.core.actor import COMMAND_LINE
from app.core.words import spoken
from app.exchange.documents import files, reading, reading_features, schemas_files, service, words
from app.exchange.documents.documents import Kind, count
from app.exchange.documents.plans import Plan, Wanted
from app.operations.cli.commands import (
    Output,
    json_option,
    print_output,
    progress_bar,
    reason_given,
)
from app.operations.server.instance import read_transaction, write_transaction

SHOWN_AT_ONCE = 500
"""Most lines of a plan that are printed without --all."""


@click.command("export")
@click.option("--project", help="Only this project, with what it refers to.")
@click.option("--format", "form", type=click.Choice(["yaml", "json"]), default="yaml")
def export(project: str | None, form: str) -> None:
    """Print the configuration of this instance as a document.

    It has environments, context fields, strategy types, tags, accounts, projects with their members
    and rules, segments and features, sorted and without secrets: keep it under version control, and
    a comparison shows what changed. flagstaff apply reads it.
    """
    with read_transaction():
        document = service.export(COMMAND_LINE, project)
    write = files.as_json if form == "json" else files.as_yaml
    click.echo(write(document), nl=False)


@click.command()
@click.argument(
    "file", type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True)
)
@click.option("--plan", "--dry-run", "only_plan", is_flag=True, help="Only show what would change.")
@click.option("--yes", is_flag=True, help="Do not ask before applying the plan.")
@click.option("--all", "show_all", is_flag=True, help="Print every line of a long plan.")
@click.option("--reason", help="Why you are doing this, for the event log.")
@json_option
def apply(
    file: Path, *, only_plan: bool, yes: bool, show_all: bool, reason: str | None, as_json: bool
) -> None:
    """Bring this instance to what FILE says, after showing the plan.

    What FILE does not name stays as it is; nothing is ever deleted, and features go by saying
    archived: true. Either the whole plan is carried out or nothing. Changes in environments that
    need approvals are proposed in change requests. With - as FILE, standard input is read.
    """
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    wanted = schemas_files.wanted(files.parse(content))
    with read_transaction():
        prepared = service.prepare(wanted)
        plan = prepared.plan
        only_here = _only_here(wanted)
    text = plan_text(plan, show_all=show_all) + only_here
    if only_plan or not plan.written or plan.is_impossible:
        print_output(Output(plan_data(plan), text), as_json=as_json)
        if not only_plan:
            service.refuse_impossible(plan)
        return
    if not as_json:
        click.echo(text)
    if not yes:
        if as_json:
            raise click.UsageError("With --json, say --yes, or --plan to change nothing.")
        click.confirm("Apply this plan?", abort=True)
    name = "standard input" if str(file) == "-" else file.name
    actor = reason_given(COMMAND_LINE, reason)
    total = len(plan.written)
    with progress_bar("Applying", total) as update, write_transaction():
        batch_id, done, result = service.apply(
            actor,
            wanted,
            cause=f"Applied from {name}",
            shown=plan.digest,
            prepared=prepared,
            progress=lambda _kind, number: update(number),
        )
    data = plan_data(done) | {"batchId": batch_id, "changeRequests": result.change_requests}
    lines = [f"Applied. Everything of it is in the event log as batch {batch_id}."]
    if ids := result.change_requests:
        requests = "change request" if len(ids) == 1 else "change requests"
        lines.append(f"What needs approval waits in {requests} {spoken(ids, len(ids))}.")
    print_output(Output(data, "\n".join(lines)), as_json=as_json)


def plan_text(plan: Plan, *, show_all: bool) -> str:
    """The lines of a plan, with the numbers at the end."""
    lines = list(words.lines(plan))
    if len(lines) > SHOWN_AT_ONCE and not show_all:
        rest = len(lines) - SHOWN_AT_ONCE
        lines = [*lines[:SHOWN_AT_ONCE], f"… and {rest:,} more lines. Print them with --all."]
    return "\n".join([*lines, words.summary_of(plan)])


def plan_data(plan: Plan) -> dict[str, Any]:
    """A plan for scripts: its entries with changes or faults."""
    return {
        "digest": plan.digest,
        "counts": {kind.value: dict(found) for kind, found in plan.counts().items()},
        "entries": [
            {
                "kind": entry.kind,
                "name": entry.name,
                "status": entry.status,
                "choice": entry.choice,
                "faults": [str(fault) for fault in entry.faults],
                "differences": [change._asdict() for change in entry.differences],
                "needsApprovalIn": entry.proposed,
            }
            for entry in plan.entries
            if entry.is_written or entry.faults
        ],
    }


def _only_here(wanted: Wanted) -> str:
    """A line with the number of things of this instance that the file does not name."""
    here = reading.smaller()
    number = {
        kind: len(here[kind].keys() - wanted.document[kind].keys())
        for kind in (Kind.PROJECTS, Kind.SEGMENTS, Kind.USERS)
    }
    known = reading_features.names()
    number[Kind.FEATURES] = len(known - wanted.document[Kind.FEATURES].keys())
    found = [kind.counted(many) for kind, many in Counter(number).items() if many]
    if not found or not count(wanted.document):
        return ""
    return f"\nOnly here, and stays as it is: {spoken(found, len(found))}."
