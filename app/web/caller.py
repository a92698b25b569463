"""Who calls: the actor of the request that is being answered."""

from typing import cast

from flask import g
from werkzeug.local import LocalProxy

from app.core.actor import Actor
from app.core.permissions import Need, Permission

current_actor = cast(Actor, LocalProxy(lambda: g.actor))


def admit(actor: Actor, needs: Need, project: str | None) -> None:
    """Let the actor act in this request if they have the permission that the route needs."""
    g.actor = actor
    if isinstance(needs, Permission):
        actor.require(needs, project)
