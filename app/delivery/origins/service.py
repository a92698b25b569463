"""The origins whose pages can read features. Browsers don't let any other page read them."""

from collections.abc import Sequence

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, locked
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.delivery.origins.models import BrowserAccess

ANY = "*"
"""Stands for all origins."""
MAX_ORIGINS = 100
MAX_ORIGIN = 300

_origins = sa.select(BrowserAccess.origins)


def origins() -> list[str]:
    """Return the origins in their order; ``*`` for all."""
    found = db.session.scalar(_origins)
    return list(found or ())


def set_origins(actor: Actor, wanted: Sequence[str]) -> bool:
    """Allow these origins and no others. Return whether that changed anything."""
    access = db.session.scalars(locked(sa.select(BrowserAccess))).one()
    before = access.snapshot()
    access.origins = list(dict.fromkeys(wanted))
    after = access.snapshot()
    if after != before:
        events.record(actor, EventType.BROWSER_ORIGINS_UPDATED, pre_data=before, data=after)
    return after != before
