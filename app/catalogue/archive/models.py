from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.catalogue.features.models import ParentRule
from app.core.db import Model


class ArchivedDependency(ParentRule, Model):
    """A dependency that archiving deleted, so that reviving can restore it."""

    __tablename__ = "archived_dependencies"

    child_id: Mapped[int] = mapped_column(
        ForeignKey("features.id"), primary_key=True, autoincrement=False
    )
    parent_id: Mapped[int] = mapped_column(ForeignKey("features.id"), index=True)
