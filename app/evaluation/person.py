"""A person to evaluate features for, as a context of the engine. Random values are drawn once."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from app.core.clock import in_text, utcnow

PREDEFINED = ("userId", "sessionId", "remoteAddress", "environment", "appName", "currentTime")
"""Fields that are not in ``properties``."""
BY_DEFAULT = "/default"
RANDOM = "/random"
OR_RANDOM = "/or-random "
"""Made-up fields for what is random, see ``sticky``. No context field can have such a name."""


def sticky(stickiness: str) -> str:
    """Return the field to use as stickiness of a rollout, so that the engine draws nothing itself.

    It would draw again for each question, so an answer and its reasons could disagree.
    """
    return {"default": BY_DEFAULT, "random": RANDOM}.get(stickiness, stickiness)


def sticky_variant(stickiness: str) -> str:
    """Return the field to use as stickiness of a variant.

    Unlike a rollout, a variant is also random if the context lacks the field.
    """
    return {"default": BY_DEFAULT, "random": RANDOM}.get(stickiness, OR_RANDOM + stickiness)


@dataclass(frozen=True, eq=False)
class Person:
    """``given``: values by the name of the field. The default of ``currentTime`` is now.

    ``sticky_by``: the stickiness of variants of the features in question. ``chance``: drawn once,
    for all that is random.
    """

    given: Mapping[str, str]
    sticky_by: frozenset[str] = frozenset()
    chance: str = field(default_factory=lambda: str(random.getrandbits(40)))

    @cached_property
    def values(self) -> Mapping[str, str]:
        """The given values, with a time that is the same for all questions."""
        return {"currentTime": in_text(utcnow())} | dict(self.given)

    @property
    def is_anonymous(self) -> bool:
        """Whether rollouts without another stickiness are random."""
        return "userId" not in self.given and "sessionId" not in self.given

    def is_random(self, stickiness: str) -> bool:
        return stickiness == "random" or (stickiness == "default" and self.is_anonymous)

    @cached_property
    def as_json(self) -> bytes:
        values = self.values
        own = {name: value for name, value in values.items() if name not in PREDEFINED}
        made = {
            BY_DEFAULT: values.get("userId") or values.get("sessionId") or self.chance,
            RANDOM: self.chance,
        } | {OR_RANDOM + name: values.get(name, self.chance) for name in self.sticky_by}
        found: dict[str, Any] = {name: values[name] for name in PREDEFINED if name in values}
        return json.dumps(found | {"properties": own | made}).encode()
