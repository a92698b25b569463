"""Reading which features have which tags."""

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Project
from app.catalogue.tags.models import FeatureTag
from app.core.actor import Actor


def visible_uses(actor: Actor) -> sa.FromClause:
    """Pairs of (feature_id, tag_id) for the features that the actor can see."""
    if actor.is_admin:
        return sa.alias(FeatureTag.__table__, "uses")
    return (
        sa.select(FeatureTag.feature_id, FeatureTag.tag_id)
        .join(Feature, Feature.id == FeatureTag.feature_id)
        .join(Project, Project.id == Feature.project_id)
        .where(Project.visible_to(actor))
        .subquery("uses")
    )
