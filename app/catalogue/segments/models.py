from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.catalogue.constraints.models import Constraint
from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most


class Segment(Model):
    """A group of people that many strategies can use: everyone who meets all its constraints.

    With ``project_id`` only strategies of this project can use it.
    """

    __tablename__ = "segments"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    description: Mapped[str | None] = mapped_column(String(255))
    project_id: Mapped[str | None] = mapped_column(ForeignKey("projects.id"), index=True)
    constraints: Mapped[list[Constraint]] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = (at_most("name", 100), at_most("description", 255), NEVER_REUSE_IDS)

    def snapshot(self) -> dict[str, Any]:
        """The segment as the event log records it."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "project": self.project_id,
            "constraints": self.constraints,
        }
