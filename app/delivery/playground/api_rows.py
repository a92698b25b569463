"""Answers as JSON, without schemas: for thousands of answers, those would take seconds."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import url_for

from app.delivery.playground.queries import Place
from app.delivery.playground.schemas import ALL, GivenContext
from app.delivery.playground.service import Asked, Playground
from app.evaluation.explain import NO_VARIANT
from app.evaluation.facts import ConstraintReason, Explanation, StrategyReason
from app.evaluation.person import PREDEFINED
from app.web.extended import are_wanted

UNKNOWN = "unknown"
COMPLETE = "complete"


def result(
    given: GivenContext, asked: Mapping[str, Any], features: Sequence[Any], *, warns: bool
) -> dict[str, Any]:
    """``warns``: Unleash has warnings in the answers about several environments only."""
    found = {"input": dict(asked) | {"context": given.sent}, "features": features}
    return found | {"warnings": {"invalidContextProperties": given.invalid}} if warns else found


def projects(asked: Sequence[str] | None) -> Sequence[str]:
    return ALL if asked is None else asked


def context(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the context as SDKs have it: custom fields are in ``properties``."""
    found: dict[str, Any] = {name: values[name] for name in PREDEFINED if name in values}
    own = {name: value for name, value in values.items() if name not in PREDEFINED}
    return found | {"properties": own} if own else found


def answer(playground: Playground, asked: Asked, explanation: Explanation) -> dict[str, Any]:
    outcome, feature = explanation.answer, playground.features[asked.place]
    project_id = playground.projects[asked.place.feature]
    matching = next((reason for reason in explanation.strategies if reason.result), None)
    return {
        "name": asked.place.feature,
        "projectId": project_id,
        "isEnabled": outcome.is_on,
        "isEnabledInCurrentEnvironment": outcome.is_enabled,
        "hasUnsatisfiedDependency": outcome.parent is not None and not outcome.parent.is_met,
        "variant": _variant(outcome.variant, outcome.payload),
        "variants": (matching and matching.strategy["variants"]) or feature.variants,
        "strategies": {
            "result": UNKNOWN if explanation.result is None else explanation.result,
            "data": [
                _strategy(reason, asked.place, project_id) for reason in explanation.strategies
            ],
        },
    }


def _strategy(reason: StrategyReason, place: Place, project_id: str) -> dict[str, Any]:
    strategy = reason.strategy
    edit = url_for(
        "strategy_pages.show",
        project_id=project_id,
        name=place.feature,
        environment=place.environment,
        strategy=strategy["id"],
    )
    outcome: dict[str, Any] = {
        "enabled": UNKNOWN if reason.result is None else reason.result,
        "evaluationStatus": _status(reason),
    }
    if outcome["evaluationStatus"] == COMPLETE:
        variant = _variant(reason.variant, reason.payload) if reason.result else None
        outcome |= {"variant": variant}
    if are_wanted():
        outcome |= {"fallsAt": reason.falls_at, "random": reason.is_random}
    return {
        "name": strategy["name"],
        "id": strategy["id"],
        "title": strategy["title"] or "",
        "disabled": strategy["disabled"],
        "parameters": strategy["parameters"],
        "result": outcome,
        "constraints": [_constraint(part) for part in reason.constraints],
        "segments": [
            {
                "id": part.segment.id,
                "name": part.segment.name,
                "result": part.is_met,
                "constraints": [_constraint(one) for one in part.constraints],
            }
            for part in reason.segments
        ],
        "links": {"edit": edit},
    }


def _status(reason: StrategyReason) -> str:
    if reason.is_paused:
        return "unevaluated"
    return COMPLETE if reason.is_known else "incomplete"


def _constraint(reason: ConstraintReason) -> dict[str, Any]:
    found = dict(reason.constraint) | {"result": reason.is_met}
    return found | {"contextValue": reason.value} if are_wanted() else found


def _variant(name: str, payload: Mapping[str, str] | None) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "enabled": name != NO_VARIANT}
    return found if payload is None else found | {"payload": payload}
