"""The acts of the demo's people: each is performed in order, with the clock set to its time."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from functools import cached_property
from itertools import count
from random import Random

from app.core import clock
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.permissions import Permission, Role
from app.operations.upkeep.progress import Progress

OPENS, CLOSES = 7 * 3_600, 18 * 3_600
"""Office hours, in seconds since midnight UTC."""

Act = Callable[[], object]


@dataclass(eq=False)
class Colleague:
    """A person, or a service account with its token, who can act from ``since`` to ``until``.

    ``created``: how many days ago; the id is set then. ``acted`` holds the moment of each act.
    """

    username: str
    role: Role
    created: int
    since: datetime
    until: datetime | None
    ip: str
    name: str | None = None
    id: int | None = None
    token_id: int | None = None
    project_roles: dict[str, Role] = field(default_factory=dict)
    acted: list[datetime] = field(default_factory=list)

    @property
    def is_there(self) -> bool:
        return self.id is not None and self.until is not None and self.since < utcnow() < self.until

    @property
    def account_id(self) -> int:
        return self.actor.account_id

    @property
    def actor(self) -> Actor:
        return Actor(
            id=self.id,
            username=self.username,
            name=self.name,
            role=self.role,
            project_roles=self.project_roles,
            default_is_open=True,
            token_id=self.token_id,
            ip=self.ip,
        )

    def act(self, reason: str | None = None) -> Actor:
        """Note an act at the current time. Return the actor."""
        self.acted.append(utcnow())
        return replace(self.actor, reason=reason)


class Diary:
    """The acts to perform, and the people who perform them."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.people: list[Colleague] = []
        self._acts: list[tuple[datetime, int, Act]] = []
        self._numbers = count()

    @cached_property
    def now(self) -> datetime:
        return utcnow()

    def moment(self, days: int, chance: Random | None = None) -> datetime:
        """A random time in the office hours of so many days ago; 0: in the last 90 minutes."""
        chance = chance or self.chance
        if not days:
            return self.now - timedelta(minutes=chance.randint(1, 90))
        day = datetime.combine(self.now.date() - timedelta(days=days), time(), self.now.tzinfo)
        return day + timedelta(seconds=chance.randrange(OPENS, CLOSES))

    def add(self, days: int, act: Act, chance: Random | None = None) -> None:
        """Schedule an act so many days ago, at least 1. ``chance``: the caller's own generator."""
        self._acts.append((self.moment(days, chance), next(self._numbers), act))

    def perform(self, progress: Progress) -> None:
        with progress("Events", len(self._acts)) as advance:
            for moment, _, act in sorted(self._acts, key=lambda act: act[:2]):
                with clock.at(moment):
                    act()
                advance(1)

    def someone(
        self,
        permission: Permission,
        project: str | None = None,
        reason: str | None = None,
        chance: Random | None = None,
    ) -> Actor:
        """A random person who is there and has the permission; a project member if possible."""
        found = [p for p in self.people if p.is_there and p.actor.may(permission, project)]
        members = [person for person in found if project in person.project_roles]
        return (chance or self.chance).choice(members or found).act(reason)
