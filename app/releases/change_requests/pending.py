"""How many change requests wait for someone, for the navigation and the tabs of their inbox."""

from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.projects.queries import visible_projects
from app.core.actor import Actor
from app.core.db import db
from app.releases.change_requests.models import CLOSED, ChangeRequest, State
from app.releases.change_requests.queries import is_by, waits_for_approval

MAX_COUNTED = 100
"""Counting for the navigation ends here, so that it stays cheap."""


class Numbers(NamedTuple):
    """Requests that are open: that wait for the actor’s approval, that are theirs, scheduled."""

    waiting: int
    own: int
    scheduled: int


def number(actor: Actor) -> int:
    """How many wait for the actor’s approval, at most ``MAX_COUNTED``."""
    if not (actor.is_admin or actor.project_roles):
        return 0
    found = (
        sa.select(ChangeRequest.id).where(waits_for_approval(actor)).limit(MAX_COUNTED).subquery()
    )
    return db.session.scalar(sa.select(sa.func.count()).select_from(found)) or 0


def open_in(project_id: str) -> int:
    """How many of a project are neither drafts nor closed, for the tab of the project."""
    query = sa.select(sa.func.count()).where(
        ChangeRequest.project_id == project_id,
        ChangeRequest.state.in_([State.IN_REVIEW, State.SCHEDULED]),
    )
    return db.session.scalar(query) or 0


def numbers(actor: Actor) -> Numbers:
    query = sa.select(
        sa.func.count().filter(waits_for_approval(actor)),
        sa.func.count().filter(is_by(actor.id)),
        sa.func.count().filter(
            ChangeRequest.state == State.SCHEDULED,
            ChangeRequest.project_id.in_(visible_projects(actor)),
        ),
    ).where(ChangeRequest.state.not_in(CLOSED))
    return Numbers(*db.session.execute(query).one())
