"""What a release will mean before it starts: each step in a sentence, and made-up people."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from datetime import datetime

from app.catalogue.context import service as context
from app.catalogue.releases.queries import Located
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies import types
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.words import together
from app.core.clock import utcnow
from app.releases.plans import views
from app.releases.plans.views import ReleaseView
from app.releases.switching.samples import first_chosen
from app.releases.templates.steps import models

PEOPLE = 3


@dataclass(frozen=True, slots=True)
class ReviewedStep:
    """``due_at``: at the earliest; None if it isn’t known. ``starts``: automatically or by hand."""

    name: str
    says: str
    due_at: datetime | None
    starts: str


@dataclass(frozen=True, slots=True)
class ReviewedPerson:
    """``step``: the first one at which they get the feature, from 1; None: at none."""

    person: str
    step: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Review:
    """``warnings``: sentences on steps that take the feature from people who had it."""

    steps: list[ReviewedStep]
    people: list[ReviewedPerson]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class ReviewedRelease(ReleaseView):
    """A release with its review."""

    review: Review


def of_release(found: Located) -> ReviewedRelease:
    """A release that has been created, with its review."""
    view = views.one(found, starting=utcnow())
    values = {each.name: getattr(view, each.name) for each in dataclass_fields(view)}
    return ReviewedRelease(**values, review=of(view))


def of(view: ReleaseView) -> Review:
    """What its steps will mean, beside what the feature has there now."""
    groups = [step.strategies for step in view.steps]
    steps = [
        ReviewedStep(
            name=step.name,
            says=together(step.strategies),
            due_at=step.due_at or step.started_at,
            starts="by hand" if step.by_hand else "automatically",
        )
        for step in view.steps
    ]
    found = first_chosen(groups, view.feature, context.by_name(), PEOPLE)
    return Review(steps, [ReviewedPerson(*each) for each in found], _warnings(view))


def _warnings(view: ReleaseView) -> list[str]:
    found, before = [], ("what is there now", _present(view))
    for step in view.steps:
        if not all(_covers(step.strategies, each) for each in before[1]):
            found.append(
                f"Step {step.number}, {step.name}, may take the feature from people who have it by "
                f"{before[0]}."
            )
        before = (f"step {step.number}, {step.name}", step.strategies)
    return found


def _present(view: ReleaseView) -> list[Strategy]:
    """The strategies that the feature has before the first step, if it is on."""
    release = view.release
    if release.position is not None:
        return models(release.former, {}) if release.was_on else []
    if release.feature_id not in strategies.on_in(release.environment, [release.feature_id]):
        return []
    present = strategies.strategies_in(release.environment, [release.feature_id])
    return present.get(release.feature_id, [])


def _covers(wider: Sequence[Strategy], narrow: Strategy) -> bool:
    """Whether everyone that a strategy chooses is surely chosen by one of the wider ones."""
    return narrow.disabled or any(_is_wider(each, narrow) for each in wider if not each.disabled)


def _is_wider(one: Strategy, other: Strategy) -> bool:
    segments = {segment.id for segment in other.segments}
    if not all(each in other.constraints for each in one.constraints):
        return False
    if not all(segment.id in segments for segment in one.segments):
        return False
    share, others = (each.parameters.get("rollout") for each in (one, other))
    if one.name == types.EVERYONE or share == str(types.ALL):
        return True
    same = {**one.parameters, "rollout": ""} == {**other.parameters, "rollout": ""}
    return one.name == other.name and same and int(share or 0) >= int(others or 0)
