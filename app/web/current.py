"""The request that is being answered: who asks, and the settings of the application."""

from datetime import tzinfo
from typing import cast

from flask import current_app, g
from werkzeug.local import LocalProxy

from app.core import clock
from app.core.actor import Actor
from app.core.config import Settings
from app.core.permissions import Need, Permission

current_actor = cast(Actor, LocalProxy(lambda: g.actor))


def admit(actor: Actor, needs: Need, project: str | None) -> None:
    """Let the actor act in this request if they have the permission that the route needs."""
    g.actor = actor
    if isinstance(needs, Permission):
        actor.require(needs, project)


def current_key() -> str:
    """The operator's secret key, which is not in the database."""
    return str(current_app.config["SECRET_KEY"])


def current_zone() -> tzinfo:
    """The time zone of the person who reads the page; UTC before they have one."""
    actor: Actor | None = g.get("actor")
    return clock.zone(actor.time_zone if actor else None)


def current_settings() -> Settings:
    """The settings of the application that is running."""
    settings: Settings = current_app.config["SETTINGS"]
    return settings
