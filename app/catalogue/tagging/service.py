"""Changing the tags of several features at once: all or nothing."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import sqlalchemy as sa

from app.catalogue.features import queries
from app.catalogue.features.changes import ChangesByFeature
from app.catalogue.features.models import Feature
from app.catalogue.features.service import refuse_missing
from app.catalogue.projects import service as projects
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import FeatureTag, Tag, TagName
from app.core.actor import Actor
from app.core.db import insert_if_absent
from app.core.errors import ChangedSinceReview, Detail, Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.service import EventPayload
from app.core.statements import Condition, OnList


@dataclass(slots=True)
class AppliedTags:
    """Tags that are actually added to and removed from one feature."""

    added: list[TagName] = field(default_factory=list)
    removed: list[TagName] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Edit:
    """Tags to add to and remove from several features."""

    features: Collection[str]
    added: Collection[TagName]
    removed: Collection[TagName]


@dataclass(frozen=True, slots=True)
class Preview:
    """What edits would change on each of their features."""

    changes: dict[str, AppliedTags]
    new_tags: list[TagName]

    @property
    def changing(self) -> list[str]:
        return [name for name, change in self.changes.items() if change.added or change.removed]

    @property
    def unchanged(self) -> list[str]:
        return [name for name, c in self.changes.items() if not c.added and not c.removed]

    @property
    def facts(self) -> ChangesByFeature:
        """The changes that a review shows and confirms."""
        return [
            [name, [str(tag) for tag in change.added], [str(tag) for tag in change.removed]]
            for name in self.changing
            for change in [self.changes[name]]
        ]


def change(
    actor: Actor,
    project_id: str,
    *,
    features: Collection[str],
    added: Collection[TagName],
    removed: Collection[TagName],
) -> dict[str, AppliedTags]:
    """Add tags to all these features and remove others. Return the changes by feature name."""
    return apply(actor, project_id, [Edit(features, added, removed)])[1]


def apply(
    actor: Actor, project_id: str, edits: Collection[Edit], *, shown: ChangesByFeature | None = None
) -> tuple[str, dict[str, AppliedTags]]:
    """Apply several edits at once. Return the id of the batch and the changes by feature name.

    ``shown``: facts of the preview that was confirmed.

    Raises:
        ChangedSinceReview: when the edits would no longer change exactly what is in ``shown``.

    """
    ids = _known_tags(edits)
    names = _lock(actor, project_id, edits)
    if shown is not None and shown != preview(actor, project_id, edits).facts:
        raise ChangedSinceReview
    changes: defaultdict[str, AppliedTags] = defaultdict(AppliedTags)
    ids |= tags.make({tag for edit in edits for tag in edit.added if tag not in ids})
    for edit in edits:
        wanted = set(edit.features)
        features = [id for id, name in names.items() if name in wanted]
        new = {ids[tag]: tag for tag in edit.added}
        for feature_id, tag_id in _add(features, new):
            changes[names[feature_id]].added.append(new[tag_id])
        old = {ids[tag]: tag for tag in edit.removed if tag in ids}
        for feature_id, tag_id in _remove(features, old):
            changes[names[feature_id]].removed.append(old[tag_id])
    batch_id = events.new_batch()
    _record_events(actor, project_id, changes, batch_id)
    return batch_id, changes


def preview(actor: Actor, project_id: str, edits: Collection[Edit]) -> Preview:
    """Dry run of ``apply``."""
    known = _known_tags(edits)
    projects.require(actor, project_id)
    wanted = {name for edit in edits for name in edit.features}
    found = queries.find(project_id, wanted)
    present = queries.tags_of([feature.id for feature in found.values()])
    changes = {name: AppliedTags() for name in sorted(found)}
    after = {name: set(present[found[name].id]) for name in changes}
    for edit in edits:
        for name in set(edit.features) & set(found):
            changes[name].added += sorted(set(edit.added) - after[name])
            changes[name].removed += sorted(set(edit.removed) & after[name])
            after[name] = (after[name] | set(edit.added)) - set(edit.removed)
    added = {tag for edit in edits for tag in edit.added}
    return Preview(changes, sorted(added - known.keys()))


def reversal(actor: Actor, project_id: str, batch_id: str) -> list[Edit]:
    """Edits that undo a batch.

    Raises:
        NotFound: when the batch changed no tags in this project.

    """
    projects.require(actor, project_id)
    edits = inverse(events.of_batch(batch_id, EventType.FEATURE_TAGS_CHANGED, project_id))
    if not edits:
        raise NotFound("This project has no such change of tags.")
    return edits


def inverse(recorded: Iterable[Event]) -> list[Edit]:
    """Edits that undo changes of tags in one project."""
    by_change: defaultdict[tuple[tuple[TagName, ...], tuple[TagName, ...]], list[str]]
    by_change = defaultdict(list)
    for event in recorded:
        data = event.data or {}
        added, removed = (
            tuple(TagName(tag["type"], tag["value"]) for tag in data.get(part, ()))
            for part in ("added", "removed")
        )
        by_change[removed, added].append(event.feature_name or "")
    return [Edit(names, added, removed) for (added, removed), names in by_change.items()]


def _lock(actor: Actor, project_id: str, edits: Collection[Edit]) -> dict[int, str]:
    """Lock all features of the edits for this transaction. Return their names by id."""
    projects.require_for_content(actor, project_id)
    wanted = {name for edit in edits for name in edit.features}
    found = queries.find(project_id, wanted, for_change=True)
    refuse_missing(project_id, wanted - found.keys())
    return {feature.id: name for name, feature in found.items()}


def _known_tags(edits: Collection[Edit]) -> dict[TagName, int]:
    """Ids of the tags that exist. Refuse the others if their type doesn't exist."""
    named = {tag for edit in edits for part in (edit.added, edit.removed) for tag in part}
    known = tags.ids_of(named, keep=True)
    if types := {tag.type for tag in named - known.keys()}:
        unknown = tags.unknown_types(types)
        for edit in edits:
            _refuse_types(unknown, edit)
    return known


def _refuse_types(unknown: Collection[str], edit: Edit) -> None:
    problems: list[Detail] = [
        {
            "path": f"/tags/{part}/{index}/type",
            "message": f"There is no tag type {tag.type!r}. Create it first.",
        }
        for part, named in (("addedTags", edit.added), ("removedTags", edit.removed))
        for index, tag in enumerate(named)
        if tag.type in unknown
    ]
    if problems:
        raise Invalid.because(problems)


def _add(features: Collection[int], new: Collection[int]) -> list[tuple[int, int]]:
    """Add every tag to every feature. Return the (feature id, tag id) pairs that are new."""
    if not new:
        return []
    return [*_insert_pairs.run(features, tags=new)]


def _remove(features: Collection[int], old: Collection[int]) -> list[tuple[int, int]]:
    """Remove every tag from every feature. Return the (feature id, tag id) pairs that existed."""
    return [*_delete_pairs.run(features, tags=old)] if old else []


def _insert_into_pairs(is_among: Condition) -> sa.Executable:
    wanted = (
        sa.select(Feature.id, Tag.id)
        .join(Tag, sa.true())  # a cross join: every feature with every tag
        .where(is_among(Feature.id), is_among(Tag.id, "tags"))
        .order_by(Feature.id, Tag.id)
    )
    return (
        insert_if_absent(FeatureTag)
        .from_select(["feature_id", "tag_id"], wanted)
        .returning(FeatureTag.feature_id, FeatureTag.tag_id)
    )


_insert_pairs = OnList(_insert_into_pairs, "tags", row=tuple)
_delete_pairs = OnList(
    lambda is_among: (
        sa.delete(FeatureTag)
        .where(is_among(FeatureTag.feature_id), is_among(FeatureTag.tag_id, "tags"))
        .returning(FeatureTag.feature_id, FeatureTag.tag_id)
    ),
    "tags",
    row=tuple,
)


def _record_events(
    actor: Actor, project_id: str, changes: dict[str, AppliedTags], batch_id: str
) -> None:
    @cache  # most features of a request have the same changes
    def data_of(added: tuple[TagName, ...], removed: tuple[TagName, ...]) -> dict[str, Any]:
        return {"added": _as_data(added), "removed": _as_data(removed)}

    payloads = (
        EventPayload(
            project=project_id,
            feature_name=name,
            data=data_of(tuple(change.added), tuple(change.removed)),
        )
        for name, change in sorted(changes.items())
    )
    events.record_all(actor, EventType.FEATURE_TAGS_CHANGED, payloads, batch_id=batch_id)


def _as_data(tags: Iterable[TagName]) -> list[dict[str, str]]:
    return [{"type": tag.type, "value": tag.value} for tag in sorted(tags)]
