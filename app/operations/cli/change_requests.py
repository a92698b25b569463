"""Commands for change requests. They can’t approve any, which takes a person."""

from typing import Any

import click

from app.core.actor import Actor
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    query_command,
    table,
    validated,
)
from app.releases.change_requests import applying, review, schemas, service
from app.releases.change_requests import words as change_words
from app.releases.change_requests.models import State
from app.releases.change_requests.views import View
from app.web.schemas import Schema, Timestamp

HEADINGS = ("id", "state", "environment", "title", "by", "approvals")
_project = click.argument("project")
_id = click.argument("id", type=int)


class _Time(Schema):
    at = Timestamp(required=True)


@click.group("change-request")
def change_request() -> None:
    """List, show and apply change requests of a PROJECT. People approve them in the portal."""


@change_request.command("list")
@_project
@click.option("--state", type=click.Choice([state.value for state in State]), help="In this state.")
@click.option("--environment", help="For this environment.")
@click.option("--feature", help="About this feature.")
@query_command
def list_requests(actor: Actor, project: str, **given: Any) -> Output:
    """List change requests, newest first, without people’s drafts."""
    query = validated(schemas.ChangeRequestQuery, given) | {"limit": UNLIMITED}
    page = service.in_project(actor, project, **query)
    return Output(schemas.ChangeRequestList().dump(page), table(HEADINGS, map(_row, page.items)))


@change_request.command()
@_project
@_id
@query_command
def show(actor: Actor, project: str, id: int) -> Output:
    """Show the change request ID with its changes, and which of them no longer fit."""
    return _output(actor, project, id)


@change_request.command()
@_project
@_id
@change_command
def apply(actor: Actor, project: str, id: int) -> Output:
    """Make all changes of the change request ID, or none. It must be approved."""
    applying.apply(actor, service.get_for_change(actor, project, id))
    return _output(actor, project, id)


@change_request.command()
@_project
@_id
@click.option("--at", required=True, metavar="TIME", help="When, such as 2026-11-24T07:00:00Z.")
@change_command
def schedule(actor: Actor, project: str, id: int, at: str) -> Output:
    """Apply the change request ID at a time. It must be approved."""
    time = validated(_Time, {"at": at})["at"]
    review.schedule(actor, service.get_for_change(actor, project, id), time)
    return _output(actor, project, id)


@change_request.command()
@_project
@_id
@click.option("--comment", help="Why, for those who read it.")
@change_command
def cancel(actor: Actor, project: str, id: int, comment: str | None) -> Output:
    """Close the change request ID without applying it."""
    review.cancel(actor, service.get_for_change(actor, project, id), comment)
    return _output(actor, project, id)


def _output(actor: Actor, project: str, id: int) -> Output:
    view = service.get(actor, project, id)
    changes = [(change_words.headline(change),) for change in view.request.changes]
    text = f"{table(HEADINGS, [_row(view)])}\n\n{table(('change',), changes)}"
    if view.request.is_open and view.request.obstacle:
        text += f"\n\n{review.IMPOSSIBLE} {view.request.obstacle}"
    return Output(schemas.ChangeRequestRow().dump(view), text)


def _row(view: View) -> tuple[object, ...]:
    request = view.request
    given = f"{len(view.approvals)} of {view.required}"
    return request.id, view.state, request.environment, view.title, request.created_by, given
