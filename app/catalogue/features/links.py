"""Links of a feature to pages about it, such as its ticket or its dashboard."""

from collections.abc import Collection
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from app.catalogue.features.models import LINKS, Feature, FeatureLink
from app.catalogue.features.queries import FeatureView
from app.core.actor import Actor
from app.core.db import db, save
from app.core.errors import NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType


class Changes(TypedDict, total=False):
    """Fields of an update. Omitted fields keep their value."""

    url: str
    title: str | None


def add(actor: Actor, feature: Feature, *, url: str, title: str | None = None) -> FeatureLink:
    """Add a link to a feature from ``service.lock_for_change``, after its others."""
    of_feature = FeatureLink.feature_id == feature.id
    LINKS.require_room(of_feature, remedy="Remove one first.")
    last = db.session.scalar(sa.select(sa.func.max(FeatureLink.position)).where(of_feature))
    link = FeatureLink(
        feature_id=feature.id, url=url, title=title or None, position=(last or 0) + 1
    )
    save(link)
    events.record_of(actor, EventType.FEATURE_LINK_ADDED, feature, data=link.snapshot())
    return link


def get(feature: Feature, id: str) -> FeatureLink:
    link = db.session.get(FeatureLink, id)
    if link is None or link.feature_id != feature.id:
        raise NotFound(f"{feature.name} has no link with the id {id}.")
    return link


def update(actor: Actor, feature: Feature, id: str, **changes: Unpack[Changes]) -> bool:
    """Change a link of a feature from ``lock_for_change``. Return whether anything changed."""
    link = get(feature, id)
    before = link.snapshot()
    for name, value in changes.items():
        setattr(link, name, value or None)
    after = link.snapshot()
    if after != before:
        events.record_of(
            actor, EventType.FEATURE_LINK_UPDATED, feature, pre_data=before, data=after
        )
    return after != before


def remove(actor: Actor, feature: Feature, id: str) -> None:
    """Remove a link of a feature from ``lock_for_change``."""
    link = get(feature, id)
    events.record_of(actor, EventType.FEATURE_LINK_REMOVED, feature, pre_data=link.snapshot())
    db.session.delete(link)
    db.session.flush()


def replace(actor: Actor, view: FeatureView, links: Collection[dict[str, Any]]) -> bool:
    """Let a feature have exactly these links: those with the ``id`` of one, and new ones.

    ``view``: from ``service.get_for_change``. Return whether anything changed.
    """
    feature, present = view.feature, {link.id for link in view.links}
    gone = sorted(present - {link.get("id") for link in links})
    for id in gone:
        remove(actor, feature, id)
    changed = bool(gone)
    for link in links:
        values: Changes = {"url": link["url"], "title": link["title"]}
        if link.get("id") in present:
            changed |= update(actor, feature, link["id"], **values)
        else:
            add(actor, feature, **values)
            changed = True
    return changed
