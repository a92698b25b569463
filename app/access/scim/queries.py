"""Filters of SCIM as conditions of the database, where they are simple enough."""

from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from scim2_models.path.expressions import (
    CompareOperator,
    Comparison,
    FilterNode,
    LogicalExpr,
    LogicalOperator,
)

Condition = sa.ColumnElement[bool]
Conditions = Mapping[str, Callable[[Any], Condition]]
"""What ``eq`` means, by the name of the attribute in lower case."""


def condition(node: FilterNode, known: Conditions) -> Condition | None:
    """The filter as a condition; None if only looking at each resource can decide."""
    match node:
        case Comparison(op=CompareOperator.eq):
            return _compared(node, known)
        case LogicalExpr():
            terms = [condition(term, known) for term in node.terms]
            found = [term for term in terms if term is not None]
            if len(found) < len(terms):
                return None
            joined = sa.and_ if node.op is LogicalOperator.and_ else sa.or_
            return joined(*found)
    return None


def _compared(node: Comparison, known: Conditions) -> Condition | None:
    path = node.attr_path
    name = f"{path.attr}.{path.sub_attr}" if path.sub_attr else path.attr
    compare = known.get(name.casefold())
    return None if compare is None or not isinstance(node.value, str) else compare(node.value)
