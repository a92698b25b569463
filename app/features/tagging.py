"""Tags on several features at once: the whole request or nothing of it."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import chunks, db, insert_if_absent
from app.core.errors import Invalid, NotFound, listed
from app.events import service as events
from app.events.models import EventType
from app.events.service import Story
from app.features import queries
from app.features.models import Feature
from app.projects import service as projects
from app.tags import service as tags
from app.tags.models import FeatureTag, Tag
from app.tags.service import TagName


@dataclass(slots=True)
class Change:
    """What really changed on one feature."""

    added: list[TagName] = field(default_factory=list)
    removed: list[TagName] = field(default_factory=list)


def change(
    actor: Actor,
    project_id: str,
    *,
    features: Collection[str],
    added: Collection[TagName],
    removed: Collection[TagName],
) -> dict[str, Change]:
    """Put tags on all these features and take others off; the real changes by feature name."""
    _refuse_unknown_types(added, removed)
    projects.get_for_content(actor, project_id)
    found = queries.find(project_id, features)
    missing = set(features) - set(found)
    if missing:
        raise NotFound(f"Project {project_id} has no such features: {listed(missing)}.")
    names = {feature.id: name for name, feature in found.items()}
    queries.lock(names)
    changes: defaultdict[str, Change] = defaultdict(Change)
    new = {id: tag for tag, id in tags.ensure(added).items()}
    for feature_id, tag_id in _add(names, new):
        changes[names[feature_id]].added.append(new[tag_id])
    old = {id: tag for tag, id in tags.ids_of(set(removed)).items()}
    for feature_id, tag_id in _remove(names, old):
        changes[names[feature_id]].removed.append(old[tag_id])
    _tell(actor, project_id, changes)
    return changes


def _refuse_unknown_types(added: Collection[TagName], removed: Collection[TagName]) -> None:
    lists = {"addedTags": added, "removedTags": removed}
    unknown = tags.unknown_types({tag.type for part in lists.values() for tag in part})
    if unknown:
        raise Invalid.because(
            [
                {
                    "path": f"/tags/{part}/{index}/type",
                    "message": f"There is no tag type {tag.type!r}; create it first.",
                }
                for part, named in lists.items()
                for index, tag in enumerate(named)
                if tag.type in unknown
            ]
        )


def _add(features: Collection[int], new: Collection[int]) -> list[tuple[int, int]]:
    """Tie every feature to every tag in one statement a chunk; the pairs that were not there."""
    pairs: list[tuple[int, int]] = []
    for chunk in chunks(features) if new else ():
        wanted = (
            sa.select(Feature.id, Tag.id)
            .join(Tag, sa.true())  # each with each
            .where(Feature.id.in_(chunk), Tag.id.in_(new))
            .order_by(Feature.id, Tag.id)
        )
        statement = (
            insert_if_absent(FeatureTag)
            .from_select(["feature_id", "tag_id"], wanted)
            .returning(FeatureTag.feature_id, FeatureTag.tag_id)
        )
        pairs += [(f, t) for f, t in db.session.execute(statement)]
    return pairs


def _remove(features: Collection[int], old: Collection[int]) -> list[tuple[int, int]]:
    """Untie every feature from every tag; the pairs that were there."""
    pairs: list[tuple[int, int]] = []
    for chunk in chunks(features) if old else ():
        statement = (
            sa.delete(FeatureTag)
            .where(FeatureTag.feature_id.in_(chunk), FeatureTag.tag_id.in_(old))
            .returning(FeatureTag.feature_id, FeatureTag.tag_id)
            .execution_options(synchronize_session=False)
        )
        pairs += [(f, t) for f, t in db.session.execute(statement)]
    return pairs


def _tell(actor: Actor, project_id: str, changes: dict[str, Change]) -> None:
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
    events.record_all(actor, EventType.FEATURE_TAGS_CHANGED, stories, batch_id=events.new_batch())
