"""Commands for the templates that releases start from."""

from datetime import timedelta

import click

from app.catalogue.releases.models import ReleaseTemplate, Step
from app.catalogue.segments import service as segments
from app.catalogue.strategies.words import together
from app.core.actor import Actor
from app.core.errors import NotFound
from app.core.words import lasting
from app.operations.cli.commands import UNLIMITED, Output, query_command, table, validated
from app.releases.templates import schemas, service
from app.releases.templates.service import TemplateView
from app.releases.templates.steps import models

COLUMNS = ("name", "for", "steps", "shortest time", "used by", "stopped")
FIRST, BY_HAND = "with the release", "when someone starts it"
"""How steps start."""


@click.group("template")
def template_group() -> None:
    """List and show templates: the steps that releases start from."""


@template_group.command("list")
@click.option("--project", help="Only those that this project can use.")
@click.option("--text", help="Part of the name or description.")
@query_command
def list_templates(actor: Actor, **given: str | None) -> Output:
    """List templates by name, each with how many releases started from it."""
    query = validated(schemas.TemplateQuery, given) | {"limit": UNLIMITED}
    found = service.search(actor, **query).items
    rows = schemas.ReleaseTemplateRow(many=True).dump(found)
    return Output({"templates": rows}, table(COLUMNS, map(_template_row, found)))


@template_group.command("show")
@click.argument("name")
@query_command
def show_template(actor: Actor, name: str) -> Output:
    """Show the template NAME with its steps. An id is fine too."""
    template = template_named(actor, name)
    [view] = service.views([template])
    project = template.project_id
    usable = segments.available(actor, project) if project else segments.for_all(actor)
    by_id = {segment.id: segment for segment in usable}
    rows = (
        (
            place + 1,
            step["name"],
            _starts(template.steps, place),
            together(models(step["strategies"], by_id)),
        )
        for place, step in enumerate(template.steps)
    )
    steps = table(("step", "name", "starts", "who gets it"), rows)
    text = f"{table(COLUMNS, [_template_row(view)])}\n\n{steps}"
    return Output(schemas.ReleaseTemplateRow().dump(view), text)


def template_named(actor: Actor, name: str, project: str | None = None) -> ReleaseTemplate:
    """The template with this name or id. ``project``: one that can use it."""
    filters = {} if project is None else {"project": project}
    for view in service.search(actor, limit=UNLIMITED, offset=0, **filters).items:
        if name in {view.template.name, view.template.id}:
            return view.template
    raise NotFound(f"There is no release template named {name!r} here.")


def _template_row(view: TemplateView) -> tuple[object, ...]:
    template, uses = view.template, view.uses
    names = ", ".join(step["name"] for step in template.steps)
    used = f"{uses.started:,}", f"{uses.stopped:,}"
    return template.name, template.project_id or "all projects", names, view.shortest, *used


def _starts(steps: list[Step], place: int) -> str:
    """How a step of a template starts."""
    if place == 0:
        return FIRST
    seconds, by_hand = steps[place - 1]["seconds"], steps[place - 1]["by_hand"]
    how = BY_HAND if by_hand else "automatically"
    if seconds is None:
        return how
    wait = lasting(timedelta(seconds=seconds))
    return f"{how}, after {wait} at the earliest" if by_hand else f"{how}, after {wait}"
