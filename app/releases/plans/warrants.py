"""The warrant: who gets the feature at each step, as people approved it.

Where an environment needs approvals, people approve a release as a whole. Each step then passes the
guard if it gives the feature to exactly those people; and stopping always passes.
"""

from typing import Any

from app.catalogue.approvals import guard
from app.catalogue.approvals.guard import Place
from app.catalogue.projects.queries import needing_approval
from app.catalogue.releases.models import FORMER, Step
from app.catalogue.releases.queries import Located
from app.core.actor import Actor
from app.core.db import db
from app.core.errors import Conflict, DomainError, NeedsApprovals
from app.releases.plans.giving import delivered_now, strategies_now, strategies_with


def grant(actor: Actor, found: Located, request_id: int | None) -> None:
    """Note that a release was approved as it is now.

    ``request_id``: the change request in which it was; None: an Admin bypassed approvals.
    """
    release = found.release
    warrant: dict[str, Any] = {FORMER: strategies_now(found)}
    for step in release.steps:
        warrant[step["id"]] = strategies_with(actor, found, step["strategies"], on=True)
    release.warrant, release.request_id = warrant, request_id
    db.session.flush()


def pass_step(found: Located, step: Step, *, since: int) -> None:
    """Let the guard pass a step that has been started, if people approved exactly that.

    ``since``: how many entries ``events.recorded`` had before.

    Raises:
        Conflict: when something that it uses has changed since.

    """
    if found.release.warrant is None:
        return
    if strategies_now(found) != found.release.warrant[step["id"]]:
        raise Conflict(
            f"Step {step['name']} would give {found.feature} to other people than was approved. "
            "Something that it uses, such as a segment, has changed since."
        )
    pass_anything(found, since=since)


def pass_anything(found: Located, *, since: int) -> None:
    """Let the guard pass whatever applications get of the feature now."""
    place = Place(found.project_id, found.release.environment)
    guard.approve(place, {found.feature: delivered_now(found)}, since=since)


def can_restore(actor: Actor, found: Located) -> bool:
    """Whether the former strategies can come back, and need no approval."""
    release = found.release
    try:
        with_former = strategies_with(actor, found, release.former, on=release.was_on)
    except DomainError:  # they use something that was deleted
        return False
    if not _is_guarded(found):
        return True
    return release.warrant is not None and bool(with_former == release.warrant[FORMER])


def require_bypass(actor: Actor, found: Located) -> None:
    """Refuse to change what people approved, except to an Admin who gives a reason."""
    if found.release.position is None or (actor.is_admin and actor.reason):
        return
    if _is_guarded(found):
        raise NeedsApprovals(
            "People approved this release with all its steps, and "
            f"{found.release.environment} needs approvals for any change of it. Stop it, and "
            "propose a new one. An Admin can make this change without approval, and must give a "
            "reason."
        )


def is_bypass(actor: Actor, found: Located) -> bool:
    """Whether an Admin who starts the release bypasses approvals, for all its steps."""
    return (
        found.release.warrant is None
        and actor.is_admin
        and actor.reason is not None
        and _is_guarded(found)
    )


def require_for_later(actor: Actor, found: Located) -> None:
    """Refuse a release that is to start by itself without the approvals that it needs.

    An Admin who gives a reason bypasses them.

    Raises:
        NeedsApprovals: with the place of a change request that can propose it.

    """
    place = Place(found.project_id, found.release.environment)
    if is_bypass(actor, found):
        grant(actor, found, None)
        guard.record_bypass(actor, place, [found.feature])
    elif _is_guarded(found):
        refusal = NeedsApprovals(
            f"{place.environment} needs approvals, so the release can’t start by itself without "
            "them. Propose it in a change request (POST /api/admin/projects/"
            f"{place.project}/environments/{place.environment}/change-requests). An Admin can make "
            "this change without approval, and must give a reason."
        )
        refusal.place = place
        raise refusal


def _is_guarded(found: Located) -> bool:
    """Whether changes of the feature need approvals where the release is."""
    return bool(needing_approval(found.project_id, [found.release.environment]))
