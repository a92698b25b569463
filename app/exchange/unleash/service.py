"""Exports features in one environment, with everything that an Unleash needs to import them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.constraints.operators import Operator
from app.catalogue.context import service as context
from app.catalogue.context.models import ContextField
from app.catalogue.environments import service as environments
from app.catalogue.features.models import Feature
from app.catalogue.features.queries import FeatureView, Link, ParentLink, rows, views
from app.catalogue.projects.queries import visible_projects
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import FeatureVariant, Strategy
from app.catalogue.strategies.queries import EnvironmentState
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import FeatureTag, Tag, TagName, TagType
from app.core.actor import Actor
from app.core.db import chunks, db
from app.core.errors import Invalid
from app.core.words import spoken

CHUNK = 500
NAMED = 5
"""How many unknown names an error lists."""
KNOWN_THERE = ("default", "flexibleRollout", "remoteAddress", "applicationHostname")
"""Types of strategy that every Unleash 8 has."""
_SHARE = "Use flexibleRollout with the same share and group, and with stickiness {}, instead."
_REMEDIES = {
    Operator.IN_CIDR: "Use a strategy remoteAddress instead: its addresses can be networks.",
    "userWithId": "Use flexibleRollout with a constraint on userId instead.",
    "gradualRolloutUserId": _SHARE.format("userId"),
    "gradualRolloutSessionId": _SHARE.format("sessionId"),
    "gradualRolloutRandom": _SHARE.format("random"),
}


class InEnvironment(NamedTuple):
    """A feature with its state in the environment; None if its project doesn’t use that."""

    view: FeatureView
    state: EnvironmentState | None


class FeatureStrategy(NamedTuple):
    feature: str
    strategy: Strategy


class FeatureEnvironment(NamedTuple):
    feature: str
    environment: str
    enabled: bool
    variants: list[FeatureVariant]


class Tagged(NamedTuple):
    feature: str
    tag: TagName


class Dependent(NamedTuple):
    feature: str
    parents: list[ParentLink]


class Linked(NamedTuple):
    feature: str
    links: list[Link]


class Refused(NamedTuple):
    """A type of strategy, or an operator, for which Unleash 8 refuses the export of features."""

    environment: str
    what: str
    features: list[str]

    def say(self, most: int | None = None) -> str:
        """A sentence with what to do. ``most``: how many features to name; None for all."""
        names = spoken(self.features, most or len(self.features))
        remedy = _REMEDIES.get(self.what, "Create this strategy type in Unleash first.")
        return f"In {self.environment}, {self.what} of {names}. {remedy}"


@dataclass(frozen=True, slots=True)
class Export:
    """Features in one environment, sorted by name, and what they refer to."""

    found: list[InEnvironment]
    context_fields: list[ContextField]
    tag_types: list[TagType]

    @property
    def features(self) -> list[Feature]:
        return [view.feature for view, _ in self.found]

    @property
    def strategies(self) -> list[FeatureStrategy]:
        return [
            FeatureStrategy(view.feature.name, strategy)
            for view, state in self.found
            if state is not None
            for strategy in state.strategies
        ]

    @property
    def states(self) -> list[FeatureEnvironment]:
        return [
            FeatureEnvironment(view.feature.name, state.name, state.enabled, state.variants)
            for view, state in self.found
            if state is not None
        ]

    @property
    def feature_tags(self) -> list[Tagged]:
        return [Tagged(view.feature.name, tag) for view, _ in self.found for tag in view.tags]

    @property
    def dependencies(self) -> list[Dependent]:
        return [
            Dependent(view.feature.name, view.dependencies)
            for view, _ in self.found
            if view.dependencies
        ]

    @property
    def links(self) -> list[Linked]:
        return [Linked(view.feature.name, view.links) for view, _ in self.found if view.links]

    @property
    def refused(self) -> list[Refused]:
        return _refused((one.feature, one.strategy) for one in self.strategies)

    @property
    def segments(self) -> list[Segment]:
        used = {segment.id: segment for one in self.strategies for segment in one.strategy.segments}
        return [used[id] for id in sorted(used)]


def export(
    actor: Actor,
    environment: str,
    *,
    names: Collection[str] = (),
    tag: str | None = None,
    project: str | None = None,
) -> Export:
    """Export the active features that the actor can see and that match all filters.

    ``tag``: ``type:value``, or a value of any type. Without any filter: all.

    Raises:
        NotFound: when there is no such environment.
        Invalid: when names are of no active feature that the actor can see.

    """
    environments.get(environment)
    query = rows(visible_projects(actor, project))
    if tag is not None:
        query = query.where(Feature.id.in_(_with_tag(tag)))
    found = sorted(_views(query, names), key=lambda view: view.feature.name)
    _refuse_unknown(names, found)
    placed = [
        InEnvironment(view, next((s for s in view.environments if s.name == environment), None))
        for view in found
    ]
    tag_types = {tag.type for view in found for tag in view.tags}
    return Export(
        placed,
        _context_fields(state for _, state in placed if state is not None),
        [each for each in tags.types() if each.name in tag_types],
    )


def refused(actor: Actor, project: str | None, names: Collection[str]) -> list[Refused]:
    """What Unleash 8 refuses in an export of these features (none: of all), by environment."""
    query = (
        rows(visible_projects(actor, project))
        .join(Strategy, Strategy.feature_id == Feature.id)
        .with_only_columns(Feature.name, Strategy)
        .where(
            sa.or_(
                Strategy.name.not_in(KNOWN_THERE),
                sa.cast(Strategy.constraints, sa.Text).contains(f'"{Operator.IN_CIDR}"'),
            )
        )
    )
    found = db.session.execute(query).all()
    return _refused((name, strategy) for name, strategy in found if not names or name in names)


def _refused(found: Iterable[tuple[str, Strategy]]) -> list[Refused]:
    places: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for feature, strategy in found:
        if strategy.name not in KNOWN_THERE:
            places[strategy.environment, strategy.name][feature] = None
        if any(each["operator"] == Operator.IN_CIDR for each in strategy.constraints):
            places[strategy.environment, Operator.IN_CIDR][feature] = None
    return [Refused(*place, [*places[place]]) for place in sorted(places)]


def file_name(environment: str, project: str | None) -> str:
    return f"features-of-{project or 'all-projects'}-in-{environment}.json"


def _with_tag(text: str) -> sa.Select[int]:
    tag = TagName.read(text)
    query = sa.select(FeatureTag.feature_id).join(Tag).where(Tag.value == tag.value)
    return query.where(Tag.type == tag.type) if ":" in text else query


def _views(query: sa.Select[Feature], names: Collection[str]) -> Iterator[FeatureView]:
    """Views of features, read in chunks: databases limit the parameters of a statement."""
    parts = [query.where(Feature.name.in_(chunk)) for chunk in chunks(set(names), CHUNK)]
    for part in parts if names else [query]:
        for chunk in chunks(db.session.scalars(part).all(), CHUNK):
            yield from views(chunk)


def _refuse_unknown(names: Collection[str], found: list[FeatureView]) -> None:
    unknown = sorted(set(names).difference(view.feature.name for view in found))
    if unknown:
        which = spoken([repr(name) for name in unknown], NAMED)
        raise Invalid.at(
            "/features", f"There is no active feature named {which} that you can see here."
        )


def _context_fields(states: Iterator[EnvironmentState]) -> list[ContextField]:
    """Context fields that constraints, stickiness and overrides refer to."""
    used: set[str] = set()
    for state in states:
        for strategy in state.strategies:
            used |= {each["contextName"] for each in strategy.constraints}
            used.add(strategy.parameters.get("stickiness", ""))
            used |= {variant["stickiness"] for variant in strategy.variants}
        for variant in state.variants:
            used.add(variant["stickiness"])
            used |= {override["contextName"] for override in variant.get("overrides", ())}
    return [field for field in context.list_all() if field.name in used]
