from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import Model


class Favourite(Model):
    """A project or a feature that a person marked as a favourite.

    ``feature_id``: 0 for the project itself, because a part of a primary key can't be NULL.
    """

    __tablename__ = "favourites"

    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    feature_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = ({"sqlite_with_rowid": False},)
