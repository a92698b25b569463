"""Finds what the result of a feature depends on, in the state that SDKs get."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = Mapping[str, Any]

RANDOM = "random"
"""Stickiness that is random whatever the context says."""
DEFAULT = "default"
"""Stickiness to the user, else to the session, else random."""
DEFAULT_FIELDS = ("userId", "sessionId")
FIELDS_OF = {
    "userWithId": ("userId",),
    "remoteAddress": ("remoteAddress",),
    "gradualRolloutUserId": ("userId",),
    "gradualRolloutSessionId": ("sessionId",),
}
NO_ONE, EVERYONE = "0", "100"


@dataclass(slots=True)
class Reading:
    """What the result of a feature depends on: fields of the context, and dates.

    ``random_without``: the fields without which the result can be another one each time. The
    session is among them if a feature looks at it, since a context without one gets a new one each
    time. ``has_targets``: values of the context decide. ``has_shares``: percentages decide.
    """

    fields: set[str] = field(default_factory=set)
    random_without: set[str] = field(default_factory=set)
    dates: set[datetime] = field(default_factory=set)
    has_targets: bool = False
    has_shares: bool = False

    @property
    def is_fixed(self) -> bool:
        """Whether the result is the same for every context, at any time."""
        return not (self.fields or self.random_without)

    @classmethod
    def of(cls, feature: Json, segments: Mapping[int, Json]) -> "Reading":
        """Read what a feature looks at, without its parents."""
        reading = cls()
        for strategy in feature.get("strategies") or ():
            reading._add_strategy(strategy)
            reading._add_constraints(strategy.get("constraints") or ())
            for id in strategy.get("segments") or ():
                reading._add_constraints(segments.get(id, {}).get("constraints") or ())
        variants = list(feature.get("variants") or ())
        own = variants[0].get("stickiness") if variants else None
        reading._add_variants(variants, own or DEFAULT)
        return reading

    def include(self, parent: "Reading") -> None:
        """Add what a parent looks at, since the result depends on it too."""
        self.fields |= parent.fields
        self.random_without |= parent.random_without
        self.dates |= parent.dates
        self.has_targets = True

    def _add_strategy(self, strategy: Json) -> None:
        name, parameters = strategy["name"], strategy.get("parameters") or {}
        stickiness = parameters.get("stickiness") or DEFAULT
        if name == "flexibleRollout":
            self._add_rollout(str(parameters.get("rollout")), stickiness)
        elif name == "gradualRolloutRandom":
            self.random_without.add(RANDOM)
            self.has_shares = True
        elif name != "default":
            self._look_at(*FIELDS_OF.get(name, ()))
            self.has_targets = True
        self._add_variants(strategy.get("variants") or (), stickiness)

    def _add_rollout(self, rollout: str, stickiness: str) -> None:
        if rollout == NO_ONE:
            self.has_targets = True
        elif stickiness not in {DEFAULT, RANDOM}:
            self._look_at(stickiness)  # without a value it is off, not random
            self.has_shares = True
        elif rollout != EVERYONE:
            self._stick_to(stickiness)
            self.has_shares = True

    def _add_variants(self, variants: Iterable[Json], otherwise: str) -> None:
        found = list(variants)
        for variant in found:
            for override in variant.get("overrides") or ():
                self._look_at(override["contextName"])
                self.has_targets = True
        if len(found) > 1:
            self._stick_to(found[0].get("stickiness") or otherwise)
            self._stick_to(otherwise)  # the engine uses the strategy's, whatever variants say
            self.has_shares = True

    def _add_constraints(self, constraints: Iterable[Json]) -> None:
        for constraint in constraints:
            self.has_targets = True
            self._look_at(constraint["contextName"])
            if constraint["operator"].startswith("DATE_"):
                self._look_at("currentTime")
                self._add_date(constraint.get("value"))

    def _add_date(self, value: Any) -> None:
        try:
            at = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            self.random_without.add(RANDOM)  # unknown when it changes, so it is never cached
        else:
            self.dates.add(at if at.tzinfo else at.replace(tzinfo=UTC))

    def _look_at(self, *names: str) -> None:
        self.fields.update(names)
        self.random_without.update({"sessionId"}.intersection(names))

    def _stick_to(self, stickiness: str) -> None:
        self.random_without.add(stickiness)
        if stickiness == DEFAULT:
            self.fields.update(DEFAULT_FIELDS)
        elif stickiness != RANDOM:
            self.fields.add(stickiness)
