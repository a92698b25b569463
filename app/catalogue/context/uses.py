"""Where context fields are used: in segments, strategies and variants."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import FeatureState, Strategy
from app.core.db import db
from app.core.words import counted

COMPARE_WITH_PARTS = ("STR_", "REGEX", "IN_CIDR")
"""Prefixes of operators that compare with a part of a value, or a pattern."""


@dataclass(frozen=True, slots=True)
class Uses:
    """``values``: how many strategies and segments compare the field with each value as a whole."""

    strategies: int
    features: int
    segments: int
    sticky: int
    values: Counter[str]

    @property
    def obstacle(self) -> str:
        """Why the field cannot be deleted, and what to do about it; empty if it can."""
        uses = []
        if self.strategies:
            of_features = f" of {counted(self.features, 'feature')}" if self.features else ""
            uses.append(counted(self.strategies, "strategy", "strategies") + of_features)
        if self.segments:
            uses.append(counted(self.segments, "segment"))
        if not uses:
            return ""
        verb = "uses" if self.strategies + self.segments == 1 else "use"
        return f"{' and '.join(uses)} {verb} it. Stop using it first."


def of(name: str) -> Uses:
    """The uses of a field, also in archived features and disabled strategies."""
    features: set[int | None] = set()
    values: Counter[str] = Counter()
    strategies = sticky = segments = 0
    for (constraints,) in _with_name(name, Segment.constraints):
        if own := _about(name, constraints):
            segments += 1
            values.update(_whole_values(own))
    for feature_id, parameters, constraints, variants in _mentions(name):
        own = _about(name, constraints)
        is_sticky = name in _sticky_by(parameters, variants)
        if not own and not is_sticky:
            continue
        strategies += 1
        sticky += is_sticky
        features.add(feature_id)
        values.update(_whole_values(own))
    return Uses(strategies, len(features - {None}), segments, sticky, values)


def _mentions(name: str) -> Iterator[Any]:
    """Rows of (feature_id, parameters, constraints, variants) in which the name occurs.

    One for each strategy, and one for the variants that all strategies of a feature share. Their
    overrides count as constraints.
    """
    texts = Strategy.parameters, Strategy.constraints, Strategy.variants
    yield from _with_name(name, *texts, also=[Strategy.feature_id])
    for feature_id, variants in _with_name(
        name, FeatureState.variants, also=[FeatureState.feature_id]
    ):
        overrides = [each for variant in variants for each in variant.get("overrides", ())]
        yield feature_id, {}, [each | {"operator": "IN"} for each in overrides], variants


def _with_name(
    name: str,
    *columns: sa.SQLColumnExpression[Any],
    also: Sequence[sa.SQLColumnExpression[Any]] = (),
) -> Iterator[Any]:
    """Rows in which one of the JSON columns has the name in quotes, whatever it is there."""
    quoted = f'"{name}"'
    has_name = [sa.cast(column, sa.Text).contains(quoted, autoescape=True) for column in columns]
    yield from db.session.execute(sa.select(*also, *columns).where(sa.or_(*has_name)))


def _about(name: str, constraints: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in constraints if each["contextName"] == name]


def _sticky_by(parameters: dict[str, str], variants: list[dict[str, Any]]) -> set[str]:
    return {parameters.get("stickiness", "")} | {each["stickiness"] for each in variants}


def _whole_values(constraints: list[dict[str, Any]]) -> set[str]:
    """Values that constraints compare as a whole."""
    whole = [each for each in constraints if not each["operator"].startswith(COMPARE_WITH_PARTS)]
    return {value for each in whole for value in each.get("values") or [each.get("value", "")]}
