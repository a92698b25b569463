from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import Model, at_most


class Maintenance(Model):
    """Its one row exists while maintenance mode is on. ``by``: the name of who began it."""

    __tablename__ = "maintenance"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, default=1)
    since: Mapped[datetime] = mapped_column(default=utcnow)
    by: Mapped[str] = mapped_column(String(255))

    __table_args__ = (sa.CheckConstraint("id = 1", name="one_row"), at_most("by", 255))
