"""Constraints as text on the command line: ``country IN NO,SE``."""

from collections.abc import Sequence
from typing import Any

import click

from app.catalogue.constraints.operators import Operator

INVERTED = "not "

constraint_option = click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="TEXT",
    help="A condition like 'country IN NO,SE' or 'not appVersion SEMVER_LT 5.2.0'. Give the option "
    "once for each; all of them replace the old ones.",
)


def read(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Parse constraints into the form that the API accepts."""
    return [_read(text.strip()) for text in texts]


def _read(text: str) -> dict[str, Any]:
    field, operator, values = (*text.removeprefix(INVERTED).split(maxsplit=2), "", "", "")[:3]
    if operator not in set(Operator) or not values:
        operators = ", ".join(Operator)
        raise click.BadParameter(
            f"{text!r} is not FIELD OPERATOR VALUES. The operators are {operators}.",
            param_hint="--constraint",
        )
    several = [value.strip() for value in values.split(",")]
    return {
        "contextName": field,
        "operator": operator,
        "inverted": text.startswith(INVERTED),
        **({"values": several} if Operator(operator).takes_list else {"value": values}),
    }
