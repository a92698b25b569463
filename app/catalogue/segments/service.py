"""Segments: groups of people, described once and used in many strategies."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

import sqlalchemy as sa

from app.catalogue.constraints import service as rules
from app.catalogue.constraints.models import Constraint
from app.catalogue.projects import service as projects
from app.catalogue.projects.queries import needing_approval
from app.catalogue.segments import queries
from app.catalogue.segments.models import Segment
from app.catalogue.segments.queries import SegmentView, Use
from app.core.actor import Actor
from app.core.db import db, flush, one_or_none, save
from app.core.errors import Conflict, Detail, Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.core.permissions import Permission
from app.core.words import counted, spoken


class Changes(TypedDict, total=False):
    """Fields of an update. Omitted fields keep their value; None clears one."""

    name: str
    description: str | None
    project: str | None
    constraints: list[Constraint]


class Filters(TypedDict, total=False):
    text: str
    project: str
    sort: str


def search(
    actor: Actor, *, limit: int, offset: int, **filters: Unpack[Filters]
) -> Page[SegmentView]:
    page = page_of(queries.rows(actor, **filters), limit=limit, offset=offset)
    return page.of(queries.views(page.items))


def available(actor: Actor, project_id: str) -> list[Segment]:
    """The segments that strategies of the project can use, by name."""
    return list(db.session.scalars(queries.rows(actor, project=project_id)))


def for_all(actor: Actor) -> list[Segment]:
    """The segments that strategies of every project can use, by name."""
    return list(db.session.scalars(queries.rows(actor).where(Segment.project_id.is_(None))))


def permission(general: Permission, project: str | None) -> tuple[Permission, str | None]:
    """(permission, project) to change a segment: less is needed if it belongs to one project."""
    return (general, None) if project is None else (Permission.UPDATE_PROJECT_SEGMENT, project)


def get(actor: Actor, id: int, *, for_change: bool = False) -> Segment:
    """The segment, with ``for_change`` locked until the transaction ends."""
    query = queries.rows(actor).where(Segment.id == id)
    found = one_or_none(query, "segment", id, actor.id, for_change=for_change)
    if found is None:
        raise NotFound(f"There is no segment with the id {id}.")
    return found


def named(actor: Actor, name: str, *, for_change: bool = False) -> Segment:
    """The segment with this name; ``for_change``: locked until the transaction ends."""
    id = db.session.scalar(sa.select(Segment.id).where(Segment.name == name))
    if id is None:
        raise NotFound(f"There is no segment named {name!r}.")
    return get(actor, id, for_change=for_change)


def view(segment: Segment) -> SegmentView:
    return queries.views([segment])[0]


def uses(actor: Actor, segment: Segment) -> list[Use]:
    """The strategies that use the segment, in projects that the actor can see."""
    return queries.uses(segment.id, visible_to=actor)


def used_by(segment: Segment) -> list[str]:
    """The ids of all strategies that use the segment."""
    return [use.id for use in queries.uses(segment.id)]


def guarded_uses(actor: Actor, segment: Segment) -> dict[str | None, list[str]]:
    """The environments, by project, in which a change to the segment needs approvals.

    All projects that the actor cannot see are under None, without their environments.
    """
    visible = _places(uses(actor, segment))
    found: dict[str | None, list[str]] = {}
    for project_id, names in _places(queries.uses(segment.id)).items():
        if environments := needing_approval(project_id, names):
            is_visible = project_id in visible
            found[project_id if is_visible else None] = environments if is_visible else []
    return found


def only_place(found: Mapping[str | None, list[str]]) -> tuple[str, str] | None:
    """The project and environment of ``guarded_uses``, if one change request can cover them."""
    places = [(project, name) for project, names in found.items() if project for name in names]
    return places[0] if len(places) == 1 and None not in found else None


def create(
    actor: Actor,
    *,
    name: str,
    constraints: list[Constraint],
    description: str | None = None,
    project: str | None = None,
) -> Segment:
    if project is not None:
        _require_project(actor, project)
    rules.check_to_store(constraints)
    segment = Segment(
        name=name, description=description, project_id=project, constraints=constraints
    )
    save(segment, if_taken=_taken(name))
    events.record(actor, EventType.SEGMENT_CREATED, project=project, data=segment.snapshot())
    return segment


def update(actor: Actor, segment: Segment, **changes: Unpack[Changes]) -> bool:
    """Change a segment that ``get`` locked. Return whether anything changed."""
    if segment.project_id is not None:
        projects.require_for_content(actor, segment.project_id)
    before, found = segment.snapshot(), queries.uses(segment.id)
    if changes.get("project", segment.project_id) != segment.project_id:
        _move(actor, segment, changes["project"], found)
    if changes.get("constraints", segment.constraints) != segment.constraints:
        if found and not changes["constraints"]:
            raise Conflict(
                f"{_used_by(found)} segment {segment.name}. Without constraints everyone would be "
                "in it. Keep at least one, or stop using the segment first."
            )
        rules.check_to_store(changes["constraints"])
        segment.constraints = changes["constraints"]
    segment.name = changes.get("name", segment.name)
    segment.description = changes.get("description", segment.description)
    flush(if_taken=_taken(segment.name))
    after = segment.snapshot()
    if after != before:
        events.record(
            actor,
            EventType.SEGMENT_UPDATED,
            # People who couldn't see the segment before must not see this event.
            project=before["project"] or segment.project_id,
            pre_data=before,
            data=after,
        )
    return after != before


def remove(actor: Actor, segment: Segment) -> None:
    """Delete a segment that ``get`` locked."""
    if segment.project_id is not None:
        projects.require_for_content(actor, segment.project_id)
    if obstacle := obstacle_to_removal(segment, uses(actor, segment)):
        raise Conflict(f"Segment {segment.name} cannot be deleted. {obstacle}")
    before = segment.snapshot()
    db.session.delete(segment)
    events.record(actor, EventType.SEGMENT_DELETED, project=segment.project_id, pre_data=before)


def check_name(name: str) -> None:
    """Refuse a name that is taken."""
    if db.session.scalar(sa.select(Segment.id).where(Segment.name == name)) is not None:
        raise _taken(name)


def obstacle_to_removal(segment: Segment, visible: Sequence[Use]) -> str:
    """Why a segment cannot be deleted, and what to do about it; empty if it can.

    ``visible``: the uses that the reader can see.
    """
    found = queries.uses(segment.id)
    if not found:
        return ""
    seen = spoken(dict.fromkeys(use.feature or use.project_id for use in visible))
    places = f": {seen}" if seen else ""
    return f"{_used_by(found)} it{places}. Stop using it first."


def to_use(project_id: str | None, ids: Sequence[int], path: str) -> list[Segment]:
    """Segments for a strategy of the project by id, locked against changes in this transaction.

    ``project_id``: None for a strategy that any project can use.

    Raises:
        Invalid: when one is unknown, belongs to another project, or would hold for everyone.

    """
    if not ids:
        return []
    known = queries.with_ids(ids)
    problems: list[Detail] = []
    for place, id in enumerate(ids):
        segment = known.get(id)
        if segment is None or segment.project_id not in {None, project_id}:
            where = f"Project {project_id} has" if project_id else "There is"
            message = f"{where} no segment with the id {id}."
        elif not segment.constraints:
            message = f"Segment {segment.name} has no constraints, so everyone would be in it."
        else:
            continue
        problems.append({"path": f"{path}/{place}", "message": message})
    if problems:
        raise Invalid.because(problems)
    return [known[id] for id in sorted(set(ids))]


def _move(actor: Actor, segment: Segment, project: str | None, found: list[Use]) -> None:
    """Limit a segment to one project, or make it available to all."""
    if project is not None:
        _require_project(actor, project)
        outside = [use for use in found if use.project_id != project]
        if outside:
            raise Conflict(
                f"{_used_by(outside)} segment {segment.name} in other projects, so it cannot be "
                f"limited to {project}. Stop using it there first."
            )
    segment.project_id = project


def _require_project(actor: Actor, project_id: str) -> None:
    """Refuse a project that is archived, or that the actor cannot see."""
    try:
        projects.require_for_content(actor, project_id)
    except NotFound as error:
        raise Invalid.at("/project", error.message) from None


def _places(found: Sequence[Use]) -> dict[str, set[str]]:
    """Where a segment reaches applications: the environments, by project, of features on there."""
    places: dict[str, set[str]] = {}
    for use in found:
        if use.is_on and not use.is_archived:
            places.setdefault(use.project_id, set()).add(use.environment)
    return places


def _used_by(found: Sequence[Use]) -> str:
    return counted(len(found), "strategy uses", "strategies use")


def _taken(name: str) -> NameExists:
    return NameExists(f"A segment named {name!r} already exists.", field="name")
