"""Deleting archived features for good, with a preview."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import sqlalchemy as sa

from app.catalogue.archive.service import AskedFor, still_asked_for
from app.catalogue.features import deleting, queries
from app.catalogue.features.models import Feature
from app.catalogue.features.service import refuse_missing
from app.catalogue.projects import service as projects
from app.catalogue.strategies import queries as strategies
from app.core.actor import Actor
from app.core.db import chunks, db
from app.core.errors import ChangedSinceReview, Conflict
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.words import listed


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """What deleting a set of features would do.

    ``names``: the archived features of the set, sorted. ``active``: those that aren't archived.
    ``missing``: names of no feature in this project. ``strategies``: how many are lost.
    ``still_asked_for``: by applications, within ASKED_FOR.
    """

    ids: dict[str, int]
    active: list[str]
    missing: list[str]
    strategies: int = 0
    still_asked_for: list[AskedFor] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return sorted(self.ids)


def preview(actor: Actor, project_id: str, features: Collection[str]) -> DeletionPlan:
    """What ``delete`` would do, and what would be lost."""
    projects.require(actor, project_id)
    found = _plan(project_id, features)
    number = strategies.count([*found.ids.values()])
    return replace(found, strategies=number, still_asked_for=still_asked_for(found.ids))


def delete(
    actor: Actor, project_id: str, features: Collection[str], *, shown: list[str] | None = None
) -> None:
    """Delete archived features for good, all or none. Their names are free again.

    ``shown``: the names that were confirmed.

    Raises:
        ChangedSinceReview: when others than those in ``shown`` would be deleted.

    """
    projects.require_for_content(actor, project_id)
    deleting.lock([*_plan(project_id, features).ids.values()])
    found = _plan(project_id, features)  # current, now that the features are locked
    if shown is not None and shown != found.names:
        raise ChangedSinceReview
    refuse_missing(project_id, found.missing)
    if found.active:
        raise Conflict(
            f"These features are not archived: {listed(found.active)}. Archive them first."
        )
    ids = [*found.ids.values()]
    tags = queries.tags_of(ids)
    rows = [
        row
        for chunk in chunks(ids)
        for row in db.session.scalars(sa.select(Feature).where(Feature.id.in_(chunk)))
    ]
    payloads = [
        EventPayload(
            project=project_id,
            feature_name=row.name,
            pre_data={**row.snapshot(), "tags": [str(tag) for tag in tags[row.id]]},
        )
        for row in sorted(rows, key=lambda row: row.name)
    ]
    deleting.delete(ids)
    events.record_all(actor, EventType.FEATURE_DELETED, payloads, batch_id=events.new_batch())


def _plan(project_id: str, features: Collection[str]) -> DeletionPlan:
    found = queries.find(project_id, features)
    return DeletionPlan(
        ids={name: one.id for name, one in found.items() if one.is_archived},
        active=sorted(name for name, one in found.items() if not one.is_archived),
        missing=sorted(set(features) - set(found)),
    )
