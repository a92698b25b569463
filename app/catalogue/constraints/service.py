"""Checks of constraints against the context fields that exist."""

from collections.abc import Collection, Mapping, Sequence

from app.catalogue.constraints.models import Constraint, values_of
from app.catalogue.constraints.operators import Operator
from app.catalogue.context import service as context
from app.catalogue.context.models import ContextField
from app.core.errors import Detail, Invalid
from app.core.words import spoken


def check_to_store(constraints: Sequence[Constraint]) -> None:
    """Check a list like ``check``, and lock the context fields until the transaction ends."""
    if constraints:
        _check(constraints, "/constraints", context.by_name(keep=True))


def refuse_unknown_fields(names: Mapping[str, str]) -> None:
    """Refuse names that no context field has. ``names``: by their path in the request."""
    known = context.by_name(keep=True) if names else {}
    problems = [_unknown(path, name) for path, name in names.items() if name not in known]
    if problems:
        raise Invalid.because(problems)


def check(constraint: Constraint) -> None:
    """Refuse a constraint on an unknown field, and values that the field cannot have."""
    _check([constraint], None, context.by_name())


def _check(
    constraints: Sequence[Constraint], path: str | None, fields: Mapping[str, ContextField]
) -> None:
    """``path``: of the list in the request; None if it is a single constraint."""
    problems: list[Detail] = []
    for place, constraint in enumerate(constraints):
        here = f"{path}/{place}" if path else ""
        field = fields.get(constraint["contextName"])
        if field is None:
            problems.append(_unknown(f"{here}/contextName", constraint["contextName"]))
        elif field.legal_values and Operator(constraint["operator"]).compares_whole_values:
            illegal = [value for value in values_of(constraint) if value not in field.values]
            part = "values" if "values" in constraint else "value"
            problems += [
                {
                    "path": f"{here}/{part}",
                    "message": not_legal(field.name, value, field.values),
                }
                for value in illegal
            ]
    if problems:
        raise Invalid.because(problems)


def not_legal(field: str, value: str, legal: Collection[str]) -> str:
    return f"{field} can’t be {value!r}. Choose from: {spoken(legal, 10)}."


def _unknown(path: str, name: str) -> Detail:
    message = f"There is no context field named {name!r}. Create it first."
    return {"path": path, "message": message}
