"""Numbers of change requests for badges: in the navigation and on the tabs of the inbox."""

from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.projects.queries import visible_projects
from app.core.actor import Actor
from app.core.db import db
from app.releases.change_requests.models import CLOSED, ChangeRequest, State
from app.releases.change_requests.queries import is_by, waits_for_approval

MAX_COUNTED = 100
"""The badge in the navigation counts no further, so that its query stays cheap."""


class Numbers(NamedTuple):
    """How many open requests wait for the actor’s approval, are their own, and are scheduled."""

    waiting: int
    own: int
    scheduled: int


def number(actor: Actor) -> int:
    """Number of requests that wait for the actor’s approval, at most ``MAX_COUNTED``."""
    if not (actor.is_admin or actor.project_roles):
        return 0
    found = (
        sa.select(ChangeRequest.id).where(waits_for_approval(actor)).limit(MAX_COUNTED).subquery()
    )
    return db.session.scalar(sa.select(sa.func.count()).select_from(found)) or 0


def open_in(project_id: str) -> int:
    """Number of a project’s requests that are neither drafts nor closed, for its tab."""
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
