"""Who calls: the actor of the request that is being answered."""

from typing import cast

from flask import g
from werkzeug.local import LocalProxy

from app.core.actor import Actor
from app.core.errors import NoAccess
from app.core.permissions import (
    Need,
    Permission,
    who_can_grant,
)

current_actor = cast(Actor, LocalProxy(lambda: g.actor))


def admit(actor: Actor, needs: Need, project: str | None) -> None:
    """Let the actor act in this request if they have the permission that the route needs."""
    g.actor = actor
    if isinstance(needs, Permission):
        require(actor, needs, project)


def require(actor: Actor, permission: Permission, project: str | None = None) -> None:
    """Refuse an actor who lacks the permission: everywhere, or in ``project``."""
    if not actor.may(permission, project):
        # The same words whether the project exists or not: a 403 tells nothing about that.
        where = f" in project {project}" if project is not None else ""
        who = who_can_grant(permission, project)
        raise NoAccess(f"You need the permission {permission}{where}. Ask {who}.")
