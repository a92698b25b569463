"""Composing strategies from type, parameters, constraints, segments and variants, with checks."""

from collections.abc import Mapping
from typing import TypedDict

import sqlalchemy as sa

from app.catalogue.constraints import service as constraints
from app.catalogue.constraints.models import Constraint
from app.catalogue.context import service as context
from app.catalogue.segments import service as segments
from app.catalogue.strategies import queries, types
from app.catalogue.strategies.models import AS_STRATEGY, Strategy, StrategyType, Variant
from app.catalogue.strategies.queries import ProjectUse
from app.catalogue.strategies.types import Parameter
from app.core.db import one_or_none
from app.core.errors import Detail, Invalid


class Fields(TypedDict, total=False):
    """The fields of a strategy. Those left out stay as they are."""

    name: str
    title: str | None
    disabled: bool
    sort_order: int
    parameters: dict[str, str]
    constraints: list[Constraint]
    segments: list[int]
    variants: list[Variant]


def blank() -> Fields:
    """Fields of a new strategy: a rollout to everyone, with default parameters."""
    return Fields(
        name=types.ROLLOUT, title=None, parameters={}, constraints=[], segments=[], variants=[]
    )


def compose(
    strategy: Strategy, fields: Fields, *, project_id: str | None, defaults: Mapping[str, str]
) -> None:
    """Set all of these fields but ``sort_order`` on a strategy of the project, if they are valid.

    ``project_id``: None for one that any project can use.
    ``defaults``: for omitted parameters; they take precedence over those of the type.

    Raises:
        Invalid: with every problem, such as a context field or a segment that does not exist.

    """
    former = strategy.name
    for key in ("name", "title", "disabled", "constraints", "variants"):
        if key in fields:
            setattr(strategy, key, fields[key])
    if "segments" in fields:
        strategy.segments = segments.to_use(project_id, fields["segments"], "/segments")
    if "parameters" in fields or strategy.name != former:
        kept = strategy.parameters if strategy.name == former else {}
        given = kept | fields.get("parameters", {})
        strategy.parameters = _parameters(strategy.name, given, defaults)
    if any(variant["stickiness"] == AS_STRATEGY for variant in strategy.variants):
        own = strategy.parameters.get("stickiness", "default")
        strategy.variants = [  # new dicts: SQLAlchemy doesn't notice changes inside JSON
            variant | {"stickiness": variant["stickiness"] or own} for variant in strategy.variants
        ]
    constraints.check_to_store(strategy.constraints)
    _check_stickiness(strategy)


def project_environment(project_id: str, environment: str) -> ProjectUse:
    """The environment, if the project uses it."""
    uses = queries.environments_of([project_id]).get(project_id, [])
    for use in uses:
        if use.name == environment:
            return use
    raise queries.not_used(project_id, environment)


def refuse_unknown_stickiness(asked: Mapping[str, str]) -> None:
    """Refuse stickiness that no context field allows. ``asked``: by path in the request."""
    if set(asked.values()) <= set(types.ALWAYS_STICKY):
        return
    fields = context.by_name(keep=True).values()
    sticky = {field.name for field in fields if field.stickiness}
    problems: list[Detail] = [
        {
            "path": path,
            "message": f"There is no context field named {name!r} that stickiness can go by.",
        }
        for path, name in asked.items()
        if name not in sticky and name not in types.ALWAYS_STICKY
    ]
    if problems:
        raise Invalid.because(problems)


def _parameters(name: str, given: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    known = known_parameters(name, keep=True)
    if problems := types.problems(name, known, given):
        raise Invalid.because(
            [{"path": f"/parameters/{key}", "message": text} for key, text in problems.items()]
        )
    return types.in_full(known, given, defaults)


def known_parameters(name: str, *, keep: bool = False) -> Mapping[str, Parameter]:
    """The parameters of a type. ``keep``: lock it against changes until the transaction ends."""
    if name in types.TYPES:
        return types.TYPES[name]
    query = sa.select(StrategyType).where(StrategyType.name == name)
    custom = one_or_none(query, "type", name, for_change=keep, read=True, key_share=True)
    if custom is None:
        raise Invalid.at("/name", f"There is no strategy type named {name!r}.")
    return types.of_custom(custom.parameters)


def _check_stickiness(strategy: Strategy) -> None:
    asked = {"/parameters/stickiness": strategy.parameters.get("stickiness", "default")}
    if strategy.name not in types.TYPES:
        asked = {}  # only applications know what a parameter of a custom type means
    refuse_unknown_stickiness(
        asked
        | {
            f"/variants/{place}/stickiness": variant["stickiness"]
            for place, variant in enumerate(strategy.variants)
        }
    )
