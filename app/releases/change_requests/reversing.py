"""A new change request that undoes another one."""

from collections.abc import Iterator
from typing import Any

from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.words import counted, spoken
from app.releases.change_requests import editing, snapshots
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import (
    MAX_CHANGES,
    ON_RELEASE,
    Action,
    Change,
    ChangeRequest,
    State,
)

_GONE = ON_RELEASE | {
    Action.ARCHIVE_FEATURE,
    Action.DELETE_SEGMENT,
    Action.UPDATE_APPROVALS,
    Action.REMOVE_ENVIRONMENT,
    Action.ARCHIVE_PROJECT,
}
_SEGMENT_FIELDS = ("name", "description", "project", "constraints")
_STRATEGY_FIELDS = ("name", "title", "disabled", "parameters", "constraints", "segments")


def reverse(actor: Actor, request: ChangeRequest) -> ChangeRequest:
    """Propose the inverse of an applied request. Return the draft.

    Raises:
        Conflict: when it was not applied, or nothing of it can be undone this way.

    """
    if request.state is not State.APPLIED:
        raise Conflict("Only a change request that was applied can be reversed.")
    proposals = inverse(request)
    if not proposals:
        gone = spoken(sorted({change.subject for change in request.changes}))
        raise Conflict(f"This can’t be reversed in a change request: {gone}. Do it by hand.")
    if len(proposals) > MAX_CHANGES:
        raise Conflict(
            f"Reversing this takes {counted(len(proposals), 'change')}. A change request can have "
            f"at most {MAX_CHANGES:,}. Propose the opposite in several."
        )
    draft = editing.propose(actor, request.project_id, request.environment, proposals)
    draft.reverses_id = request.id
    draft.title = f"Reverse change request {request.id}"
    return draft


def inverse(request: ChangeRequest) -> list[Proposal]:
    """Proposals that restore each feature and segment, in reverse order of their last changes.

    What is archived, deleted or less guarded is left out: to restore that changes nothing for
    applications, so it needs no approval.
    """
    first: dict[int, Change] = {}
    last: dict[int, Change] = {}
    for change in request.changes:
        key = snapshots.key(change)
        first.setdefault(key, change)
        last.pop(key, None)
        last[key] = change
    gone = {snapshots.key(each) for each in request.changes if each.action in _GONE}
    return [
        proposal
        for key in reversed(last)
        if key not in gone
        for proposal in _inverse(last[key], first[key].before, last[key].after)
    ]


def _inverse(change: Change, before: Any, after: Any) -> Iterator[Proposal]:
    if change.action.is_on_segment:
        if before != after:
            fields = {name: before[name] for name in _SEGMENT_FIELDS}
            yield Proposal(None, Action.UPDATE_SEGMENT, {"id": change.segment_id, **fields})
        return
    name, was_on, is_on = change.subject, before["enabled"], after["enabled"]
    switch = Proposal(name, Action.UPDATE_ENABLED, {"enabled": was_on})
    # First: deleting the last strategy would switch it off, and then this would change nothing.
    if is_on and not was_on:
        yield switch
    yield from _strategies(name, before["strategies"], after["strategies"])
    if before["variants"] != after["variants"]:
        yield Proposal(name, Action.PATCH_VARIANT, {"variants": before["variants"]})
    if before["parents"] != after["parents"]:
        yield _parents(name, before["parents"])
    if (was := before.get("impressionData")) != after.get("impressionData"):
        yield Proposal(name, Action.UPDATE_IMPRESSION_DATA, {"impression_data": was})
    if was_on and not is_on:
        yield switch


def _strategies(
    name: str, before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> Iterator[Proposal]:
    was, now = ({strategy["id"]: strategy for strategy in each} for each in (before, after))
    for id, strategy in was.items():
        if id not in now:  # with its old id, so that changes that refer to it fit again
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
