from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Model


class NoticesRead(Model):
    """The latest event that someone has marked as read, with all before it."""

    __tablename__ = "notices_read"

    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    at: Mapped[datetime]
    event_id: Mapped[int]
    """Without a foreign key: old events can be removed from the log."""
