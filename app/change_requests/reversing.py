"""A new change request that undoes another one."""

from collections.abc import Iterator
from typing import Any

from app.change_requests import service
from app.change_requests.models import Action, Change, ChangeRequest, State
from app.change_requests.service import Proposal
from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.words import spoken

_STRATEGY_FIELDS = ("name", "title", "disabled", "parameters", "constraints", "segments")


def reverse(actor: Actor, request: ChangeRequest) -> ChangeRequest:
    """Add the inverse of an applied request to the actor’s draft; that draft.

    Raises:
        Conflict: when it was not applied, or nothing of it can be undone this way.

    """
    if request.state is not State.APPLIED:
        raise Conflict("Only a change request that was applied can be reversed.")
    proposals = inverse(request)
    if not proposals:
        gone = spoken(sorted({change.subject for change in request.changes}))
        raise Conflict(f"This can’t be reversed in a change request: {gone}. Do it by hand.")
    draft = service.propose(actor, request.project_id, request.environment, proposals)
    draft.reverses_id = request.id
    if draft.title is None:
        draft.title = f"Reverse change request {request.id}"
    return draft


def inverse(request: ChangeRequest) -> list[Proposal]:
    """What undoes the changes, the last one first.

    Features that were archived and segments that were deleted are left out: to revive or create
    them again reaches no application, so it needs no approval.
    """
    return [
        proposal
        for change in reversed(request.changes)
        if change.before is not None and change.after is not None
        for proposal in _inverse(change)
    ]


def _inverse(change: Change) -> Iterator[Proposal]:
    if change.action is Action.ARCHIVE_FEATURE:
        return
    if change.action is Action.UPDATE_SEGMENT:
        yield Proposal(None, change.action, _segment(change))
        return
    before, after, name = change.before, change.after, change.subject
    switch = Proposal(name, Action.UPDATE_ENABLED, {"enabled": before["enabled"]})
    is_switched = before["enabled"] != after["enabled"]
    if is_switched and not before["enabled"]:  # before its last strategy goes, and it with that
        yield switch
    yield from _strategies(name, before["strategies"], after["strategies"])
    if before["variants"] != after["variants"]:
        yield Proposal(name, Action.PATCH_VARIANT, {"variants": before["variants"]})
    if before["parents"] != after["parents"]:
        yield _parents(name, before["parents"])
    if is_switched and before["enabled"]:
        yield switch


def _strategies(
    name: str, before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> Iterator[Proposal]:
    was, now = ({strategy["id"]: strategy for strategy in each} for each in (before, after))
    for id, strategy in was.items():
        if id not in now:  # with its old id, so that everything that names it fits again
            place = {"id": id, "sort_order": strategy["sortOrder"]}
            yield Proposal(name, Action.ADD_STRATEGY, _fields(strategy) | place)
        elif _fields(strategy) != _fields(now[id]):
            yield Proposal(name, Action.UPDATE_STRATEGY, _fields(strategy) | {"id": id})
    for id in now:
        if id not in was:
            yield Proposal(name, Action.DELETE_STRATEGY, {"id": id})
    if set(was) == set(now) and list(was) != list(now):
        order = [{"id": id, "sort_order": place} for place, id in enumerate(was)]
        yield Proposal(name, Action.REORDER_STRATEGY, order)


def _fields(strategy: dict[str, Any]) -> dict[str, Any]:
    return {name: strategy[name] for name in (*_STRATEGY_FIELDS, "variants")}


def _parents(name: str, parents: list[dict[str, Any]]) -> Proposal:
    if not parents:
        return Proposal(name, Action.DELETE_DEPENDENCY, {})
    rule = dict(parents[0])
    rule["feature"] = rule.pop("parent")
    return Proposal(name, Action.ADD_DEPENDENCY, rule)


def _segment(change: Change) -> dict[str, Any]:
    wanted = ("name", "description", "project", "constraints")
    return {"id": change.segment_id, **{name: change.before[name] for name in wanted}}
