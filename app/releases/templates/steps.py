"""Steps as they are stored: complete, and checked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict
from uuid import uuid4

from app.catalogue.releases.models import Step, StepStrategy
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.service import Fields, blank, compose
from app.core.clock import from_text
from app.core.errors import DomainError, Invalid

FEATURE_NAME = "{{featureName}}"
"""What Unleash’s templates have where the feature’s name belongs."""


class Transition(TypedDict):
    """When the next step can start. ``manual``: someone starts it, after that time."""

    interval_minutes: int
    manual: bool


class NewStep(TypedDict):
    """A step as clients send it."""

    name: str
    strategies: list[Fields]
    transition_condition: NotRequired[Transition | None]


def stored(
    steps: Iterable[NewStep],
    *,
    project_id: str | None,
    defaults: Mapping[str, str],
    path: str = "/milestones",
) -> list[Step]:
    """The steps with all fields of their strategies, and new ids.

    ``project_id``: None if any project can use them. ``defaults``: of parameters.

    Raises:
        Invalid: with the step and the strategy, such as of a segment that does not exist.

    """
    found = []
    for place, step in enumerate(steps):
        strategies = []
        for number, fields in enumerate(step["strategies"]):
            try:
                strategies.append(_complete(fields, project_id, defaults))
            except Invalid as error:
                raise error.moved("/", f"{path}/{place}/strategies/{number}/") from None
            except DomainError as error:
                error.message = f"Step {place + 1}, {step['name']}: {error.message}"
                raise
        seconds, by_hand = waiting(step.get("transition_condition"))
        found.append(
            Step(
                id=str(uuid4()),
                name=step["name"],
                strategies=strategies,
                seconds=seconds,
                by_hand=by_hand,
            )
        )
    return found


def waiting(transition: Transition | None) -> tuple[int | None, bool]:
    """How long the next step waits at least, in seconds, and whether someone starts it."""
    if transition is None:
        return None, True
    return transition["interval_minutes"] * 60, transition["manual"]


def of_feature(steps: Sequence[Step], feature: str) -> list[NewStep]:
    """The steps of a template, to start a release of a feature from."""
    return [
        NewStep(
            name=step["name"],
            strategies=[_named(fields(each), feature) for each in step["strategies"]],
            transition_condition=None
            if step["seconds"] is None
            else Transition(interval_minutes=step["seconds"] // 60, manual=step["by_hand"]),
        )
        for step in steps
    ]


def fields(strategy: StepStrategy) -> Fields:
    """The strategy’s fields, to compose one from."""
    return Fields(
        name=strategy["name"],
        title=strategy["title"],
        disabled=strategy["disabled"],
        parameters=strategy["parameters"],
        constraints=strategy["constraints"],
        segments=strategy["segments"],
        variants=strategy["variants"],
    )


def of_model(strategy: Strategy) -> StepStrategy:
    """A strategy as a step stores it."""
    return StepStrategy(
        id=strategy.id,
        name=strategy.name,
        title=strategy.title,
        disabled=strategy.disabled,
        parameters=strategy.parameters,
        constraints=strategy.constraints,
        segments=[segment.id for segment in strategy.segments],
        variants=strategy.variants,
    )


def models(strategies: Sequence[StepStrategy], segments: Mapping[int, Segment]) -> list[Strategy]:
    """The strategies to describe them in sentences; not stored. ``segments``: by id."""
    return [
        Strategy(
            id=each["id"],
            name=each["name"],
            title=each["title"],
            disabled=each["disabled"],
            sort_order=place,
            parameters=each["parameters"],
            constraints=each["constraints"],
            segments=[
                segments.get(id) or Segment(id=id, name=f"{id}, which was deleted", constraints=[])
                for id in each["segments"]
            ],
            variants=each["variants"],
        )
        for place, each in enumerate(strategies)
    ]


def row(step: Step, place: int, owner: str, *, paused_at: str | None = None) -> dict[str, Any]:
    """A step as the API shows it. ``owner``: the id of its template or release."""
    times = (step.get("started_at"), step.get("executed_at"), paused_at)
    started, executed, paused = (from_text(time) if time else None for time in times)
    wait = step["seconds"]
    return {
        "id": step["id"],
        "name": step["name"],
        "sort_order": place,
        "release_plan_definition_id": owner,
        "strategies": [
            {
                **each,
                "strategy_name": each["name"],
                "sort_order": number,
                "milestone_id": step["id"],
            }
            for number, each in enumerate(step["strategies"])
        ],
        "transition_condition": None
        if wait is None
        else {"interval_minutes": wait // 60, "manual": step["by_hand"]},
        "started_at": started,
        "progression_executed_at": executed,
        "paused_at": paused,
    }


def _complete(given: Fields, project_id: str | None, defaults: Mapping[str, str]) -> StepStrategy:
    strategy = Strategy(id=str(uuid4()), name="", disabled=False, parameters={})
    compose(strategy, blank() | given, project_id=project_id, defaults=defaults)
    return of_model(strategy)


def _named(given: Fields, feature: str) -> Fields:
    parameters = {
        key: value.replace(FEATURE_NAME, feature) for key, value in given["parameters"].items()
    }
    return given | {"parameters": parameters}
