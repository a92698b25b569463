"""Reading which features have which tags."""

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Project
from app.catalogue.tags.models import FeatureTag, Tag
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


def use_count(actor: Actor) -> sa.ColumnElement[int]:
    """How many features that the actor can see have the tag, active or archived: a column ``used``.

    Counted by tag, so a page of tags costs what its own tags cost.
    """
    uses = visible_uses(actor)
    count = sa.select(sa.func.count()).where(uses.c.tag_id == Tag.id)
    return count.scalar_subquery().label("used")
