"""The actions of a change request: the permission that each needs, and how it is applied.

Each goes through the service that makes the change directly, so the rules of that service hold.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any
from uuid import UUID, uuid4, uuid5

from app.catalogue.approvals.guard import Place
from app.catalogue.archive import service as archive
from app.catalogue.features import dependencies
from app.catalogue.features import service as features
from app.catalogue.projects import service as projects
from app.catalogue.segments import service as segments
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import Strategy
from app.core.actor import Actor
from app.core.clock import from_text
from app.core.db import db
from app.core.errors import Conflict, DomainError, Invalid
from app.core.permissions import Permission
from app.releases.change_requests import configuration, snapshots
from app.releases.change_requests.models import Action, Change
from app.releases.plans import acts, warrants
from app.releases.plans import service as releases
from app.releases.switching import service as switching
from app.releases.switching import strategies, variants
from app.releases.templates import service as templates

PERMISSIONS = {
    Action.UPDATE_ENABLED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    Action.ADD_STRATEGY: Permission.CREATE_FEATURE_STRATEGY,
    Action.UPDATE_STRATEGY: Permission.UPDATE_FEATURE_STRATEGY,
    Action.DELETE_STRATEGY: Permission.DELETE_FEATURE_STRATEGY,
    Action.REORDER_STRATEGY: Permission.UPDATE_FEATURE_STRATEGY,
    Action.PATCH_VARIANT: Permission.UPDATE_FEATURE_ENVIRONMENT_VARIANTS,
    Action.ARCHIVE_FEATURE: Permission.DELETE_FEATURE,
    Action.ADD_DEPENDENCY: Permission.UPDATE_FEATURE_DEPENDENCY,
    Action.DELETE_DEPENDENCY: Permission.UPDATE_FEATURE_DEPENDENCY,
    Action.UPDATE_IMPRESSION_DATA: Permission.UPDATE_FEATURE,
    Action.ADD_RELEASE_PLAN: Permission.UPDATE_FEATURE_ENVIRONMENT,
    Action.START_MILESTONE: Permission.UPDATE_FEATURE_ENVIRONMENT,
    Action.UPDATE_SEGMENT: Permission.UPDATE_SEGMENT,
    Action.DELETE_SEGMENT: Permission.DELETE_SEGMENT,
    Action.UPDATE_APPROVALS: Permission.UPDATE_PROJECT,
    Action.REMOVE_ENVIRONMENT: Permission.UPDATE_PROJECT,
    Action.ARCHIVE_PROJECT: Permission.DELETE_PROJECT,
}
"""Permission to make the change directly. Proposing it needs that permission too."""

_SWITCHES = UUID("6f6a3c4e-8a51-4d0f-9b0e-2f1d7c5f8e21")
"""Namespace of the ids of strategies that features are given when a request switches them on."""
REPEATABLE = {Action.ADD_STRATEGY}
"""Actions that can occur twice for a subject. Of others, a new change replaces the earlier one."""


def completed(actor: Actor, place: Place, feature: str, action: Action, payload: Any) -> Any:
    """The payload of a change, with what must not change any more until it is applied.

    A new strategy gets its id, so that later changes can refer to it. A release gets the steps that
    its template has now.
    """
    if action is Action.ADD_STRATEGY:
        return {"id": str(uuid4()), **payload}
    if action is Action.ADD_RELEASE_PLAN:
        steps = releases.steps_asked_for(actor, place.project, feature, payload)
        return {**payload, "milestones": steps}
    return payload


def carry_out(actor: Actor, place: Place, changes: Sequence[Change]) -> None:
    """Make the changes in order.

    Raises:
        DomainError: what the service of a change refuses, with the number of the change.

    """
    for number, group in _groups(changes):
        _carry_out(actor, place, number, group, is_one_of_many=len(changes) > 1)


def trace(
    actor: Actor, place: Place, changes: Sequence[Change]
) -> Iterator[tuple[Change, snapshots.SubjectSnapshot, snapshots.SubjectSnapshot]]:
    """Make the changes as ``carry_out`` does. Yield each with the snapshots before and after it."""
    before = snapshots.of_changes(*place, changes)
    made: dict[int, Change] = {}
    for number, group in _groups(changes):
        if not made.keys().isdisjoint(map(snapshots.key, group)):
            # A subject changes again, so its snapshot in between is needed.
            yield from _effects(place, before, made)
        _carry_out(actor, place, number, group, is_one_of_many=len(changes) > 1)
        made |= {snapshots.key(change): change for change in group}
    yield from _effects(place, before, made)


def _effects(
    place: Place, before: dict[int, snapshots.SubjectSnapshot], made: dict[int, Change]
) -> Iterator[tuple[Change, snapshots.SubjectSnapshot, snapshots.SubjectSnapshot]]:
    """Yield the effects of independent changes: no two touch the same snapshot.

    Afterwards ``before`` is up to date, and ``made`` is empty.
    """
    after = snapshots.of_changes(*place, made.values())
    for key, change in made.items():
        yield change, before.get(key), after.get(key)
        before[key] = after.get(key)
    made.clear()


def _groups(changes: Sequence[Change]) -> Iterator[tuple[int, list[Change]]]:
    """Yield batches of changes with the index of the first: consecutive switches by direction.

    Any other change is a batch of its own. A request switches a feature at most once, so the order
    of consecutive switches doesn’t matter.
    """
    by_kind = groupby(enumerate(changes), lambda item: item[1].action is Action.UPDATE_ENABLED)
    for is_switch, items in by_kind:
        run = list(items)
        if not is_switch:
            yield from ((number, [change]) for number, change in run)
            continue
        for on in (True, False):
            if batch := [item for item in run if item[1].payload["enabled"] is on]:
                yield batch[0][0], [change for _, change in batch]


@contextmanager
def _naming_change(number: int, change: Change, *, is_one_of_many: bool) -> Iterator[None]:
    """Say in a refusal which change caused it."""
    try:
        yield
    except Invalid as error:
        raise error.moved("/", f"/{number}/payload/") from None
    except DomainError as error:
        if is_one_of_many:
            error.message = f"Change {number + 1} ({change.subject}): {error.message}"
        raise


def _carry_out(
    actor: Actor, place: Place, number: int, group: list[Change], *, is_one_of_many: bool
) -> None:
    change = group[0]
    with _naming_change(number, change, is_one_of_many=is_one_of_many):
        for each in group:
            if each.action.is_on_feature and each.feature_id is None:
                raise Conflict(f"Feature {each.subject} was deleted. Discard this change.")
        if change.action is Action.UPDATE_ENABLED:
            _switch(actor, place, group)
        else:
            _WAYS[change.action](actor, place, change)
    db.session.flush()


def _switch(actor: Actor, place: Place, changes: list[Change]) -> None:
    """The ids of strategies that features are given follow from the changes.

    So applying leads to the snapshots that were stored when the changes were tried out.
    """
    switching.switch(
        actor,
        place.project,
        place.environment,
        [change.subject for change in changes],
        on=changes[0].payload["enabled"],
        new_ids={change.subject: str(uuid5(_SWITCHES, str(change.id))) for change in changes},
    )


def _add_strategy(actor: Actor, place: Place, change: Change) -> None:
    strategies.add(actor, place.project, change.subject, place.environment, **change.payload)


def _update_strategy(actor: Actor, place: Place, change: Change) -> None:
    fields = {name: value for name, value in change.payload.items() if name != "id"}
    strategies.update(actor, place.project, _strategy(actor, place, change), **fields)


def _delete_strategy(actor: Actor, place: Place, change: Change) -> None:
    strategies.remove(actor, _strategy(actor, place, change))


def _strategy(actor: Actor, place: Place, change: Change) -> Strategy:
    subject, id = change.subject, change.payload["id"]
    return strategies.get_for_change(actor, place.project, subject, place.environment, id)


def _reorder_strategies(actor: Actor, place: Place, change: Change) -> None:
    orders = {each["id"]: each["sort_order"] for each in change.payload}
    strategies.sort(actor, place.project, change.subject, place.environment, orders)


def _patch_variants(actor: Actor, place: Place, change: Change) -> None:
    feature, state = variants.lock(actor, place.project, change.subject, place.environment)
    variants.replace(actor, feature, state, change.payload["variants"])


def _archive(actor: Actor, place: Place, change: Change) -> None:
    archive.archive(actor, place.project, [change.subject])


def _add_dependency(actor: Actor, place: Place, change: Change) -> None:
    rule = dict(change.payload)
    parent = rule.pop("feature")
    dependencies.add(actor, place.project, change.subject, parent, **rule)


def _delete_dependency(actor: Actor, place: Place, change: Change) -> None:
    parent = change.payload.get("feature")
    dependencies.remove(actor, place.project, change.subject, parent)


def _update_impression_data(actor: Actor, place: Place, change: Change) -> None:
    feature = features.lock_for_change(actor, place.project, change.subject)
    features.update(actor, feature, **change.payload)


def _add_release(actor: Actor, place: Place, change: Change) -> None:
    wish = {**change.payload}
    if text := wish.get("start_at"):
        wish["start_at"] = from_text(text)
    if not templates.exists(wish.get("template_id")):
        wish.pop("template_id", None)  # it was deleted since; the steps are in the payload
    at = place.project, change.subject, place.environment
    found = releases.create(actor, *at, is_approved=True, **wish)
    if text:
        warrants.grant(actor, found, change.request_id)
    else:
        acts.start_approved(actor, found, None, change.request_id)


def _start_step(actor: Actor, place: Place, change: Change) -> None:
    id, step = change.payload["plan_id"], change.payload["milestone_id"]
    found = releases.get(
        actor, place.project, change.subject, place.environment, id, for_change=True
    )
    acts.start_approved(actor, found, step, change.request_id)


def _update_segment(actor: Actor, place: Place, change: Change) -> None:  # noqa: ARG001 - one signature
    fields = {name: value for name, value in change.payload.items() if name != "id"}
    segments.update(actor, _segment(actor, change), **fields)


def _delete_segment(actor: Actor, place: Place, change: Change) -> None:  # noqa: ARG001 - one signature
    segments.remove(actor, _segment(actor, change))


def _update_approvals(actor: Actor, place: Place, change: Change) -> None:
    number = change.payload["required_approvals"]
    configuration.set_required(actor, *place, enabled=number > 0, required=number)


def _remove_environment(actor: Actor, place: Place, change: Change) -> None:  # noqa: ARG001 - as above
    project = projects.get_for_change(actor, place.project)
    others = [name for name in project.environments if name != place.environment]
    projects.set_environments(actor, project, environments=others)


def _archive_project(actor: Actor, place: Place, change: Change) -> None:  # noqa: ARG001 - as above
    projects.archive(actor, projects.get_for_change(actor, place.project))


def _segment(actor: Actor, change: Change) -> Segment:
    return segments.get(actor, change.segment_id or 0, for_change=True)


_WAYS: dict[Action, Callable[[Actor, Place, Change], None]] = {
    Action.ADD_STRATEGY: _add_strategy,
    Action.UPDATE_STRATEGY: _update_strategy,
    Action.DELETE_STRATEGY: _delete_strategy,
    Action.REORDER_STRATEGY: _reorder_strategies,
    Action.PATCH_VARIANT: _patch_variants,
    Action.ARCHIVE_FEATURE: _archive,
    Action.ADD_DEPENDENCY: _add_dependency,
    Action.DELETE_DEPENDENCY: _delete_dependency,
    Action.UPDATE_IMPRESSION_DATA: _update_impression_data,
    Action.ADD_RELEASE_PLAN: _add_release,
    Action.START_MILESTONE: _start_step,
    Action.UPDATE_SEGMENT: _update_segment,
    Action.DELETE_SEGMENT: _delete_segment,
    Action.UPDATE_APPROVALS: _update_approvals,
    Action.REMOVE_ENVIRONMENT: _remove_environment,
    Action.ARCHIVE_PROJECT: _archive_project,
}
