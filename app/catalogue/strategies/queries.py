"""Reading and setting the states of features, and reading their strategies."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from typing import NamedTuple, Self

import sqlalchemy as sa

from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Approval, ProjectEnvironment
from app.catalogue.strategies.models import (
    Copy,
    FeatureState,
    FeatureVariant,
    Strategy,
    StrategySegment,
)
from app.catalogue.usage import queries as usage
from app.catalogue.usage.queries import NEVER, PlaceUse
from app.core.clock import utcnow
from app.core.columns import UtcDateTime
from app.core.db import any_of, chunks, db, insert_all, once
from app.core.errors import NotFound
from app.core.statements import OnList


@dataclass(frozen=True, slots=True)
class ProjectUse:
    """An environment that a project uses; ``required_approvals``: 0 if changes need none."""

    name: str
    type: EnvironmentType
    sort_order: int
    required_approvals: int


@dataclass(frozen=True, slots=True)
class EnvironmentState:
    """A feature in one of its project's environments."""

    environment: ProjectUse
    enabled: bool
    strategies: list[Strategy] = field(default_factory=list)
    variants: list[FeatureVariant] = field(default_factory=list)
    use: PlaceUse = NEVER
    step: "StepNow | None" = None
    """Set only where it is shown; see ``catalogue.features.searching``."""

    @property
    def name(self) -> str:
        return self.environment.name

    @property
    def variant_count(self) -> int:
        """Of the strategies and of those that they share."""
        return len(self.variants) + sum(len(strategy.variants) for strategy in self.strategies)

    @property
    def has_active_strategies(self) -> bool:
        return any(not strategy.disabled for strategy in self.strategies)


class StepNow(NamedTuple):
    """The present step of the release under way; ``place``: from 0, ``of``: how many there are."""

    name: str
    place: int
    of: int


@dataclass(frozen=True, slots=True)
class FeatureInPlace(EnvironmentState):
    """The state with the name of its feature."""

    feature_name: str = ""

    @classmethod
    def of(cls, feature_name: str, state: EnvironmentState) -> Self:
        values = {each.name: getattr(state, each.name) for each in dataclass_fields(state)}
        return cls(**values, feature_name=feature_name)


STRATEGIES = (
    sa.select(
        Strategy.feature_id,
        Strategy.environment,
        Strategy.id,
        Strategy.name,
        Strategy.title,
        Strategy.disabled,
        Strategy.parameters,
        Strategy.constraints,
        Strategy.variants,
    )
    .where(Strategy.feature_id.is_not(None))
    .order_by(Strategy.feature_id, Strategy.environment, Strategy.sort_order, Strategy.id)
)
"""Strategies of features, in their order."""
SEGMENTS_USED = (
    sa.select(StrategySegment.strategy_id, StrategySegment.segment_id)
    .join(Strategy, Strategy.id == StrategySegment.strategy_id)
    .order_by(StrategySegment.segment_id)
)
"""Ids of the segments that strategies use."""

_environments = OnList(
    lambda is_among: (
        sa.select(
            ProjectEnvironment.project_id,
            Environment.name,
            Environment.type,
            Environment.sort_order,
            sa.func.coalesce(Approval.required_approvals, 0),
        )
        .join(Environment, Environment.name == ProjectEnvironment.environment)
        .outerjoin(
            Approval,
            sa.and_(
                Approval.project_id == ProjectEnvironment.project_id,
                Approval.environment == ProjectEnvironment.environment,
            ),
        )
        .where(is_among(ProjectEnvironment.project_id))
        .order_by(Environment.sort_order, Environment.name)
    )
)
_on = OnList(
    lambda is_among: sa.select(FeatureState.feature_id, FeatureState.environment).where(
        FeatureState.enabled, is_among(FeatureState.feature_id)
    )
)
_count = OnList(lambda is_among: sa.select(sa.func.count()).where(is_among(Strategy.feature_id)))
_states = OnList(
    lambda is_among: sa.select(
        FeatureState.feature_id,
        FeatureState.environment,
        FeatureState.enabled,
        FeatureState.variants,
    ).where(is_among(FeatureState.feature_id))
)
_with_strategy = OnList(
    lambda is_among: (
        sa.select(Strategy.feature_id)
        .distinct()
        .where(
            is_among(Strategy.feature_id),
            Strategy.environment == sa.bindparam("in_environment"),
            ~Strategy.disabled,
        )
    )
)
_add = OnList(
    lambda is_among: sa.insert(FeatureState).from_select(
        ["feature_id", "environment", "enabled", "variants", "changed_at"],
        sa.select(
            Feature.id,
            sa.bindparam("in_environment", type_=sa.String),
            sa.bindparam("is_enabled", type_=sa.Boolean),
            sa.literal([], sa.JSON),
            sa.bindparam("at", type_=UtcDateTime),
        ).where(
            is_among(Feature.id),
            ~sa.exists().where(
                FeatureState.feature_id == Feature.id,
                FeatureState.environment == sa.bindparam("in_environment", type_=sa.String),
            ),
        ),
    )
)
_numbers = OnList(
    lambda is_among: (
        sa.select(Strategy.feature_id, sa.func.count())
        .where(
            is_among(Strategy.feature_id),
            Strategy.environment == sa.bindparam("in_environment"),
        )
        .group_by(Strategy.feature_id)
    )
)
_set = OnList(
    lambda is_among: (
        sa.update(FeatureState)
        .where(
            is_among(FeatureState.feature_id),
            FeatureState.environment == sa.bindparam("in_environment"),
            FeatureState.enabled != sa.bindparam("is_enabled", type_=sa.Boolean),
        )
        .values(enabled=sa.bindparam("is_enabled"), changed_at=sa.bindparam("at"))
    )
)
_note_change = (
    sa.update(FeatureState)
    .where(
        FeatureState.feature_id == sa.bindparam("id"),
        FeatureState.environment.in_(any_of("in_environments")),
    )
    .values(changed_at=sa.bindparam("at"))
)


def not_used(project_id: str, environment: str) -> NotFound:
    return NotFound(f"Project {project_id} does not use an environment named {environment}.")


def environments_of(project_ids: Collection[str]) -> dict[str, list[ProjectUse]]:
    """The environments of each project, in their order."""
    found: defaultdict[str, list[ProjectUse]] = defaultdict(list)
    rows = once(("environments", frozenset(project_ids)), lambda: _environments.run([*project_ids]))
    for project_id, *use in rows:
        found[project_id].append(ProjectUse(*use))
    return found


def stored_states(ids: Collection[int]) -> Sequence[tuple[int, str, bool, list[FeatureVariant]]]:
    """(feature id, environment, enabled, variants) where a feature has been changed."""
    return _states.run(ids)


def states(features: Collection[tuple[int, str]]) -> dict[int, list[EnvironmentState]]:
    """States in all environments by feature id. ``features``: pairs of (id, project id)."""
    ids = [id for id, _ in features]
    environments = environments_of({project_id for _, project_id in features})
    stored = {(id, name): (enabled, variants) for id, name, enabled, variants in stored_states(ids)}
    by_place: defaultdict[tuple[int | None, str], list[Strategy]] = defaultdict(list)
    for chunk in chunks(ids):
        query = sa.select(Strategy).where(Strategy.feature_id.in_(chunk))
        for strategy in db.session.scalars(query.order_by(Strategy.sort_order, Strategy.id)):
            by_place[strategy.feature_id, strategy.environment].append(strategy)
    uses = usage.by_place(ids)
    return {
        id: [
            EnvironmentState(
                place,
                enabled,
                by_place[id, place.name],
                variants,
                uses.get((id, place.name), NEVER),
            )
            for place in environments.get(project_id, ())
            for enabled, variants in [stored.get((id, place.name), (False, []))]
        ]
        for id, project_id in features
    }


def on_in(environment: str, ids: Collection[int]) -> set[int]:
    """Ids among these of features that are on in the environment."""
    return {id for id, name in _on.run(ids) if name == environment}


def guarded_where_on(project_id: str, ids: Collection[int]) -> dict[str, set[int]]:
    """Ids among these of features that are on, by environment that needs approvals."""
    on: defaultdict[str, set[int]] = defaultdict(set)
    for id, name in _on.run(ids):
        on[name].add(id)
    uses = environments_of([project_id]).get(project_id, [])
    return {use.name: on[use.name] for use in uses if use.required_approvals and use.name in on}


def with_strategy(environment: str, ids: Collection[int]) -> set[int]:
    """Ids among these of features with an active strategy in the environment."""
    return {id for (id,) in _with_strategy.run(ids, in_environment=environment)}


def numbers_in(environment: str, ids: Collection[int]) -> dict[int, int]:
    """Number of strategies by feature id, disabled ones included; no zeros."""
    return dict(_numbers.run(ids, in_environment=environment))


def count(ids: Collection[int]) -> int:
    """How many strategies the features have, in all environments."""
    [[number]] = _count.run(ids)
    return int(number)


def strategies_in(environment: str, ids: Collection[int]) -> dict[int | None, list[Strategy]]:
    """Strategies by feature id in their order, disabled ones included."""
    found: defaultdict[int | None, list[Strategy]] = defaultdict(list)
    for chunk in chunks(ids):
        query = (
            sa.select(Strategy)
            .where(Strategy.feature_id.in_(chunk), Strategy.environment == environment)
            .order_by(Strategy.sort_order, Strategy.id)
            .execution_options(populate_existing=True)
        )
        for strategy in db.session.scalars(query):
            found[strategy.feature_id].append(strategy)
    return found


def default_in(project_id: str, environment: str) -> Strategy | None:
    """The project's default strategy, for features switched on without one of their own."""
    query = sa.select(Strategy).where(
        Strategy.project_id == project_id, Strategy.environment == environment
    )
    return db.session.scalar(query.execution_options(populate_existing=True))


def insert(copies: Sequence[Copy]) -> None:
    """Insert strategies in bulk, past the ORM, with the segments that they use."""
    now, columns = utcnow(), Strategy.__mapper__.column_attrs.keys()
    rows = [
        {name: getattr(copy.like, name) for name in columns}
        | {"id": copy.id, "feature_id": copy.feature_id, "project_id": None, "created_at": now}
        | {"sort_order": copy.sort_order, "parameters": copy.parameters}
        for copy in copies
    ]
    insert_all(rows, Strategy)
    links = [
        {"strategy_id": copy.id, "segment_id": segment.id}
        for copy in copies
        for segment in copy.like.segments
    ]
    insert_all(links, StrategySegment)


def set_states(environment: str, ids: Collection[int], *, enabled: bool) -> None:
    """Switch features on or off; the caller has locked them."""
    if not ids:
        return
    _ensure_states(environment, ids, enabled=enabled)
    _set.run(ids, in_environment=environment, is_enabled=enabled, at=utcnow())


def set_variants(environment: str, id: int, variants: list[FeatureVariant]) -> None:
    """Replace the variants that a feature's strategies share; the caller has locked it."""
    _ensure_states(environment, [id], enabled=False)
    state = db.session.get_one(FeatureState, (id, environment), populate_existing=True)
    state.variants, state.changed_at = variants, utcnow()
    db.session.flush()


def note_change(environments: Collection[str], id: int) -> None:
    """Set the time of the last change in these environments, where the feature has a state."""
    given = {"in_environments": list(environments), "id": id, "at": utcnow()}
    db.session.connection().execute(_note_change, given)


def switch_off_everywhere(ids: Collection[int]) -> None:
    for chunk in chunks(ids):
        on = FeatureState.feature_id.in_(chunk), FeatureState.enabled
        off = sa.update(FeatureState).where(*on).values(enabled=False, changed_at=utcnow())
        db.session.execute(off)


def _ensure_states(environment: str, ids: Collection[int], *, enabled: bool) -> None:
    """Insert a state without variants for each feature that has none in the environment."""
    _add.run(ids, in_environment=environment, is_enabled=enabled, at=utcnow())
