"""Where context fields are used: in the constraints and the stickiness of strategies."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.core.db import db
from app.core.words import counted

COMPARE_WITH_PARTS = ("STR_", "REGEX", "IN_CIDR")
"""The beginnings of operators that compare with a part of a value, or a pattern."""

# Looked through here. The model is in app/strategies, a layer above.
_strategies = sa.table(
    "strategies",
    sa.column("feature_id"),
    sa.column("parameters", sa.JSON),
    sa.column("constraints", sa.JSON),
    sa.column("variants", sa.JSON),
)


@dataclass(frozen=True, slots=True)
class Uses:
    """``values``: how many strategies compare the field with each value as a whole."""

    strategies: int
    features: int
    sticky: int
    values: Counter[str]

    @property
    def obstacle(self) -> str:
        """Why the field cannot be deleted, and what to do about it; empty if it can."""
        if not self.strategies:
            return ""
        uses = counted(self.strategies, "strategy uses", "strategies use")
        features = counted(self.features, "feature")
        return f"{uses} it, in {features}. Remove it from them first."


def of(name: str) -> Uses:
    """The uses of a field, also in archived features and disabled strategies."""
    features: set[int] = set()
    values: Counter[str] = Counter()
    strategies = sticky = 0
    for feature_id, parameters, constraints, variants in _mentions(name):
        own = [each for each in constraints if each["contextName"] == name]
        is_sticky = name in _sticky_by(parameters, variants)
        if not own and not is_sticky:
            continue
        strategies += 1
        sticky += is_sticky
        features.add(feature_id)
        whole = [c for c in own if not c["operator"].startswith(COMPARE_WITH_PARTS)]
        values.update({value for each in whole for value in _values(each)})
    return Uses(strategies, len(features), sticky, values)


def _mentions(name: str) -> Iterator[Any]:
    """The strategies whose texts have the name somewhere."""
    quoted = f'"{name}"'
    has_name = [
        sa.cast(column, sa.Text).contains(quoted, autoescape=True)
        for column in _strategies.c
        if column.name != "feature_id"
    ]
    query = sa.select(
        _strategies.c.feature_id,
        _strategies.c.parameters,
        _strategies.c.constraints,
        _strategies.c.variants,
    )
    yield from db.session.execute(query.where(sa.or_(*has_name)))


def _sticky_by(parameters: dict[str, str], variants: list[dict[str, Any]]) -> set[str]:
    return {parameters.get("stickiness", "")} | {each["stickiness"] for each in variants}


def _values(constraint: dict[str, Any]) -> list[str]:
    found: list[str] = constraint.get("values") or [constraint.get("value", "")]
    return found
