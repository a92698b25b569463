from collections.abc import Sequence
from typing import Any

import click

from app.catalogue.constraints.words import describe_all, plain
from app.catalogue.segments import schemas, service
from app.catalogue.segments.queries import SegmentView
from app.core.actor import Actor
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    query_command,
    table,
    validated,
)
from app.operations.cli.constraints import constraint_option, read
from app.operations.cli.proposing import do_or_propose
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import Action

HEADINGS = ("name", "who is in it", "available in", "strategies")
_name = click.argument("name")
_description = click.option("--description", help="What these people have in common.")
_project = click.option("--project", help="The only project that can use it.")


@click.group()
def segment() -> None:
    """Manage segments: groups of people that many strategies can use."""


@segment.command("list")
@click.option("--text", help="Part of the name or description, or a context field.")
@_project
@query_command
def list_segments(actor: Actor, **given: Any) -> Output:
    """List segments by name."""
    query = validated(schemas.SegmentQuery, given) | {"limit": UNLIMITED}
    page = service.search(actor, **query)
    rows = schemas.SegmentList().dump(page)
    return Output(rows, table(HEADINGS, map(_row, page.items)))


@segment.command()
@_name
@query_command
def show(actor: Actor, name: str) -> Output:
    """Show the segment NAME and the strategies that use it."""
    found = service.named(actor, name)
    uses = schemas.UseRow(many=True).dump(service.uses(actor, found))
    view = service.view(found)
    rows = ((use["projectId"], use["featureName"], use["environment"]) for use in uses)
    text = (
        f"{table(HEADINGS, [_row(view)])}\n\n{table(('project', 'feature', 'environment'), rows)}"
    )
    return Output(schemas.SegmentRow().dump(view) | {"strategies": uses}, text)


@segment.command()
@_name
@_description
@_project
@constraint_option
@change_command
def create(actor: Actor, **given: Any) -> Output:
    """Create the segment NAME."""
    values = validated(schemas.NewSegment, {"constraints": [], **_fields(**given)})
    return _output(service.view(service.create(actor, **values)))


@segment.command()
@_name
@click.option("--name", "new_name", help="A new name.")
@_description
@constraint_option
@change_command
def update(actor: Actor, name: str, new_name: str | None, **given: Any) -> Output:
    """Change the segment NAME. Options that are left out change nothing.

    Where strategies use it and changes need approvals, new constraints open a change request. With
    --reason, they hold at once.
    """
    found = service.named(actor, name, for_change=True)
    fields = validated(schemas.SegmentChanges, {"name": new_name, **_fields(**given)})

    def act() -> Output:
        service.update(actor, found, **fields)
        return _output(service.view(found))

    change = Proposal(None, Action.UPDATE_SEGMENT, {"id": found.id, **fields})
    return do_or_propose(actor, act, lambda: [change])


@segment.command()
@_name
@change_command
def delete(actor: Actor, name: str) -> Output:
    """Delete the segment NAME. No strategy may use it."""
    service.remove(actor, service.named(actor, name, for_change=True))
    return Output({"name": name}, f"Deleted segment {name}.")


def _fields(constraints: Sequence[str], **given: Any) -> dict[str, Any]:
    """The options by the names they have in the API."""
    return given | ({"constraints": read(constraints)} if constraints else {})


def _output(view: SegmentView) -> Output:
    return Output(schemas.SegmentRow().dump(view), table(HEADINGS, [_row(view)]))


def _row(view: SegmentView) -> tuple[object, ...]:
    segment = view.segment
    who = plain(describe_all(segment.constraints)) or "everyone"
    return segment.name, who, segment.project_id or "all projects", view.used.strategies
