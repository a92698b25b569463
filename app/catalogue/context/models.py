from datetime import datetime
from typing import TypedDict

from sqlalchemy import JSON, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import Model, at_most

MAX_ORDER = 9_999
MAX_LEGAL_VALUES = 250
MAX_VALUE = 100
"""Characters in one value of a context field."""

BUILT_IN = frozenset(
    {"appName", "currentTime", "environment", "remoteAddress", "sessionId", "userId"}
)
"""Fields that every SDK sends by itself, so they always exist."""


class LegalValue(TypedDict):
    """One of the values that a field may have, and what it means."""

    value: str
    description: str | None


class ContextField(Model):
    """A value that applications send with a request, such as the country of the user.

    Without ``legal_values`` any value is allowed. ``stickiness``: whether it stays the same for one
    person, so that rollouts can use it.
    """

    __tablename__ = "context_fields"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    description: Mapped[str | None] = mapped_column(String(255))
    stickiness: Mapped[bool] = mapped_column(default=False)
    sort_order: Mapped[int] = mapped_column(default=0)
    legal_values: Mapped[list[LegalValue]] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = (at_most("name", 100), at_most("description", 255))

    @property
    def is_built_in(self) -> bool:
        return self.name in BUILT_IN

    @property
    def values(self) -> list[str]:
        """The legal values without their descriptions."""
        return [legal["value"] for legal in self.legal_values]

    recorded = ("name", "description", "stickiness", "sort_order", "legal_values")
