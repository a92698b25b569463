"""Tags on several features at once: the whole request or nothing of it."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import any_of, chunks, db, insert_if_absent, rows
from app.core.errors import Conflict, Detail, Invalid, NotFound, listed
from app.events import service as events
from app.events.models import EventType
from app.events.service import Story
from app.features import queries
from app.features.models import Feature
from app.projects import service as projects
from app.tags import service as tags
from app.tags.models import FeatureTag, Tag, TagName

Facts = list[list[Any]]
"""[feature, [tags added], [tags removed]] of each feature that changes, in plain words."""


@dataclass(slots=True)
class Change:
    """What really changes on one feature."""

    added: list[TagName] = field(default_factory=list)
    removed: list[TagName] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Edit:
    """The same for several features: tags to put on and tags to take off."""

    features: Collection[str]
    added: Collection[TagName]
    removed: Collection[TagName]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What an edit would do to each of its features, and the tags that each would have then."""

    changes: dict[str, Change]
    afterwards: dict[str, list[TagName]]
    new_tags: list[TagName]

    @property
    def changing(self) -> list[str]:
        return [name for name, change in self.changes.items() if change.added or change.removed]

    @property
    def facts(self) -> Facts:
        """Every feature that changes, and how."""
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
) -> dict[str, Change]:
    """Put tags on all these features and take others off; the real changes by feature name."""
    return apply(actor, project_id, [Edit(features, added, removed)])[1]


def apply(
    actor: Actor, project_id: str, edits: Collection[Edit], *, shown: Facts | None = None
) -> tuple[str, dict[str, Change]]:
    """Do several edits as one act: the id of its batch, and the real changes by feature name.

    With ``shown``, the facts of an outlook, exactly these changes are made or none.
    """
    ids = _known_tags(edits)
    names = _lock(actor, project_id, edits)
    if shown is not None and shown != outlook(actor, project_id, edits).facts:
        raise Conflict(
            "What this would do has changed since you saw it, so nothing was done. The changes "
            "are marked; look again."
        )
    changes: defaultdict[str, Change] = defaultdict(Change)
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
    _tell(actor, project_id, changes, batch_id)
    return batch_id, changes


def outlook(actor: Actor, project_id: str, edits: Collection[Edit]) -> Outlook:
    """Look at what ``apply`` would do; nothing is changed."""
    known = _known_tags(edits)
    projects.require(actor, project_id)
    wanted = {name for edit in edits for name in edit.features}
    found = queries.find(project_id, wanted)
    present = queries.tags_of([feature.id for feature in found.values()])
    changes = {name: Change() for name in sorted(found)}
    after = {name: set(present[found[name].id]) for name in changes}
    for edit in edits:
        for name in set(edit.features) & set(found):
            changes[name].added += sorted(set(edit.added) - after[name])
            changes[name].removed += sorted(set(edit.removed) & after[name])
            after[name] = (after[name] | set(edit.added)) - set(edit.removed)
    added = {tag for edit in edits for tag in edit.added}
    return Outlook(
        changes,
        {name: sorted(tags_then) for name, tags_then in after.items()},
        sorted(added - known.keys()),
    )


def reversal(actor: Actor, project_id: str, batch_id: str) -> list[Edit]:
    """The edits that take back what a batch did.

    Raises:
        NotFound: when the batch changed no tags in this project.

    """
    projects.require(actor, project_id)
    alike: defaultdict[tuple[tuple[TagName, ...], tuple[TagName, ...]], list[str]]
    alike = defaultdict(list)
    for event in events.of_batch(batch_id, EventType.FEATURE_TAGS_CHANGED, project_id):
        data = event.data or {}
        added, removed = (
            tuple(TagName(tag["type"], tag["value"]) for tag in data.get(part, ()))
            for part in ("added", "removed")
        )
        alike[removed, added].append(event.feature_name or "")
    if not alike:
        raise NotFound("There is no such change of tags in this project.")
    return [Edit(names, added, removed) for (added, removed), names in alike.items()]


def _lock(actor: Actor, project_id: str, edits: Collection[Edit]) -> dict[int, str]:
    """All features of the edits, for this transaction alone to change; their names by id."""
    projects.require_for_content(actor, project_id)
    wanted = {name for edit in edits for name in edit.features}
    found = queries.find(project_id, wanted)
    if missing := wanted - set(found):
        raise NotFound(f"Project {project_id} has no such features: {listed(missing)}.")
    names = {feature.id: name for name, feature in found.items()}
    queries.lock(names)
    return names


def _known_tags(edits: Collection[Edit]) -> dict[TagName, int]:
    """The ids of the tags that exist; all others must at least be of a type that does."""
    named = {tag for edit in edits for part in (edit.added, edit.removed) for tag in part}
    known = tags.ids_of(named)
    if types := {tag.type for tag in named - known.keys()}:
        unknown = tags.unknown_types(types)
        for edit in edits:
            _refuse_types(unknown, edit)
    return known


def _refuse_types(unknown: Collection[str], edit: Edit) -> None:
    problems: list[Detail] = [
        {
            "path": f"/tags/{part}/{index}/type",
            "message": f"There is no tag type {tag.type!r}; create it first.",
        }
        for part, named in (("addedTags", edit.added), ("removedTags", edit.removed))
        for index, tag in enumerate(named)
        if tag.type in unknown
    ]
    if problems:
        raise Invalid.because(problems)


def _add(features: Collection[int], new: Collection[int]) -> list[tuple[int, int]]:
    """Tie every feature to every tag in one statement a chunk; the pairs that were not there."""
    pairs: list[tuple[int, int]] = []
    for chunk in chunks(features) if new else ():
        pairs += rows(_tie(db.engine.dialect.name), features=chunk, tags=list(new))
    return pairs


def _remove(features: Collection[int], old: Collection[int]) -> list[tuple[int, int]]:
    """Untie every feature from every tag; the pairs that were there."""
    pairs: list[tuple[int, int]] = []
    for chunk in chunks(features) if old else ():
        pairs += rows(_untie, features=chunk, tags=list(old))
    return pairs


@cache
def _tie(_dialect: str) -> sa.Executable:
    wanted = (
        sa.select(Feature.id, Tag.id)
        .join(Tag, sa.true())  # each with each
        .where(Feature.id.in_(any_of("features")), Tag.id.in_(any_of("tags")))
        .order_by(Feature.id, Tag.id)
    )
    return (
        insert_if_absent(FeatureTag)
        .from_select(["feature_id", "tag_id"], wanted)
        .returning(FeatureTag.feature_id, FeatureTag.tag_id)
    )


_untie = (
    sa.delete(FeatureTag)
    .where(FeatureTag.feature_id.in_(any_of("features")), FeatureTag.tag_id.in_(any_of("tags")))
    .returning(FeatureTag.feature_id, FeatureTag.tag_id)
)


def _tell(actor: Actor, project_id: str, changes: dict[str, Change], batch_id: str) -> None:
    @cache  # most features of a request change alike
    def told(changed: tuple[TagName, ...]) -> list[dict[str, str]]:
        return [{"type": tag.type, "value": tag.value} for tag in sorted(changed)]

    stories = (
        Story(
            project=project_id,
            feature_name=name,
            data={"added": told(tuple(change.added)), "removed": told(tuple(change.removed))},
        )
        for name, change in sorted(changes.items())
    )
    events.record_all(actor, EventType.FEATURE_TAGS_CHANGED, stories, batch_id=batch_id)
