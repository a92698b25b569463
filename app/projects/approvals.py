"""Environments in which a project asks for approvals: no one changes anything there alone."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db
from app.core.errors import NoAccess
from app.core.words import counted, spoken
from app.events import service as events
from app.events.models import EventType
from app.projects.models import Approval


def guarded(project_id: str, environments: Iterable[str]) -> list[str]:
    """Those of the environments in which changes need approvals, by name."""
    return [name for name, _ in _required(project_id, environments)]


def guard(
    actor: Actor,
    project_id: str,
    environments: Iterable[str],
    *,
    feature: str | None = None,
    is_visible: bool = True,
) -> None:
    """Refuse a change that reaches applications in one of these environments, if it is guarded.

    An Admin who gives a reason may make it. The event log says so. ``is_visible``: whether the
    refusal may name the project.

    Raises:
        NoAccess: with the number of approvals that the change would need.

    """
    found = _required(project_id, environments)
    if not found:
        return
    if not (actor.is_admin and actor.reason):
        needs = spoken([f"{counted(most, 'approval')} in {name}" for name, most in found])
        where = f"{needs} of project {project_id}" if is_visible else "approvals"
        raise NoAccess(
            f"Changes that reach applications need {where}. An Admin can make this change without "
            "approval, and must give a reason."
        )
    for name, required in found:
        events.record(
            actor,
            EventType.CHANGE_REQUEST_BYPASSED,
            project=project_id,
            feature_name=feature,
            data={"environment": name, "requiredApprovals": required},
        )


def _required(project_id: str, environments: Iterable[str]) -> Sequence[sa.Row[str, int]]:
    """The environments that are guarded, each with the approvals that a change needs."""
    query = sa.select(Approval.environment, Approval.required_approvals).where(
        Approval.project_id == project_id, Approval.environment.in_(list(environments))
    )
    return db.session.execute(query.order_by(Approval.environment)).all()
