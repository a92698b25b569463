from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Model


class Visit(Model):
    """When a person last opened a project or a feature; only the latest of each person are kept.

    ``feature_id``: 0 for the project itself, because a part of a primary key can't be NULL.
    """

    __tablename__ = "visits"

    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    feature_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime]

    __table_args__ = ({"sqlite_with_rowid": False},)
