"""Templates: the steps that releases start from."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypedDict, Unpack
from uuid import UUID

import sqlalchemy as sa

from app.catalogue.projects import service as projects
from app.catalogue.releases import queries
from app.catalogue.releases.models import ReleaseTemplate, Step
from app.catalogue.releases.queries import TemplateUse
from app.core.actor import Actor
from app.core.db import db, flush, one_or_none, save
from app.core.errors import Conflict, Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.core.permissions import Permission
from app.core.words import lasting
from app.releases.templates import steps as plan
from app.releases.templates.steps import NewStep

MAX_TEMPLATES = 200
"""For all projects, and in each."""


class Fields(TypedDict, total=False):
    """Fields of a template. Those left out keep their value; None clears one."""

    name: str
    description: str | None
    milestones: list[NewStep]


@dataclass(frozen=True, slots=True)
class TemplateView:
    """A template, and how often it was used."""

    template: ReleaseTemplate
    uses: TemplateUse

    @property
    def shortest(self) -> str:
        """How long a release takes at least that starts from it."""
        seconds = sum(step["seconds"] or 0 for step in self.template.steps[:-1])
        return lasting(timedelta(seconds=seconds)) if seconds else "No waiting time"

    @property
    def milestones(self) -> list[dict[str, Any]]:
        """Its steps as the API shows them."""
        template = self.template
        return [plan.row(step, place, template.id) for place, step in enumerate(template.steps)]


def search(
    actor: Actor,
    *,
    limit: int,
    offset: int,
    project: str | None = None,
    text: str | None = None,
) -> Page[TemplateView]:
    page = page_of(queries.templates(actor, project=project, text=text), limit=limit, offset=offset)
    return page.of(views(page.items))


def for_all(actor: Actor) -> list[ReleaseTemplate]:
    """Templates that all projects can use."""
    query = queries.templates(actor).where(ReleaseTemplate.project_id.is_(None))
    return list(db.session.scalars(query))


def of_project(actor: Actor, project_id: str, *, with_root: bool) -> list[ReleaseTemplate]:
    """A project’s own templates; ``with_root``: also those for all projects."""
    projects.require(actor, project_id)
    query = queries.templates(actor, project=project_id, with_root=with_root)
    return list(db.session.scalars(query))


def permission(project_id: str | None) -> tuple[Permission, str | None]:
    """(permission, project) to change a template: less is needed if it belongs to one project."""
    return (
        (Permission.ADMIN, None) if project_id is None else (Permission.UPDATE_PROJECT, project_id)
    )


def get(
    actor: Actor, id: UUID | str, *, project_id: str | None = None, for_change: bool = False
) -> ReleaseTemplate:
    """The template. ``project_id``: the one whose it must be. ``for_change``: locked."""
    query = queries.templates(actor).where(ReleaseTemplate.id == str(id))
    if project_id is not None:
        projects.require(actor, project_id)
        query = query.where(ReleaseTemplate.project_id == project_id)
    found = one_or_none(query, "release template", str(id), actor.id, for_change=for_change)
    if found is None:
        raise unknown(id)
    return found


def exists(id: str | None) -> bool:
    return db.session.scalar(sa.select(sa.exists().where(ReleaseTemplate.id == id))) or False


def unknown(id: UUID | str) -> NotFound:
    return NotFound(f"There is no release template with the id {id} here.")


def views(templates: Sequence[ReleaseTemplate]) -> list[TemplateView]:
    uses = queries.template_uses([template.id for template in templates])
    return [TemplateView(each, uses.get(each.id, TemplateUse())) for each in templates]


def create(
    actor: Actor,
    *,
    name: str,
    milestones: list[NewStep],
    description: str | None = None,
    project: str | None = None,
) -> ReleaseTemplate:
    """Create a template. ``project``: the only one that can use it."""
    if project is not None:
        projects.require_for_content(actor, project)
    number = sa.select(sa.func.count()).where(
        ReleaseTemplate.project_id.is_not_distinct_from(project)
    )
    if (db.session.scalar(number) or 0) >= MAX_TEMPLATES:
        raise Conflict(f"There are {MAX_TEMPLATES} release templates already. Delete one first.")
    template = ReleaseTemplate(
        name=name,
        description=description,
        project_id=project,
        steps=_steps(milestones, project),
        created_by_id=actor.id,
    )
    save(template, if_taken=_taken(name))
    events.record(
        actor,
        EventType.RELEASE_PLAN_TEMPLATE_CREATED,
        project=project,
        data=template.snapshot(),
    )
    return template


def update(actor: Actor, template: ReleaseTemplate, **changes: Unpack[Fields]) -> bool:
    """Change a template that ``get`` locked. Return whether anything changed.

    Releases that started from it keep their steps.
    """
    before = template.snapshot()
    template.name = changes.get("name", template.name)
    template.description = changes.get("description", template.description)
    if "milestones" in changes:
        template.steps = _kept(template.steps, _steps(changes["milestones"], template.project_id))
    flush(if_taken=_taken(template.name))
    after = template.snapshot()
    if after != before:
        events.record(
            actor,
            EventType.RELEASE_PLAN_TEMPLATE_UPDATED,
            project=template.project_id,
            pre_data=before,
            data=after,
        )
    return after != before


def remove(actor: Actor, template: ReleaseTemplate) -> None:
    """Delete a template that ``get`` locked. Releases that started from it go on."""
    before = template.snapshot()
    db.session.delete(template)
    flush()
    events.record(
        actor,
        EventType.RELEASE_PLAN_TEMPLATE_DELETED,
        project=template.project_id,
        pre_data=before,
    )


def _steps(milestones: list[NewStep], project: str | None) -> list[Step]:
    if not milestones:
        raise Invalid.at("/milestones", "A template needs at least one step.")
    return plan.stored(milestones, project_id=project, defaults={})


def _kept(before: list[Step], after: list[Step]) -> list[Step]:
    """The new steps, with the ids of those that they take the place of."""
    for old, new in zip(before, after, strict=False):
        new["id"] = old["id"]
        for former, strategy in zip(old["strategies"], new["strategies"], strict=False):
            strategy["id"] = former["id"]
    return after


def _taken(name: str) -> NameExists:
    return NameExists(f"A release template named {name!r} already exists.", field="name")
