"""Change requests of the demo, in every state, so that there is something to decide."""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import islice
from random import Random
from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.constraints.models import Constraint
from app.catalogue.features.models import Feature
from app.catalogue.strategies import queries as strategies
from app.core.actor import Actor
from app.core.db import db
from app.core.errors import DomainError
from app.core.permissions import Permission
from app.operations.demo.diary import Colleague, Diary
from app.releases.change_requests import applying, editing, outcomes, review, service
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import Action, ChangeRequest, State
from app.releases.switching import strategies as switching

PRODUCTION = "production"
LOW = {"5", "10", "25", "50"}
AT = 7
"""The hour of the day for scheduled change requests."""


class Plan(NamedTuple):
    """A change request.

    ``begins``: days ago. ``approvals``: how many are given. ``raises``: new percentages, each for
    the rollout of a feature; ``switches``: how many features it switches on. ``ends``: its last
    state. ``said``: comment of the first approval or the rejection. ``is_overtaken``: whether an
    Admin changes the features directly before it is applied.
    """

    project_id: str
    begins: int
    title: str
    why: str
    approvals: int = 0
    raises: tuple[str, ...] = ()
    switches: int = 0
    ends: State = State.IN_REVIEW
    said: str = ""
    is_overtaken: bool = False


PLANS = (
    Plan(
        "checkout",
        19,
        "More customers after the test week",
        "No errors in the test week, and support had no questions.",
        approvals=2,
        raises=("60",),
        switches=1,
        ends=State.APPLIED,
        said="Support has the texts since Thursday. Fine from our side.",
    ),
    Plan(
        "checkout",
        14,
        "Switch on four features for the season",
        "Marketing asked for all of them at once.",
        switches=4,
        ends=State.REJECTED,
        said="Four at once is too many to watch. Please propose them one by one.",
    ),
    Plan(
        "checkout",
        8,
        "Raise the rollout to 80%",
        "The error rate stayed under 0.1% at the present share.",
        approvals=1,
        raises=("80",),
        switches=1,
        said="Looked at the dashboards with support. Fine from our side.",
    ),
    Plan(
        "checkout",
        9,
        "Next step of the rollout",
        "",
        approvals=1,
        raises=("45",),
        is_overtaken=True,
    ),
    Plan(
        "payments",
        7,
        "Open it to more shops",
        "Finance has closed the month.",
        approvals=3,
        raises=("70",),
    ),
    Plan(
        "mobile-app",
        6,
        "Turn on what the new release needs",
        "The release is in both stores since Monday.",
        approvals=1,
        switches=2,
        ends=State.SCHEDULED,
    ),
    Plan("warehouse", 5, "Almost all of the staff", "", raises=("90",)),
)
DRAFT = Plan("checkout", 2, "A smaller share for now", "", raises=("15",), ends=State.DRAFT)


class ChangeRequests:
    """Schedules the steps of all plans. Its own random generator leaves other results alone."""

    def __init__(self, diary: Diary) -> None:
        self.diary = diary
        self.chance = Random("change requests")  # noqa: S311 - for a demonstration, not a secret
        self.taken: set[str] = set()

    def schedule(self) -> None:
        for plan in PLANS:
            _History(self, plan).schedule()
        _History(self, DRAFT, self.diary.people[0]).schedule()


class _History:
    """The steps of one change request."""

    def __init__(self, all: ChangeRequests, plan: Plan, author: Colleague | None = None) -> None:
        self.all, self.plan, self.diary = all, plan, all.diary
        self.author = author
        self.id: int | None = None
        self.asked: list[Colleague] = []
        self.ends = self.diary.now

    def schedule(self) -> None:
        steps: list[Callable[[], object]] = [self._propose]
        if self.plan.ends is not State.DRAFT:
            steps.append(self._send)
        steps += [partial(self._approve, number) for number in range(self.plan.approvals)]
        if self.plan.is_overtaken:
            steps.append(self._overtake)
        ends = {
            State.APPLIED: self._apply,
            State.REJECTED: self._reject,
            State.SCHEDULED: self._schedule,
        }
        if end := ends.get(self.plan.ends):
            steps.append(end)
        self.ends = self.diary.now - timedelta(days=max(self.plan.begins - len(steps), 0))
        for day, step in enumerate(steps):
            days = max(self.plan.begins - day, 1)
            self.diary.add(days, partial(self._if_possible, step), self.all.chance)

    def _if_possible(self, step: Callable[[], object]) -> None:
        """Do the step, unless its features are archived by then or its author has left."""
        with suppress(DomainError):
            step()

    def _propose(self) -> None:
        self.author = self.author or self._someone()
        actor, place = self.author.act(), (self.plan.project_id, PRODUCTION)
        proposals = [*self._raises(), *self._switches()]
        request = editing.propose(actor, *place, proposals)
        self.id = request.id
        service.describe(actor, request, title=self.plan.title, description=self.plan.why or None)

    def _send(self) -> None:
        review.send(*self._by(self.author))

    def _approve(self, number: int) -> None:
        said = self.plan.said if number == 0 else None
        review.approve(*self._by(self._someone()), said or None)

    def _apply(self) -> None:
        applying.apply(*self._by(self.author))

    def _reject(self) -> None:
        review.reject(*self._by(self._someone()), self.plan.said)

    def _schedule(self) -> None:
        at = (self.diary.now + timedelta(days=4)).replace(
            hour=AT, minute=0, second=0, microsecond=0
        )
        review.schedule(*self._by(self.author), at)

    def _overtake(self) -> None:
        """Let an Admin change the strategies directly that the request changes."""
        actor = self.diary.people[0].act("The shop was too slow abroad")
        at_home = Constraint(
            contextName="country",
            operator="IN",
            values=["NO"],
            inverted=False,
            caseInsensitive=False,
        )
        for change in self._request(actor).changes:
            found = switching.get_for_change(
                actor, self.plan.project_id, change.subject, PRODUCTION, change.payload["id"]
            )
            switching.update(actor, self.plan.project_id, found, constraints=[at_home])
        outcomes.refresh(self._request(actor))

    def _by(self, person: Colleague | None) -> tuple[Actor, ChangeRequest]:
        actor = (person or self._someone()).act()
        return actor, self._request(actor)

    def _request(self, actor: Actor) -> ChangeRequest:
        return service.get_for_change(actor, self.plan.project_id, self.id or 0)

    def _someone(self) -> Colleague:
        """A member who stays until the end and has done no step yet; else the first Admin."""
        project, may = self.plan.project_id, Permission.APPROVE_CHANGE_REQUEST
        there = [p for p in self.diary.people if p.is_there and project in p.project_roles]
        able = [p for p in there if p.actor.may(may, project) and p not in self.asked]
        staying = [p for p in able if p.until and p.until > self.ends]
        chosen = self.all.chance.choice(staying or self.diary.people[:1])
        self.asked.append(chosen)
        return chosen

    def _raises(self) -> list[Proposal]:
        """Proposals to raise low rollouts of features with one strategy."""
        found = {
            name: state.strategies[0].id
            for name, state in self._states()
            if state.enabled
            and len(state.strategies) == 1
            and state.strategies[0].parameters.get("rollout") in LOW
        }
        return [
            Proposal(
                name, Action.UPDATE_STRATEGY, {"id": found[name], "parameters": {"rollout": share}}
            )
            for share, name in zip(self.plan.raises, self._take(found), strict=False)
        ]

    def _switches(self) -> list[Proposal]:
        """Proposals to switch on features that are off."""
        found = [name for name, state in self._states() if not state.enabled]
        chosen = islice(self._take(found), self.plan.switches)
        return [Proposal(name, Action.UPDATE_ENABLED, {"enabled": True}) for name in chosen]

    def _take(self, names: Collection[str]) -> Iterator[str]:
        """Names in random order, each for one request only."""
        for name in self.all.chance.sample(sorted(names), len(names)):
            if name not in self.all.taken:
                self.all.taken.add(name)
                yield name

    def _states(self) -> list[tuple[str, strategies.EnvironmentState]]:
        """The active features of the project, with their states in production."""
        query = sa.select(Feature.id, Feature.name).where(
            Feature.project_id == self.plan.project_id, Feature.archived_at.is_(None)
        )
        names: dict[int, str] = dict(db.session.execute(query).all())
        found = strategies.states([(id, self.plan.project_id) for id in names])
        return [
            (names[id], place)
            for id, places in found.items()
            for place in places
            if place.name == PRODUCTION
        ]
