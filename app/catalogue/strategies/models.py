from datetime import datetime
from typing import Any, NamedTuple, NotRequired, TypedDict
from uuid import uuid4

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.catalogue.constraints.models import Constraint
from app.catalogue.segments.models import Segment
from app.core.clock import utcnow
from app.core.db import Model, at_most

MAX_STRATEGIES = 30
"""For each feature and environment."""


AS_STRATEGY = ""
"""Stickiness of a variant that takes over its strategy's; replaced before it is stored."""


class Payload(TypedDict):
    type: str
    value: str


class Variant(TypedDict):
    """A version of a feature. ``weight``: share of 1,000, to which those of a strategy add up."""

    name: str
    weight: int
    weightType: str
    stickiness: str
    payload: NotRequired[Payload]


class Override(TypedDict):
    """People who always get a variant."""

    contextName: str
    values: list[str]


class FeatureVariant(Variant):
    """A variant for all strategies of a feature in an environment, as older instances have them."""

    overrides: NotRequired[list[Override]]


class FeatureState(Model):
    """Whether a feature is on in an environment. Without a row it is off, without variants.

    ``changed_at``: when this, the variants or a strategy last changed.
    """

    __tablename__ = "feature_states"

    feature_id: Mapped[int] = mapped_column(
        ForeignKey("features.id"), primary_key=True, autoincrement=False
    )
    environment: Mapped[str] = mapped_column(
        ForeignKey("environments.name"), primary_key=True, index=True
    )
    enabled: Mapped[bool] = mapped_column(default=False)
    variants: Mapped[list[FeatureVariant]] = mapped_column(JSON(none_as_null=True))
    changed_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = ({"sqlite_with_rowid": False},)


class CustomParameter(TypedDict):
    """A parameter of a type that people created; ``type``: one of ``types.CHECKS``."""

    name: str
    type: str
    description: str
    required: bool


class StrategyType(Model):
    """A custom type of strategy. Only applications that implement it know what it does."""

    __tablename__ = "strategy_types"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    description: Mapped[str | None] = mapped_column(String(255))
    parameters: Mapped[list[CustomParameter]] = mapped_column(JSON(none_as_null=True))
    deprecated: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = (at_most("name", 100), at_most("description", 255))

    recorded = ("name", "description", "parameters", "deprecated")


class StrategySegment(Model):
    """A segment that a strategy uses."""

    __tablename__ = "strategy_segments"

    strategy_id: Mapped[str] = mapped_column(ForeignKey("strategies.id"), primary_key=True)
    segment_id: Mapped[int] = mapped_column(
        ForeignKey("segments.id"), primary_key=True, autoincrement=False, index=True
    )

    __table_args__ = ({"sqlite_with_rowid": False},)


class Strategy(Model):
    """Who gets a feature in an environment. Several strategies are joined by “or”.

    One with ``project_id`` belongs to no feature: the project's features get it in the environment
    when they are switched on without a strategy of their own. ``parameters`` are texts by name, as
    SDKs read them. A disabled strategy never reaches SDKs.
    """

    __tablename__ = "strategies"

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=lambda: str(uuid4()))
    feature_id: Mapped[int | None] = mapped_column(ForeignKey("features.id"))
    project_id: Mapped[str | None] = mapped_column(ForeignKey("projects.id"))
    environment: Mapped[str] = mapped_column(ForeignKey("environments.name"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    title: Mapped[str | None] = mapped_column(String(255))
    disabled: Mapped[bool] = mapped_column(default=False)
    sort_order: Mapped[int]
    parameters: Mapped[dict[str, Any]]
    constraints: Mapped[list[Constraint]] = mapped_column(JSON(none_as_null=True))
    variants: Mapped[list[Variant]] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    segments: Mapped[list[Segment]] = relationship(
        secondary="strategy_segments", order_by=Segment.id, lazy="selectin"
    )

    __table_args__ = (
        CheckConstraint("(feature_id IS NULL) <> (project_id IS NULL)", name="one_owner"),
        UniqueConstraint("project_id", "environment"),
        Index(None, "feature_id", "environment", "sort_order"),
        at_most("name", 100),
        at_most("title", 255),
    )

    def snapshot(self) -> dict[str, Any]:
        """The strategy as the event log records it."""
        return {
            "id": self.id,
            "environment": self.environment,
            "name": self.name,
            "title": self.title,
            "disabled": self.disabled,
            "sortOrder": self.sort_order,
            "parameters": self.parameters,
            "constraints": self.constraints,
            "segments": [segment.id for segment in self.segments],
            "variants": self.variants,
        }


class Copy(NamedTuple):
    """A copy of the strategy ``like`` with other values in these fields; see ``queries.insert``.

    Thousands are created at once, and each takes a tenth of the time that a ``Strategy`` takes.
    """

    like: Strategy
    id: str
    feature_id: int
    sort_order: int
    parameters: dict[str, str]

    def snapshot(self) -> dict[str, Any]:
        """The strategy as the event log records it."""
        own = {"id": self.id, "sortOrder": self.sort_order, "parameters": self.parameters}
        return self.like.snapshot() | own
