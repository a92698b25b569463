"""Proposals for changes that pages and commands make directly where no approval is needed."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from app.catalogue.archive.service import ArchivePlan
from app.catalogue.releases.queries import Located
from app.catalogue.strategies.models import Strategy
from app.core.clock import in_text
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import Action


def switching(names: Iterable[str], *, on: bool) -> list[Proposal]:
    return [Proposal(name, Action.UPDATE_ENABLED, {"enabled": on}) for name in names]


def copying(name: str, strategies: Iterable[Strategy]) -> list[Proposal]:
    """Add copies of the strategies to a feature."""
    return [Proposal(name, Action.ADD_STRATEGY, _fields(strategy)) for strategy in strategies]


def parent(name: str, parent: str | None) -> Proposal:
    """Let a feature depend on another one, or on none."""
    if parent is None:
        return Proposal(name, Action.DELETE_DEPENDENCY, {})
    return Proposal(name, Action.ADD_DEPENDENCY, {"feature": parent})


def archiving(plan: ArchivePlan, *, but: Collection[str] = ()) -> list[Proposal]:
    """Archive features of the plan: dependencies are removed first, children before parents."""
    children = {edge.child for edge in plan.lost}
    names = set(plan.archivable).difference(but)
    ordered = sorted(names, key=lambda name: (name not in children, name))
    return [
        *(
            Proposal(edge.child, Action.DELETE_DEPENDENCY, {"feature": edge.parent})
            for edge in plan.detached
        ),
        *(Proposal(name, Action.ARCHIVE_FEATURE, {}) for name in ordered),
    ]


def impressions(name: str, *, reported: bool) -> list[Proposal]:
    """Let SDKs report impressions of a feature, or not."""
    return [Proposal(name, Action.UPDATE_IMPRESSION_DATA, {"impression_data": reported})]


def releasing(name: str, wish: Mapping[str, Any]) -> list[Proposal]:
    """Start a release of a feature, at once or at its time."""
    start_at = wish.get("start_at")
    at = {"start_at": in_text(start_at)} if start_at else {}
    return [Proposal(name, Action.ADD_RELEASE_PLAN, {**wish, **at})]


def next_step(found: Located) -> list[Proposal]:
    """Start the next step of a release now."""
    release = found.release
    place = release.next_position
    step = None if place is None else release.steps[place]["id"]
    payload = {"plan_id": release.id, "milestone_id": step}
    return [Proposal(found.feature, Action.START_MILESTONE, payload)]


def approvals(number: int | None) -> list[Proposal]:
    """Ask for this many approvals. None: stop using the environment."""
    if number is None:
        return [Proposal(None, Action.REMOVE_ENVIRONMENT, {})]
    return [Proposal(None, Action.UPDATE_APPROVALS, {"required_approvals": number})]


def archiving_project() -> list[Proposal]:
    return [Proposal(None, Action.ARCHIVE_PROJECT, {})]


def _fields(strategy: Strategy) -> dict[str, Any]:
    """Payload for a copy of a strategy."""
    names = ("name", "title", "disabled", "parameters", "constraints", "variants")
    fields: dict[str, Any] = {name: getattr(strategy, name) for name in names}
    return fields | {"segments": [segment.id for segment in strategy.segments]}
