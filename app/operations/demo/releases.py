"""Releases of the demo: under way, on hold, waiting for someone, done and stopped."""

from functools import partial
from typing import NamedTuple

from app.catalogue.features import service as features
from app.catalogue.releases import queries
from app.core.actor import Actor
from app.core.permissions import Permission
from app.operations.demo.diary import Diary
from app.releases.plans import acts, service
from app.releases.templates import service as templates
from app.releases.templates.steps import NewStep, Transition

PROJECT, PRODUCTION = "catalogue", "production"
DAY = 24 * 60


class Plan(NamedTuple):
    """A release of a new feature.

    ``begins``: days ago. ``steps``: how many are started, a day each. ``ends``: what happens a day
    after the last of them. ``by_hand``: whether someone starts each step.
    """

    feature: str
    about: str
    begins: int
    steps: int
    ends: str = ""
    reason: str | None = None
    by_hand: bool = False


PLANS = (
    Plan("catalogue.search-synonyms", "Finds trousers when someone looks for pants", 3, 3),
    Plan("catalogue.size-advice", "Suggests a size from former orders", 5, 3, "hold", "Sales week"),
    Plan("catalogue.video-previews", "Plays a short film of a product", 4, 2, by_hand=True),
    Plan("catalogue.typo-tolerance", "Finds words with one wrong letter", 6, 2, "stop", "No hits"),
    Plan("catalogue.gift-filter", "Shows what can be wrapped", 9, 4, by_hand=True),
)


class Releases:
    """Schedules the steps of all plans."""

    def __init__(self, diary: Diary) -> None:
        self.diary = diary

    def schedule(self) -> None:
        self.diary.add(12, self._template)
        for plan in PLANS:
            self.diary.add(plan.begins + 1, partial(self._create, plan))
            self.diary.add(plan.begins, partial(self._start, plan))
            for number in range(1, plan.steps):
                self.diary.add(plan.begins - number, partial(self._next, plan))
            if plan.ends:
                self.diary.add(max(plan.begins - plan.steps, 1), partial(self._end, plan))

    def _template(self) -> None:
        steps = [_step(share, by_hand=True) for share in (10, 50, 100)]
        actor = self.diary.people[0].act()
        templates.create(actor, name="By hand", milestones=steps, project=PROJECT)

    def _create(self, plan: Plan) -> None:
        actor = self._someone(Permission.CREATE_FEATURE)
        features.create(actor, PROJECT, name=plan.feature, description=plan.about)

    def _start(self, plan: Plan) -> None:
        steps = [_step(share, by_hand=plan.by_hand) for share in (5, 25, 50, 100)]
        service.create(
            self._someone(), PROJECT, plan.feature, PRODUCTION, start=True, milestones=steps
        )

    def _next(self, plan: Plan) -> None:
        found = self._release(plan)
        if plan.by_hand:
            acts.start(self._someone(), found)
        else:
            acts.start_by_itself(found)

    def _end(self, plan: Plan) -> None:
        act = {"hold": acts.hold, "stop": acts.stop}[plan.ends]
        act(self._someone(), self._release(plan), plan.reason)

    def _release(self, plan: Plan) -> queries.Located:
        actor = self.diary.people[0].actor
        feature = features.find(PROJECT, plan.feature)
        release = queries.of_feature(feature.id)[PRODUCTION]
        return service.get(actor, PROJECT, plan.feature, PRODUCTION, release.id, for_change=True)

    def _someone(self, permission: Permission = Permission.UPDATE_FEATURE_ENVIRONMENT) -> Actor:
        return self.diary.someone(permission, PROJECT)


def _step(share: int, *, by_hand: bool) -> NewStep:
    step = NewStep(
        name="Everyone" if share == 100 else f"{share}%",  # noqa: PLR2004 - all of them
        strategies=[{"name": "flexibleRollout", "parameters": {"rollout": str(share)}}],
    )
    if share < 100:  # noqa: PLR2004 - as above
        days = 7 if share == 50 and not by_hand else 1  # noqa: PLR2004 - so that one waits now
        step["transition_condition"] = Transition(interval_minutes=days * DAY, manual=by_hand)
    return step
