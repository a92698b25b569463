"""Renaming a tag type, with its tags on all features of all projects."""

from collections import defaultdict
from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.features import queries
from app.catalogue.features.models import Feature
from app.catalogue.tagging import renaming
from app.catalogue.tagging.renaming import TagChange
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import SIMPLE, FeatureTag, Tag, TagName, TagType
from app.core.actor import Actor
from app.core.db import db, save
from app.core.errors import Conflict, Invalid, NameExists
from app.core.events import service as events
from app.core.events.event_types import EventType


class RenameImpact(NamedTuple):
    """Numbers of the tags of a type, and of the features and projects with such tags."""

    tags: int
    features: int
    projects: int


class _Tagged(NamedTuple):
    """A feature with tags of the type."""

    id: int
    name: str
    project: str


def impact(actor: Actor, name: str) -> RenameImpact:
    """Numbers of things that ``rename`` would change.

    Raises:
        NoAccess: when the actor can't change features of all these projects.

    """
    values = _values_by_feature(name)
    projects = {each.project for each in values}
    renaming.refuse_without_permission(actor, projects, "a tag of this type")
    of_type = sa.select(sa.func.count()).select_from(Tag).where(Tag.type == name)
    return RenameImpact(db.session.scalar(of_type) or 0, len(values), len(projects))


def rename(actor: Actor, name: str, to: str) -> TagType:
    """Rename a tag type, and with it each of its tags."""
    old = tags.get_type(name)
    if name == SIMPLE:
        raise Conflict(f"The tag type {SIMPLE!r} is the default type and cannot be renamed.")
    if to == name:
        raise Invalid.at("/to", "Must differ from the name.")
    values = _values_by_feature(name)
    projects = {each.project for each in values}
    renaming.refuse_without_permission(actor, projects, "a tag of this type")
    queries.lock({each.id for each in values})
    # Tags refer to their type, so insert the new type first and delete the old one last.
    new = TagType(name=to, description=old.description, hue=old.hue)
    save(new, if_taken=NameExists(f"A tag type named {to!r} already exists.", field="to"))
    db.session.execute(sa.update(Tag).where(Tag.type == name).values(type=to))
    before = old.snapshot()
    db.session.delete(old)
    batch = events.new_batch()
    data = {**new.snapshot(), "features": len(values)}
    events.record(actor, EventType.TAG_TYPE_RENAMED, batch_id=batch, pre_data=before, data=data)
    changes = (
        TagChange(
            each.name,
            each.project,
            [TagName(to, value) for value in found],
            [TagName(name, value) for value in found],
        )
        for each, found in values.items()
    )
    renaming.record_on_features(actor, batch, changes)
    return new


def _values_by_feature(name: str) -> dict[_Tagged, list[str]]:
    query = (
        sa.select(Feature.id, Feature.name, Feature.project_id, Tag.value)
        .join(FeatureTag, FeatureTag.feature_id == Feature.id)
        .join(Tag, Tag.id == FeatureTag.tag_id)
        .where(Tag.type == name)
        .order_by(Feature.name, Tag.value)
    )
    found: defaultdict[_Tagged, list[str]] = defaultdict(list)
    for id, feature, project, value in db.session.execute(query):
        found[_Tagged(id, feature, project)].append(value)
    return found
