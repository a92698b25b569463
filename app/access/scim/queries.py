"""SCIM filters as SQL conditions, if they are simple enough."""

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
"""The SQL condition for ``eq``, by the name of the attribute in lower case."""


def condition(node: FilterNode, known: Conditions) -> Condition | None:
    """The filter as an SQL condition; None if it must be applied to each resource in Python."""
    match node:
        case Comparison(op=CompareOperator.eq, value=str(value), attr_path=path):
            name = f"{path.attr}.{path.sub_attr}" if path.sub_attr else path.attr
            compare = known.get(name.casefold())
            return None if compare is None else compare(value)
        case LogicalExpr():
            terms = [condition(term, known) for term in node.terms]
            conditions = [term for term in terms if term is not None]
            if len(conditions) < len(terms):
                return None
            joined = sa.and_ if node.op is LogicalOperator.and_ else sa.or_
            return joined(*conditions)
    return None
