"""Undoing what was done to projects, features, segments and context fields."""

from collections.abc import Sequence
from typing import Any

from app.catalogue.context import service as context
from app.catalogue.features import links
from app.catalogue.features import service as features
from app.catalogue.features.models import FeatureType
from app.catalogue.projects import members
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import ProjectMode
from app.catalogue.segments import service as segments
from app.catalogue.tagging import service as tagging
from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.undoing import Inverse, each, former, refuse_changed
from app.core.permissions import Permission, Role
from app.core.words import listed, snake_case

_READ = {"type": FeatureType, "mode": ProjectMode}
"""What reads the recorded values of fields that are no text."""


def _undo_feature(actor: Actor, event: Event) -> None:
    feature = features.lock_for_change(actor, event.project or "", event.feature_name or "")
    features.update(actor, feature, **_attributes(former(event, feature.snapshot())))


def _undo_tags(actor: Actor, recorded: Sequence[Event]) -> None:
    """Tags that are gone, or back, already are left as they are."""
    for project_id in {event.project for event in recorded}:
        there = [event for event in recorded if event.project == project_id]
        tagging.apply(actor, project_id or "", tagging.inverse(there))


def _undo_link(actor: Actor, event: Event) -> None:
    feature = features.lock_for_change(actor, event.project or "", event.feature_name or "")
    before, after = event.pre_data or {}, event.data or {}
    if event.type is EventType.FEATURE_LINK_REMOVED:
        links.add(actor, feature, url=before["url"], title=before["title"])
    elif event.type is EventType.FEATURE_LINK_ADDED:
        links.remove(actor, feature, after["id"])
    else:
        id = after["id"]
        links.update(actor, feature, id, **former(event, links.get(feature, id).snapshot()))


def _undo_segment(actor: Actor, event: Event) -> None:
    segment = segments.get(actor, (event.data or {})["id"], for_change=True)
    before = former(event, segment.snapshot())
    if "project" in before:  # it moves back, which takes the permission there too
        actor.require(*segments.permission(Permission.UPDATE_SEGMENT, before["project"]))
    segments.update(actor, segment, **before)


def _undo_project(actor: Actor, event: Event) -> None:
    project = projects.get_for_change(actor, event.project or "")
    projects.update(actor, project, **_attributes(former(event, project.snapshot())))


def _undo_environments(actor: Actor, event: Event) -> None:
    project = projects.get_for_change(actor, event.project or "")
    before = event.pre_data or {}
    former(event, project.snapshot())
    if gone := set(before["environments"]) - set(project.environments):
        raise Conflict(
            f"Features were switched off in {listed(gone)}, which can’t be undone. Add "
            f"{listed(gone)} in the settings of the project."
        )
    projects.set_environments(
        actor,
        project,
        environments=before["environments"],
        change_request_environments=[
            projects.ApprovalRule(name=name, required_approvals=number)
            for name, number in before["changeRequestEnvironments"].items()
        ],
    )


def _undo_members(actor: Actor, event: Event) -> None:
    project = projects.get_for_change(actor, event.project or "")
    before, after = ((data or {})["members"] for data in (event.pre_data, event.data))
    present = members.roles(actor, project.id)
    changed = [id for id in {**before, **after} if before.get(id) != after.get(id)]
    roles = {role.title: role for role in Role}
    if any(present.get(int(id)) != roles.get(after.get(id)) for id in changed):
        refuse_changed(["members"])
    wanted = present | {int(id): roles.get(before.get(id)) for id in changed}
    members.replace(actor, project, {id: role for id, role in wanted.items() if role is not None})


def _undo_context_field(actor: Actor, event: Event) -> None:
    field = context.get((event.data or {})["name"], for_change=True)
    context.update(actor, field, **_attributes(former(event, field.snapshot())))


INVERSES = {
    EventType.FEATURE_UPDATED: Inverse(Permission.UPDATE_FEATURE, each(_undo_feature)),
    EventType.FEATURE_TAGS_CHANGED: Inverse(Permission.UPDATE_FEATURE, _undo_tags),
    EventType.FEATURE_LINK_ADDED: Inverse(Permission.UPDATE_FEATURE, each(_undo_link)),
    EventType.FEATURE_LINK_REMOVED: Inverse(Permission.UPDATE_FEATURE, each(_undo_link)),
    EventType.FEATURE_LINK_UPDATED: Inverse(Permission.UPDATE_FEATURE, each(_undo_link)),
    EventType.SEGMENT_UPDATED: Inverse(
        Permission.UPDATE_SEGMENT, each(_undo_segment), in_project=Permission.UPDATE_PROJECT_SEGMENT
    ),
    EventType.PROJECT_UPDATED: Inverse(Permission.UPDATE_PROJECT, each(_undo_project)),
    EventType.PROJECT_ENVIRONMENTS_UPDATED: Inverse(
        Permission.UPDATE_PROJECT, each(_undo_environments)
    ),
    EventType.PROJECT_ACCESS_UPDATED: Inverse(
        Permission.PROJECT_USER_ACCESS_WRITE, each(_undo_members)
    ),
    EventType.CONTEXT_FIELD_UPDATED: Inverse(
        Permission.UPDATE_CONTEXT_FIELD, each(_undo_context_field)
    ),
}


def _attributes(recorded: dict[str, Any]) -> dict[str, Any]:
    """Recorded fields by the names and with the types that they have in Python."""
    return {
        snake_case(key): _READ[key](value) if key in _READ else value
        for key, value in recorded.items()
    }
