"""Changing the type and state of several features at once: all or nothing."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypedDict

import sqlalchemy as sa

from app.catalogue.features import queries, service
from app.catalogue.features.changes import ChangesByFeature
from app.catalogue.features.models import Feature, FeatureType
from app.catalogue.projects import service as projects
from app.core.actor import Actor
from app.core.db import chunks, db
from app.core.errors import ChangedSinceReview, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload


class Settings(TypedDict, total=False):
    """Settings for many features. An omitted key keeps the value of each feature."""

    type: FeatureType
    stale: bool


@dataclass(frozen=True, slots=True)
class Edit:
    """Settings for several features."""

    features: Collection[str]
    settings: Settings


@dataclass(frozen=True, slots=True)
class Preview:
    """``facts``: the features that change, with their changes; ``unchanged``: the others."""

    facts: ChangesByFeature
    unchanged: list[str]


def preview(actor: Actor, project_id: str, edits: Collection[Edit]) -> Preview:
    """Dry run of ``apply``, without archived features."""
    projects.require(actor, project_id)
    found = {feature.name: feature for feature in _features(project_id, edits)}
    facts: ChangesByFeature = []
    unchanged = []
    for name, settings in _by_name(edits):
        if name not in found or found[name].archived_at is not None:
            continue
        before = {key: getattr(found[name], key) for key in settings}
        if before == settings:
            unchanged.append(name)
        else:
            facts.append([name, *_added_and_removed(before, settings)])
    return Preview(sorted(facts), sorted(unchanged))


def apply(
    actor: Actor, project_id: str, edits: Collection[Edit], *, shown: ChangesByFeature | None = None
) -> tuple[str, list[str]]:
    """Apply several edits at once. Return the id of the batch and the names that changed.

    ``shown``: facts of the preview that was confirmed.

    Raises:
        ChangedSinceReview: when the edits would no longer change exactly what is in ``shown``.

    """
    projects.require_for_content(actor, project_id)
    queries.find(project_id, {name for name, _ in _by_name(edits)}, for_change=True)
    if shown is not None and shown != preview(actor, project_id, edits).facts:
        raise ChangedSinceReview
    found = {feature.name: feature for feature in _features(project_id, edits)}
    _refuse_missing_or_archived(project_id, edits, found)
    payloads = []
    for name, settings in _by_name(edits):
        feature = found[name]
        before = feature.snapshot()
        for key, value in settings.items():
            setattr(feature, key, value)
        if (after := feature.snapshot()) != before:
            payload = EventPayload(
                project=project_id, feature_name=name, pre_data=before, data=after
            )
            payloads.append(payload)
    db.session.flush()
    batch_id = events.new_batch()
    payloads.sort(key=lambda payload: payload["feature_name"] or "")
    events.record_all(actor, EventType.FEATURE_UPDATED, payloads, batch_id=batch_id)
    return batch_id, [payload["feature_name"] or "" for payload in payloads]


def reversal(actor: Actor, project_id: str, batch_id: str) -> list[Edit]:
    """Edits that undo a batch.

    Raises:
        NotFound: when it changed no features of this project.

    """
    names: defaultdict[tuple[tuple[str, Any], ...], list[str]] = defaultdict(list)
    for name, before, _ in _recorded(actor, project_id, batch_id):
        names[tuple(before.items())].append(name)
    return [Edit(found, _settings(dict(before))) for before, found in names.items()]


def recorded(actor: Actor, project_id: str, batch_id: str) -> ChangesByFeature:
    """Changes that a batch made.

    Raises:
        NotFound: when it changed no features of this project.

    """
    found = _recorded(actor, project_id, batch_id)
    return [[name, *_added_and_removed(before, _settings(after))] for name, before, after in found]


def _recorded(
    actor: Actor, project_id: str, batch_id: str
) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The features of a batch with the settings that changed, before and after."""
    projects.require(actor, project_id)
    found = events.of_batch(batch_id, EventType.FEATURE_UPDATED, project_id)
    if not found:
        raise NotFound("This project has no such change of features.")
    changes = []
    for event in found:
        before, after = event.pre_data or {}, event.data or {}
        keys = [key for key in ("type", "stale") if before[key] != after[key]]
        former, present = ({key: values[key] for key in keys} for values in (before, after))
        changes.append((event.feature_name or "", former, present))
    return changes


def _settings(values: dict[str, Any]) -> Settings:
    settings = Settings()
    if "type" in values:
        settings["type"] = FeatureType(values["type"])
    if "stale" in values:
        settings["stale"] = values["stale"]
    return settings


def _features(project_id: str, edits: Collection[Edit]) -> list[Feature]:
    """Features of the edits, read from the database again even if they are loaded."""
    found: list[Feature] = []
    for chunk in chunks({name for edit in edits for name in edit.features}):
        query = sa.select(Feature).where(Feature.project_id == project_id, Feature.name.in_(chunk))
        found += db.session.scalars(query.execution_options(populate_existing=True))
    return found


def _refuse_missing_or_archived(
    project_id: str, edits: Collection[Edit], found: dict[str, Feature]
) -> None:
    names = {name for edit in edits for name in edit.features}
    service.refuse_missing(project_id, names - found.keys())
    service.refuse_archived([name for name in names if found[name].archived_at is not None])


def _by_name(edits: Collection[Edit]) -> list[tuple[str, Settings]]:
    return [(name, edit.settings) for edit in edits for name in dict.fromkeys(edit.features)]


def _added_and_removed(before: dict[str, Any], settings: Settings) -> tuple[list[str], list[str]]:
    """(added, removed) settings of a feature, in words."""
    added, removed = [], []
    if "type" in settings and before["type"] != settings["type"]:
        added.append(f"type {settings['type']}")
        removed.append(f"type {before['type']}")
    if "stale" in settings and before["stale"] != settings["stale"]:
        (added if settings["stale"] else removed).append("stale")
    return added, removed
