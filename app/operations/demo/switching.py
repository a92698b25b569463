"""Schedule when the demo's features are switched on: first in development, then further."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

from app.catalogue.projects.queries import needing_approval
from app.catalogue.segments import service as segments
from app.catalogue.strategies import types
from app.core.actor import Actor
from app.core.errors import DomainError
from app.core.permissions import Permission
from app.operations.demo.diary import Diary
from app.releases.switching import service, strategies

DEVELOPMENT, STAGING, PRODUCTION = "development", "staging", "production"
REACHES = {DEVELOPMENT: 0.9, STAGING: 0.75, PRODUCTION: 0.6}
"""Share of features that reach each environment, of those in the environment before."""
WHEN = {DEVELOPMENT: 0.95, STAGING: 0.7, PRODUCTION: 0.45}
"""When they do: the share of a feature's age that is left then."""
RAISED, STOPPED = 0.3, 0.1
"""Share of rollouts that are raised to everyone later, and that are switched off again."""

NORDIC = {"contextName": "country", "operator": "IN", "values": ["NO", "SE", "DK"]}
PAYING = {"contextName": "plan", "operator": "IN", "values": ["plus", "gold"]}
NEW_APP = {"contextName": "appVersion", "operator": "SEMVER_GTE", "value": "5.2.0"}
SPLIT = [("control", 500, "variable"), ("one-step", 300, "fix"), ("one-step-wallet", 200, "fix")]

STRATEGIES: tuple[tuple[str, list[dict[str, Any]], list[str]], ...] = (
    ("100", [], []),
    ("25", [], []),
    ("5", [], []),
    ("50", [NORDIC], []),
    ("100", [], ["Beta testers"]),
    ("100", [PAYING], []),
    ("10", [NEW_APP], ["Nordic customers"]),
    ("0", [], []),
)
"""(Rollout, constraints, segments), chosen at random for production."""


class Switching:
    """Schedules the switching of one project's features.

    ``ages``: how many days ago each is created. Its own random generator leaves other results of
    the demo alone.
    """

    def __init__(self, diary: Diary, project_id: str, ages: Mapping[str, int]) -> None:
        self.diary = diary
        self.project_id = project_id
        self.ages = ages
        self.chance = Random(project_id)  # noqa: S311 - for a demonstration, not a secret

    def schedule(self) -> None:
        for name, age in sorted(self.ages.items()):
            for environment, share in REACHES.items():
                if self.chance.random() > share:
                    break
                days = max(int(age * WHEN[environment]), 1)
                if environment == PRODUCTION:
                    self._to_production(name, days)
                else:
                    self._add(days, partial(self._switch, name, environment, on=True))

    def _to_production(self, name: str, days: int) -> None:
        rollout, constraints, groups = self.chance.choice(STRATEGIES)
        self._add(days, partial(self._give, name, rollout, constraints, groups))
        draw = self.chance.random()
        if draw < RAISED:
            self._add(days // 2, partial(self._raise, name))
        elif draw < RAISED + STOPPED:
            self._add(days // 2, partial(self._switch, name, PRODUCTION, on=False))

    def _give(
        self, name: str, rollout: str, constraints: list[dict[str, Any]], groups: list[str]
    ) -> None:
        actor = self._someone(Permission.CREATE_FEATURE_STRATEGY)
        split = SPLIT if name.endswith("ab-test") else []
        fields: dict[str, Any] = {
            "parameters": {"rollout": rollout, "stickiness": "userId"},
            "constraints": [
                {"inverted": False, "caseInsensitive": False, **each} for each in constraints
            ],
            "segments": [segments.named(actor, group).id for group in groups],
            "variants": [
                {"name": each, "weight": weight, "weightType": kind, "stickiness": "userId"}
                for each, weight, kind in split
            ],
        }
        strategies.add(actor, self.project_id, name, PRODUCTION, name=types.ROLLOUT, **fields)
        self._switch(name, PRODUCTION, on=True)

    def _raise(self, name: str) -> None:
        if needing_approval(self.project_id, [PRODUCTION]):
            return
        actor = self._someone(Permission.UPDATE_FEATURE_STRATEGY)
        [first, *_] = strategies.state(actor, self.project_id, name, PRODUCTION).strategies
        found = strategies.get_for_change(actor, self.project_id, name, PRODUCTION, first.id)
        strategies.update(actor, self.project_id, found, parameters={"rollout": "100"})

    def _switch(self, name: str, environment: str, *, on: bool) -> None:
        """The guard can’t refuse it: to other transactions, the project doesn’t exist yet."""
        if needing_approval(self.project_id, [environment]):
            return
        actor = self._someone(Permission.UPDATE_FEATURE_ENVIRONMENT)
        service.switch(actor, self.project_id, environment, [name], on=on)

    def _add(self, days: int, act: Callable[[], object]) -> None:
        self.diary.add(max(days, 1), partial(self._if_possible, act), self.chance)

    def _if_possible(self, act: Callable[[], object]) -> None:
        """Perform the act, unless the feature is archived by then."""
        with suppress(DomainError, ValueError):
            act()

    def _someone(self, permission: Permission) -> Actor:
        return self.diary.someone(permission, self.project_id, chance=self.chance)
