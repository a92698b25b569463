from datetime import datetime
from typing import Any, NotRequired, TypedDict
from uuid import uuid4

from sqlalchemy import JSON, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.constraints.models import Constraint
from app.core.clock import utcnow
from app.core.db import Model, at_most

MAX_STRATEGIES = 30
"""Of one feature in one environment."""


class Payload(TypedDict):
    type: str
    value: str


class Variant(TypedDict):
    """One of several versions. ``weight``: of 1,000; all weights of a strategy add up to that."""

    name: str
    weight: int
    weightType: str
    stickiness: str
    payload: NotRequired[Payload]


class FeatureState(Model):
    """Whether a feature is on in an environment. Without a row it is off."""

    __tablename__ = "feature_states"

    feature_id: Mapped[int] = mapped_column(
        ForeignKey("features.id"), primary_key=True, autoincrement=False
    )
    environment: Mapped[str] = mapped_column(
        ForeignKey("environments.name"), primary_key=True, index=True
    )
    enabled: Mapped[bool]

    __table_args__ = ({"sqlite_with_rowid": False},)


class Strategy(Model):
    """Who gets a feature in an environment. Several strategies are joined by “or”.

    ``parameters`` are texts by name, as SDKs read them. A disabled strategy never reaches SDKs.
    """

    __tablename__ = "strategies"

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=lambda: str(uuid4()))
    feature_id: Mapped[int] = mapped_column(ForeignKey("features.id"))
    environment: Mapped[str] = mapped_column(ForeignKey("environments.name"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    title: Mapped[str | None] = mapped_column(String(255))
    disabled: Mapped[bool] = mapped_column(default=False)
    sort_order: Mapped[int]
    parameters: Mapped[dict[str, Any]]
    constraints: Mapped[list[Constraint]] = mapped_column(JSON(none_as_null=True))
    variants: Mapped[list[Variant]] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = (
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
            "variants": self.variants,
        }
