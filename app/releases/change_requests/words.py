"""Changes in words, for titles and lists."""

from collections.abc import Callable, Sequence
from typing import Any

from app.core.words import counted, spoken
from app.releases.change_requests.models import Action, Change, StepKind

SUBJECTS_SHOWN = 2


def headline(change: Change) -> str:
    """Headline of a change: “Switch on checkout.tips”."""
    return f"{act(change)} {change.subject}"


def act(change: Change) -> str:
    """The headline without the name of the subject."""
    return _ACTS[change.action](change)


def title(changes: Sequence[Change]) -> str:
    """Default title of a change request."""
    if not changes:
        return "Nothing yet"
    more = f" and {counted(len(changes) - 1, 'more change')}" if len(changes) > 1 else ""
    return f"{headline(changes[0])}{more}"


def contents(changes: Sequence[Change]) -> str:
    """Summary of changes: “2 changes in checkout.express and checkout.tips”."""
    names = dict.fromkeys(change.subject for change in changes)
    if not names:
        return "No changes"
    return f"{counted(len(changes), 'change')} in {spoken(names, SUBJECTS_SHOWN)}"


def number_of(change: Change) -> int | None:
    """Position of the strategy that a change is about, counted from 1; None if it is gone."""
    snapshot = change.after if change.action is Action.ADD_STRATEGY else change.before
    strategies: list[dict[str, Any]] = (snapshot or {}).get("strategies", [])
    ids = [strategy["id"] for strategy in strategies]
    id = change.payload["id"]
    return ids.index(id) + 1 if id in ids else None


def _strategy(verb: str, link: str) -> Callable[[Change], str]:
    def words(change: Change) -> str:
        number = number_of(change)
        which = f"strategy {number}" if number else "a strategy"
        return f"{verb} {which} {link}"

    return words


def _fixed(words: str) -> Callable[[Change], str]:
    return lambda _: words


def _approvals(change: Change) -> str:
    number = change.payload["required_approvals"]
    return f"Ask for {counted(number, 'approval') if number else 'no approvals'} in"


def _parent(change: Change) -> str:
    return f"Add dependency on {change.payload['feature']} to"


_ACTS: dict[Action, Callable[[Change], str]] = {
    Action.UPDATE_ENABLED: lambda c: "Switch on" if c.payload["enabled"] else "Switch off",
    Action.ADD_STRATEGY: _fixed("Add a strategy to"),
    Action.UPDATE_STRATEGY: _strategy("Edit", "of"),
    Action.DELETE_STRATEGY: _strategy("Delete", "of"),
    Action.REORDER_STRATEGY: _fixed("Sort the strategies of"),
    Action.PATCH_VARIANT: _fixed("Change the variants of"),
    Action.ARCHIVE_FEATURE: _fixed("Archive"),
    Action.ADD_DEPENDENCY: _parent,
    Action.DELETE_DEPENDENCY: _fixed("Remove the dependency of"),
    Action.UPDATE_IMPRESSION_DATA: lambda c: (
        f"{'Report' if c.payload['impression_data'] else 'Stop'} impression data of"
    ),
    Action.ADD_RELEASE_PLAN: lambda c: (
        f"Start a release in {counted(len(c.payload['milestones']), 'step')} of"
        if "milestones" in c.payload
        else "Start a release of"
    ),
    Action.START_MILESTONE: _fixed("Start a step now in the release of"),
    Action.UPDATE_SEGMENT: _fixed("Edit segment"),
    Action.DELETE_SEGMENT: _fixed("Delete segment"),
    Action.UPDATE_APPROVALS: _approvals,
    Action.REMOVE_ENVIRONMENT: _fixed("Stop using this environment in"),
    Action.ARCHIVE_PROJECT: _fixed("Archive project"),
}


STEPS = {
    StepKind.OPENED: "sent this for review",
    StepKind.EDITED: "edited it",
    StepKind.WITHDRAWN: "made it a draft again",
    StepKind.APPROVED: "approved it",
    StepKind.APPROVAL_WITHDRAWN: "withdrew their approval",
    StepKind.REJECTED: "rejected it",
    StepKind.COMMENTED: "commented",
    StepKind.CHANGED: "changed something that this touches, so it leads to something else",
    StepKind.SCHEDULED: "scheduled it",
    StepKind.UNSCHEDULED: "ended the schedule",
    StepKind.APPLIED: "applied it",
    StepKind.FAILED: "had scheduled it, but it couldn’t be applied",
    StepKind.CANCELLED: "cancelled it",
}
"""What someone did, after their name."""
