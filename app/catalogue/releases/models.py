from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NotRequired, TypedDict
from uuid import uuid4

from sqlalchemy import JSON, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.catalogue.constraints.models import Constraint
from app.catalogue.strategies.models import Variant
from app.core.clock import from_text, utcnow
from app.core.columns import enum_of
from app.core.db import Model, at_most

MAX_STEPS = 30
"""Of a template or a release."""
MAX_WAIT = 366 * 24 * 60
"""Longest waiting time of a step, in minutes."""
MAX_NAME = 100
MAX_DESCRIPTION = 255
MAX_REASON = 1_000


class StepStrategy(TypedDict):
    """A strategy of a step; ``segments``: their ids."""

    id: str
    name: str
    title: str | None
    disabled: bool
    parameters: dict[str, str]
    constraints: list[Constraint]
    segments: list[int]
    variants: list[Variant]


class Step(TypedDict):
    """A step: the strategies that the feature has then, and when the next one can start.

    ``seconds``: how long the next step waits at least, None: until someone starts it. ``by_hand``:
    whether someone starts it after that. ``target``: the id of the next step, if some between are
    left out. Times are texts of ``clock.in_text``. ``executed_at``: when the next step started by
    itself. ``batch``: of the events of its start.
    """

    id: str
    name: str
    strategies: list[StepStrategy]
    seconds: int | None
    by_hand: bool
    target: NotRequired[str | None]
    started_at: NotRequired[str]
    started_by: NotRequired[str]
    started_by_id: NotRequired[int | None]
    is_automatic: NotRequired[bool]
    batch: NotRequired[str]
    ended_at: NotRequired[str]
    executed_at: NotRequired[str]


class Hold(TypedDict):
    """``until``: missing while it lasts."""

    since: str
    by: str
    by_id: int | None
    reason: str | None
    until: NotRequired[str]


class ReleaseTemplate(Model):
    """A release without a feature. With ``project_id``, only that project can use it."""

    __tablename__ = "release_templates"

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=lambda: str(uuid4()))
    name: Mapped[str] = mapped_column(String(MAX_NAME), unique=True)
    description: Mapped[str | None] = mapped_column(String(MAX_DESCRIPTION))
    project_id: Mapped[str | None] = mapped_column(ForeignKey("projects.id"), index=True)
    steps: Mapped[list[Step]] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))

    __table_args__ = (at_most("name", MAX_NAME), at_most("description", MAX_DESCRIPTION))

    def snapshot(self) -> dict[str, Any]:
        """The template as the event log records it."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "project": self.project_id,
            "milestones": recorded_steps(self.steps),
        }


class ReleaseState(StrEnum):
    DRAFT = "draft"
    RUNNING = "running"
    HELD = "held"
    DONE = "done"
    STOPPED = "stopped"
    LEFT = "left"


MOVING = (ReleaseState.RUNNING, ReleaseState.HELD)
"""States in which the feature’s strategies belong to the release."""
OPEN = (ReleaseState.DRAFT, *MOVING)
"""A feature has at most one open release in an environment."""


class Release(Model):
    """Takes a feature in one environment through steps.

    ``template``: the name of the template that it was started from. ``position``: of the present
    step, from 0; None before the first. ``next_at``: when the next step can start; None: at any
    time, or never. ``is_automatic``: whether it starts by itself then. ``restores``: whether
    stopping brings back ``former``, the strategies of before; if not, the feature goes off.
    ``warrant``: who gets the feature at each step as people approved it, by the id of the step, and
    before it by FORMER; None where the environment needed no approval. ``request_id``: the change
    request in which they approved it.
    """

    __tablename__ = "releases"

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=lambda: str(uuid4()))
    feature_id: Mapped[int] = mapped_column(ForeignKey("features.id"))
    environment: Mapped[str] = mapped_column(ForeignKey("environments.name"), index=True)
    template_id: Mapped[str | None] = mapped_column(String(36), index=True)
    template: Mapped[str | None] = mapped_column(String(MAX_NAME))
    name: Mapped[str] = mapped_column(String(MAX_NAME))
    description: Mapped[str | None] = mapped_column(String(MAX_DESCRIPTION))
    state: Mapped[ReleaseState] = mapped_column(enum_of(ReleaseState), default=ReleaseState.DRAFT)
    steps: Mapped[list[Step]] = mapped_column(JSON(none_as_null=True))
    position: Mapped[int | None]
    next_at: Mapped[datetime | None]
    is_automatic: Mapped[bool] = mapped_column(default=False)
    restores: Mapped[bool] = mapped_column(default=False)
    former: Mapped[list[StepStrategy]] = mapped_column(JSON(none_as_null=True), default=list)
    was_on: Mapped[bool] = mapped_column(default=False)
    warrant: Mapped[dict[str, Any] | None]
    request_id: Mapped[int | None]
    holds: Mapped[list[Hold]] = mapped_column(JSON(none_as_null=True), default=list)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    created_by: Mapped[str] = mapped_column(String(255))
    created_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    started_by: Mapped[str | None] = mapped_column(String(255))
    started_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    ended_at: Mapped[datetime | None]
    ended_by: Mapped[str | None] = mapped_column(String(255))
    ended_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    reason: Mapped[str | None] = mapped_column(Text)
    """Why it was stopped."""

    __table_args__ = (
        Index(
            "uq_releases_open",
            "feature_id",
            "environment",
            unique=True,
            sqlite_where=text("ended_at IS NULL"),
            postgresql_where=text("ended_at IS NULL"),
        ),
        Index(None, "is_automatic", "next_at"),
        Index(None, "state", "ended_at"),
        at_most("name", MAX_NAME),
        at_most("description", MAX_DESCRIPTION),
    )

    @property
    def step(self) -> Step | None:
        """The present step."""
        return None if self.position is None else self.steps[self.position]

    @property
    def next_position(self) -> int | None:
        """Where the next step is; None after the last one."""
        return 0 if self.position is None else self.after(self.position)

    def after(self, position: int) -> int | None:
        """Where the step is that follows another one; None after the last one."""
        target = self.steps[position].get("target")
        places = {step["id"]: place for place, step in enumerate(self.steps)}
        found = places.get(target or "", position + 1)
        return found if found < len(self.steps) else None

    @property
    def hold(self) -> Hold | None:
        """The present hold."""
        return self.holds[-1] if self.state is ReleaseState.HELD else None

    @property
    def started_at(self) -> datetime | None:
        """When its first step started."""
        times = [started for step in self.steps if (started := step.get("started_at"))]
        return from_text(times[0]) if times else None

    def snapshot(self) -> dict[str, Any]:
        """The release as the event log records it."""
        return {
            "id": self.id,
            "name": self.name,
            "environment": self.environment,
            "template": self.template,
            "state": self.state.value,
            "restores": self.restores,
            "milestones": recorded_steps(self.steps),
        }


FORMER = "former"


def recorded_steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Steps as the event log records them."""
    return [
        {
            "id": step["id"],
            "name": step["name"],
            "strategies": step["strategies"],
            "seconds": step["seconds"],
            "byHand": step["by_hand"],
        }
        for step in steps
    ]
