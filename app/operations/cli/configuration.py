"""Commands for the configuration of an instance as a file: export it, apply it."""

import sys
from pathlib import Path
from typing import Any, Protocol

import click

from app.core.actor import COMMAND_LINE
from app.core.connections import lift_time_limits
from app.core.db import db
from app.core.words import spoken
from app.exchange.documents import files, schemas_api, schemas_files, service, words
from app.exchange.documents.documents import Kind
from app.exchange.documents.plans import Status
from app.operations.cli.commands import (
    Output,
    json_option,
    print_output,
    progress_bar,
    reason_given,
)
from app.operations.cli.remote import Remote, server_option
from app.operations.server.instance import read_transaction, write_transaction

SHOWN_AT_ONCE = 500
"""Most lines of a plan that are printed without --all."""
HAS_CHANGES = 3
"""Status of --exit-code for a plan with changes: 1 and 2 are errors."""


@click.command("export")
@click.option("--project", help="Only this project, with what it refers to.")
@click.option("--format", "form", type=click.Choice(["yaml", "json"]), default="yaml")
@server_option
def export(project: str | None, form: str, server: str | None) -> None:
    """Print the configuration of this instance as a document.

    It has environments, context fields, strategy types, tags, accounts, projects with their members
    and rules, segments and features, sorted and without secrets: keep it under version control, and
    a comparison shows what changed. flagstaff apply reads it.
    """
    if server:
        click.echo(Remote(server).export(project, form), nl=False)
        return
    with read_transaction():
        document = service.export(COMMAND_LINE, project)
    write = files.as_json if form == "json" else files.as_yaml
    click.echo(write(document), nl=False)


@click.command()
@click.argument(
    "file", type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True)
)
@click.option("--plan", "--dry-run", "only_plan", is_flag=True, help="Only show what would change.")
@click.option(
    "--exit-code",
    is_flag=True,
    help=f"With --plan: end with {HAS_CHANGES} if anything would change, and with 1 if it can’t be "
    "applied.",
)
@click.option("--yes", is_flag=True, help="Do not ask before applying the plan.")
@click.option("--all", "show_all", is_flag=True, help="Print every line of a long plan.")
@click.option("--reason", help="Why you are doing this, for the event log.")
@server_option
@json_option
def apply(
    file: Path,
    *,
    only_plan: bool,
    exit_code: bool,
    yes: bool,
    show_all: bool,
    reason: str | None,
    server: str | None,
    as_json: bool,
) -> None:
    """Bring this instance to what FILE says, after showing the plan.

    What FILE does not name stays as it is; nothing is ever deleted, and features go by saying
    archived: true. Either the whole plan is carried out or nothing. Changes in environments that
    need approvals are proposed in change requests. With - as FILE, standard input is read.
    """
    if exit_code and not only_plan:
        raise click.UsageError("--exit-code goes with --plan.")
    name = "standard input" if str(file) == "-" else file.name
    place: _Place = Remote(server) if server else _Here(f"Applied from {name}")
    content = files.parse(sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes())
    schemas_files.require_document(content)
    shown = place.plan(content)
    text, data = _text(shown, show_all=show_all), _data(shown)
    faults = [
        (Kind(entry["kind"]), entry["name"], entry["faults"][0])
        for entry in shown["entries"]
        if entry["status"] == Status.IMPOSSIBLE
    ]
    if only_plan or faults or not shown["entries"]:
        print_output(Output(data, text), as_json=as_json)
        if faults and (exit_code or not only_plan):
            raise click.ClickException(words.refusal(faults))
        if exit_code and shown["entries"]:
            sys.exit(HAS_CHANGES)
        return
    if not as_json:
        click.echo(text)
    if not yes:
        if as_json:
            raise click.UsageError("With --json, say --yes, or --plan to change nothing.")
        click.confirm(f"Apply this plan{f' to {server}' if server else ''}?", abort=True)
    done = place.apply(content, shown["digest"], reason)
    lines = [f"Applied. Everything of it is in the event log as batch {done['batchId']}."]
    if ids := done["changeRequests"]:
        requests = "change request" if len(ids) == 1 else "change requests"
        lines.append(f"What needs approval waits in {requests} {spoken(ids, len(ids))}.")
    print_output(Output(done, "\n".join(lines)), as_json=as_json)


class _Place(Protocol):
    """Where a document is applied. It answers as the API does."""

    def plan(self, content: Any) -> dict[str, Any]: ...

    def apply(self, content: Any, shown: str, reason: str | None, /) -> dict[str, Any]: ...


class _Here:
    """The instance on this machine. ``cause``: of the events."""

    def __init__(self, cause: str) -> None:
        self.cause = cause

    def plan(self, content: Any) -> dict[str, Any]:
        self.wanted = schemas_files.wanted(content)
        with read_transaction():
            self.prepared = service.prepare(self.wanted)
            shown = service.show(self.prepared.plan, self.wanted)
        answer: dict[str, Any] = schemas_api.ShownConfigurationPlan().dump(shown)
        return answer

    def apply(self, _content: Any, shown: str, reason: str | None) -> dict[str, Any]:
        actor = reason_given(COMMAND_LINE, reason)
        total = len(self.prepared.plan.written)
        with progress_bar("Applying", total) as update, write_transaction():
            lift_time_limits(db.session.connection())
            applied = service.apply(
                actor,
                self.wanted,
                cause=self.cause,
                shown=shown,
                prepared=self.prepared,
                progress=lambda _kind, number: update(number),
            )
        answer: dict[str, Any] = schemas_api.AppliedConfiguration().dump(applied)
        return answer


def _text(shown: dict[str, Any], *, show_all: bool) -> str:
    """The lines of a plan, with the numbers at the end."""
    lines = shown["lines"]
    if len(lines) > SHOWN_AT_ONCE and not show_all:
        rest = len(lines) - SHOWN_AT_ONCE
        lines = [*lines[:SHOWN_AT_ONCE], f"… and {rest:,} more lines. Print them with --all."]
    return "\n".join([*lines, *shown["summary"]])


def _data(shown: dict[str, Any]) -> dict[str, Any]:
    """A plan for scripts."""
    return {key: value for key, value in shown.items() if key not in {"lines", "summary"}}
