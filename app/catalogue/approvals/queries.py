"""What the guard asks of either of its connections. Rows of features: (name, project)."""

import sqlalchemy as sa

from app.catalogue.features.models import Dependency, Feature
from app.catalogue.features.queries import Parent
from app.catalogue.projects.models import Approval, Project, ProjectEnvironment
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import Strategy, StrategySegment
from app.core.statements import OnList

_features = sa.select(Feature.name, Feature.project_id)

_is_used = sa.exists().where(
    ProjectEnvironment.project_id == Approval.project_id,
    ProjectEnvironment.environment == Approval.environment,
    Project.archived_at.is_(None),
)

REQUIRED = OnList(
    lambda condition: (
        sa.select(Approval.project_id, Approval.environment, Approval.required_approvals, _is_used)
        .join(Project, Project.id == Approval.project_id)
        .where(condition(Approval.project_id))
    )
)
"""By project."""
NAMED = OnList(lambda condition: _features.where(condition(Feature.name)))
CHILDREN = OnList(
    lambda condition: (
        _features.join(Dependency, Dependency.child_id == Feature.id)
        .join(Parent, Parent.id == Dependency.parent_id)
        .where(condition(Parent.name))
    )
)
"""By the names of their parents."""
USERS = OnList(
    lambda condition: (
        _features.join(Strategy, Strategy.feature_id == Feature.id)
        .join(StrategySegment, StrategySegment.strategy_id == Strategy.id)
        .join(Segment, Segment.id == StrategySegment.segment_id)
        .where(condition(Segment.name))
        .distinct()
    )
)
"""By the names of the segments that their strategies use."""
INSIDE = OnList(
    lambda condition: _features.where(condition(Feature.project_id), Feature.archived_at.is_(None))
)
"""By project."""
