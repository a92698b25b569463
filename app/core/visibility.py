"""Which projects an actor can see, as SQL.

The rule is here because environments and tags need it, and they cannot import projects.
"""

from typing import Any

import sqlalchemy as sa

from app.core.actor import Actor

PRIVATE = "private"

projects = sa.table("projects", sa.column("id"), sa.column("mode"), sa.column("archived_at"))
"""The columns of the projects table that counts need. The model is in projects."""


def can_see(
    actor: Actor, id: sa.SQLColumnExpression[Any], mode: sa.SQLColumnExpression[Any]
) -> sa.ColumnElement[bool]:
    """Whether the actor can see a project: only members and Admins see a private one."""
    if actor.is_admin:
        return sa.true()
    return sa.or_(mode != PRIVATE, id.in_(list(actor.project_roles)))
