"""Reading which features have which tags."""

import sqlalchemy as sa

from app.catalogue.tags.models import FeatureTag
from app.core.actor import Actor
from app.core.visibility import can_see, projects

# The model is in app/catalogue/features, an area above.
_features = sa.table("features", sa.column("id"), sa.column("project_id"))


def visible_uses(actor: Actor) -> sa.FromClause:
    """Pairs of (feature_id, tag_id) for the features that the actor can see."""
    if actor.is_admin:
        return sa.alias(FeatureTag.__table__, "uses")
    return (
        sa.select(FeatureTag.feature_id, FeatureTag.tag_id)
        .join(_features, _features.c.id == FeatureTag.feature_id)
        .join(projects, projects.c.id == _features.c.project_id)
        .where(can_see(actor, projects.c.id, projects.c.mode))
        .subquery("uses")
    )
