"""Reads features of several environments at once, with fields that SDKs don't get."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.catalogue.features.delivered import FEATURES, SEGMENTS, DeliveredRows
from app.catalogue.features.models import Dependency, Feature
from app.catalogue.features.queries import PARENTS
from app.catalogue.projects.models import Project, ProjectEnvironment
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.queries import SEGMENTS_USED, STRATEGIES
from app.core.actor import Actor
from app.core.db import rows
from app.evaluation.facts import FeatureFacts, SegmentFacts


class Place(NamedTuple):
    """A feature in an environment."""

    environment: str
    feature: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``projects``: ids by the name of the feature, in the order of names."""

    projects: Mapping[str, str]
    features: Mapping[Place, FeatureFacts]
    segments: Mapping[int, SegmentFacts]


def read(
    actor: Actor, environments: Collection[str], projects: Collection[str] | None = None
) -> Snapshot:
    """Read all features that the actor can see, or those of ``projects``, in five statements."""
    active = Feature.archived_at.is_(None)
    chosen = sa.select(Feature.id).join(Project).where(active, Project.visible_to(actor))
    if projects is not None:
        chosen = chosen.where(Project.id.in_(projects))
    used = Strategy.environment.in_(environments), Strategy.feature_id.in_(chosen)
    found = DeliveredRows(
        rows(
            FEATURES.where(ProjectEnvironment.environment.in_(environments), Feature.id.in_(chosen))
        ),
        rows(STRATEGIES.where(*used)),
        rows(SEGMENTS_USED.where(*used)),
        rows(SEGMENTS),
        rows(PARENTS.where(Dependency.child_id.in_(chosen))),
    )
    return Snapshot(
        {row.name: row.project_id for row in found.features},
        {
            Place(row.environment, row.name): FeatureFacts(
                row.name,
                bool(row.enabled),
                [_strategy(each, found.segment_ids(each)) for each in found.strategies(row)],
                row.variants or (),
                found.dependencies(row),
            )
            for row in found.features
        },
        {id: SegmentFacts(*row) for id, row in found.segments.items()},
    )


def project_of(actor: Actor, feature: str) -> str | None:
    """Return the project of an active feature; None if the actor can't see such a feature."""
    query = sa.select(Feature.project_id).join(Project, Project.id == Feature.project_id)
    active = (Feature.archived_at.is_(None), Project.archived_at.is_(None))
    found = rows(query.where(Feature.name == feature, *active, Project.visible_to(actor)))
    return found[0].project_id if found else None


def _strategy(row: Any, segments: Sequence[int]) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "title": row.title,
        "disabled": row.disabled,
        "parameters": row.parameters,
        "constraints": row.constraints,
        "segments": segments,
        "variants": row.variants,
    }
