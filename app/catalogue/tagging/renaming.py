"""Renaming, merging and deleting tags, with all features of all projects that have them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.catalogue.features import queries
from app.catalogue.features.models import Feature
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import FeatureTag, Tag, TagName
from app.catalogue.tags.queries import visible_uses
from app.core.actor import Actor
from app.core.db import chunks, db, insert_if_absent
from app.core.errors import Conflict, Invalid, NameExists, NoAccess, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.service import EventPayload
from app.core.permissions import Permission


class Use(NamedTuple):
    """A feature with a tag. ``has_other``: it also has the tag that is to replace it."""

    feature_id: int
    feature: str
    project: str
    has_other: bool


class UseCount(NamedTuple):
    """How many features that the actor can see have a tag, and whether others have it too."""

    visible: int
    is_hidden_elsewhere: bool


@dataclass(frozen=True, slots=True)
class Replacement:
    """Plan to replace a tag by another. ``is_merge``: the other tag exists already."""

    tag: TagName
    to: TagName
    is_merge: bool
    uses: list[Use]

    @property
    def facts(self) -> list[Any]:
        """The plan as JSON values: a review signs them, so that exactly they are confirmed."""
        return [self.tag, self.to, self.is_merge, self.uses]


@dataclass(frozen=True, slots=True)
class Done:
    """A replacement that was made. ``batch``: its id, to undo it by."""

    batch: str
    tag: TagName
    to: TagName
    is_merge: bool
    features: int


class TagChange(NamedTuple):
    """What changed on one feature."""

    feature: str
    project: str
    added: list[TagName]
    removed: list[TagName]


def get(tag_id: int) -> TagName:
    tag = db.session.get(Tag, tag_id)
    if tag is None:
        raise NotFound(f"There is no tag with the id {tag_id}.")
    return TagName(tag.type, tag.value)


def usage_count(actor: Actor, tag_id: int) -> UseCount:
    uses = visible_uses(actor)
    of_all = sa.select(sa.func.count()).where(FeatureTag.tag_id == tag_id)
    of_visible = sa.select(sa.func.count()).where(uses.c.tag_id == tag_id)
    visible = db.session.scalar(of_visible) or 0
    return UseCount(visible, (db.session.scalar(of_all) or 0) > visible)


def preview(actor: Actor, tag: TagName, to: TagName) -> Replacement:
    """Dry run of ``rename`` or ``merge``."""
    return _plan(actor, tag, to, tags.ids_of([tag, to]))


def rename(actor: Actor, tag: TagName, to: TagName) -> Done:
    """Give a tag a name that no other tag has."""
    plan = _plan(actor, tag, to, tags.ids_of([tag, to], lock=True))
    if plan.is_merge:
        raise NameExists(f"The tag {to} already exists. Merge {tag} into it instead.", field="to")
    return _replace(actor, plan)


def merge(actor: Actor, tag: TagName, into: TagName) -> Done:
    """Replace a tag by another on all its features, and delete it."""
    plan = _plan(actor, tag, into, tags.ids_of([tag, into], lock=True))
    if not plan.is_merge:
        raise NotFound(f"There is no tag {into}.")
    return _replace(actor, plan)


def delete(actor: Actor, tag: TagName) -> None:
    """Delete a tag that no feature has, active or archived."""
    tag_id = _id_in(tags.ids_of([tag], lock=True), tag)
    if _uses(tag_id, None):
        raise Conflict(f"The tag {tag} cannot be deleted. Remove it from all features first.")
    db.session.execute(sa.delete(Tag).where(Tag.id == tag_id))
    events.record(actor, EventType.TAG_DELETED, pre_data=tag._asdict())


def done(batch: str) -> Done:
    """The rename or merge with this id."""
    types = (EventType.TAG_RENAMED, EventType.TAG_MERGED)
    event = db.session.scalar(
        sa.select(Event).where(Event.batch_id == batch, Event.type.in_(types))
    )
    if event is None:
        raise NotFound("There is no such change of a tag.")
    data, before = event.data or {}, event.pre_data or {}
    is_merge = event.type is EventType.TAG_MERGED
    return Done(batch, _read(before), _read(data), is_merge, data["features"])


def undo(actor: Actor, batch: str) -> Done:
    """Undo a rename or a merge by its id.

    A rename is undone by another one. After a merge, its features get the first tag again, and
    lose the other one where the merge added it.
    """
    past = done(batch)
    if not past.is_merge:
        return rename(actor, past.to, past.tag)
    if past.tag in tags.ids_of([past.tag], lock=True):
        raise Conflict(f"The tag {past.tag} exists again, so this merge cannot be undone.")
    ids = tags.make([past.tag, past.to])
    recorded = _recorded(batch)
    found = {use.feature: use for use in _named(recorded, ids[past.to])}
    refuse_without_permission(actor, (use.project for use in found.values()))
    queries.lock({use.feature_id for use in found.values()})
    drops = {
        name for name, use in found.items() if use.has_other and past.to in recorded[name].added
    }
    for chunk in chunks(found.values()):
        rows = [{"feature_id": use.feature_id, "tag_id": ids[past.tag]} for use in chunk]
        db.session.execute(insert_if_absent(FeatureTag), rows)
        gone = [use.feature_id for use in chunk if use.feature in drops]
        db.session.execute(
            sa.delete(FeatureTag).where(
                FeatureTag.tag_id == ids[past.to], FeatureTag.feature_id.in_(gone)
            )
        )
    changes = (
        TagChange(use.feature, use.project, [past.tag], [past.to] if name in drops else [])
        for name, use in sorted(found.items())
    )
    return _record(actor, EventType.TAG_MERGE_UNDONE, past.to, past.tag, list(changes))


def _plan(actor: Actor, tag: TagName, to: TagName, ids: dict[TagName, int]) -> Replacement:
    if tag == to:
        raise Invalid.at("/to", "Must differ from the tag.")
    tag_id = _id_in(ids, tag)
    if tags.unknown_types({to.type}):
        raise Invalid.at("/to/type", f"There is no tag type {to.type!r}. Create it first.")
    uses = _uses(tag_id, ids.get(to))
    refuse_without_permission(actor, (use.project for use in uses))
    return Replacement(tag, to, to in ids, uses)


def _replace(actor: Actor, plan: Replacement) -> Done:
    queries.lock({use.feature_id for use in plan.uses})
    ids = tags.ids_of([plan.tag]) | tags.make([plan.to])
    of_tag = FeatureTag.tag_id == ids[plan.tag]
    others = sa.select(FeatureTag.feature_id, sa.literal(ids[plan.to])).where(of_tag)
    db.session.execute(insert_if_absent(FeatureTag).from_select(["feature_id", "tag_id"], others))
    db.session.execute(sa.delete(FeatureTag).where(of_tag))
    db.session.execute(sa.delete(Tag).where(Tag.id == ids[plan.tag]))
    type = EventType.TAG_MERGED if plan.is_merge else EventType.TAG_RENAMED
    changes = [
        TagChange(use.feature, use.project, [] if use.has_other else [plan.to], [plan.tag])
        for use in plan.uses
    ]
    return _record(actor, type, plan.tag, plan.to, changes)


def _record(
    actor: Actor, type: EventType, tag: TagName, to: TagName, changes: Collection[TagChange]
) -> Done:
    """Record the change of the tag and of each feature, as one batch."""
    batch = events.new_batch()
    data = {**to._asdict(), "features": len(changes)}
    events.record(actor, type, batch_id=batch, pre_data=tag._asdict(), data=data)
    record_on_features(actor, batch, changes)
    return Done(batch, tag, to, type is EventType.TAG_MERGED, len(changes))


def record_on_features(actor: Actor, batch: str, changes: Iterable[TagChange]) -> None:
    """Record the changes of tags on each feature, as parts of a batch."""
    payloads = (
        EventPayload(
            project=change.project,
            feature_name=change.feature,
            data={
                "added": [tag._asdict() for tag in change.added],
                "removed": [tag._asdict() for tag in change.removed],
            },
        )
        for change in changes
    )
    events.record_all(actor, EventType.FEATURE_TAGS_CHANGED, payloads, batch_id=batch)


def _recorded(batch: str) -> dict[str, TagChange]:
    """Changes of tags that a batch made, by feature name."""
    query = sa.select(Event).where(
        Event.batch_id == batch, Event.type == EventType.FEATURE_TAGS_CHANGED
    )
    found = {}
    for event in db.session.scalars(query):
        data = event.data or {}
        added, removed = ([_read(tag) for tag in data[part]] for part in ("added", "removed"))
        name = event.feature_name or ""
        found[name] = TagChange(name, event.project or "", added, removed)
    return found


def _uses(tag_id: int, other_id: int | None) -> list[Use]:
    query = _with_other(other_id).join(FeatureTag, FeatureTag.feature_id == Feature.id)
    query = query.where(FeatureTag.tag_id == tag_id).order_by(Feature.name)
    return [Use(*row) for row in db.session.execute(query)]


def _named(names: Iterable[str], other_id: int) -> Iterator[Use]:
    for chunk in chunks(names):
        query = _with_other(other_id).where(Feature.name.in_(chunk))
        yield from (Use(*row) for row in db.session.execute(query))


def _with_other(other_id: int | None) -> sa.Select[int, str, str, bool]:
    other = sa.alias(FeatureTag.__table__, "other")
    has_other = sa.exists().where(other.c.feature_id == Feature.id, other.c.tag_id == other_id)
    return sa.select(Feature.id, Feature.name, Feature.project_id, has_other)


def refuse_without_permission(
    actor: Actor, project_ids: Iterable[str], which: str = "this tag"
) -> None:
    """Refuse unless the actor can change features in all projects: all that use a tag own it."""
    if not all(actor.may(Permission.UPDATE_FEATURE, id) for id in project_ids):
        raise NoAccess(
            f"You need the permission {Permission.UPDATE_FEATURE} in every project with a feature "
            f"that has {which}. An Admin has it.",
            on_page=f"Only Members of every project with a feature that has {which} can do this. "
            "Ask an Admin.",
        )


def _id_in(ids: dict[TagName, int], tag: TagName) -> int:
    if tag not in ids:
        raise NotFound(f"There is no tag {tag}.")
    return ids[tag]


def _read(data: dict[str, Any]) -> TagName:
    return TagName(data["type"], data["value"])
