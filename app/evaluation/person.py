"""Someone who is asked about, as the engine reads it. Their dice are thrown once."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from app.core.clock import in_text, utcnow

PREDEFINED = ("userId", "sessionId", "remoteAddress", "environment", "appName", "currentTime")
"""The fields that are no properties."""
ANYHOW = "/default"
RANDOM = "/random"
OR_RANDOM = "/or-random "
"""Names that no context field can have: what is random goes by them; see ``sticky``."""


def sticky(stickiness: str) -> str:
    """The property that a rollout goes by, where the engine would throw dice for each question.

    They are thrown once for a context, so that an answer and its reasons agree.
    """
    return {"default": ANYHOW, "random": RANDOM}.get(stickiness, stickiness)


def sticky_variant(stickiness: str) -> str:
    """The same for a variant, which is random also if the context lacks the field."""
    return {"default": ANYHOW, "random": RANDOM}.get(stickiness, OR_RANDOM + stickiness)


@dataclass(frozen=True, eq=False)
class Person:
    """``given``: values by the name of the field; without ``currentTime`` it is now.

    ``sticky_by``: the fields that variants of the features in question go by.
    """

    given: Mapping[str, str]
    sticky_by: frozenset[str] = frozenset()
    chance: str = field(default_factory=lambda: str(random.getrandbits(40)))

    @cached_property
    def values(self) -> Mapping[str, str]:
        """With the time, which is the same for all that is asked."""
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
            ANYHOW: values.get("userId") or values.get("sessionId") or self.chance,
            RANDOM: self.chance,
        } | {OR_RANDOM + name: values.get(name, self.chance) for name in self.sticky_by}
        found: dict[str, Any] = {name: values[name] for name in PREDEFINED if name in values}
        return json.dumps(found | {"properties": own | made}).encode()
