from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model
from app.core.permissions import Role


class AccessReview(Model):
    """A review of the access to a project, as it was signed off. It never changes."""

    __tablename__ = "access_reviews"

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    signed_off_at: Mapped[datetime] = mapped_column(default=utcnow)
    signed_off_by: Mapped[str] = mapped_column(String(255))
    signed_off_by_id: Mapped[int | None]
    comment: Mapped[str | None] = mapped_column(Text)

    entries: Mapped[list["AccessReviewEntry"]] = relationship(
        order_by="(AccessReviewEntry.role, AccessReviewEntry.account_id)", lazy="selectin"
    )

    __table_args__ = (Index(None, "project_id", "id"), NEVER_REUSE_IDS)

    @property
    def kept(self) -> int:
        return sum(entry.kept for entry in self.entries)

    @property
    def removed(self) -> int:
        return len(self.entries) - self.kept


class AccessReviewEntry(Model):
    """The decision about a member. It outlives the account, so it has text and no foreign key."""

    __tablename__ = "access_review_entries"

    review_id: Mapped[int] = mapped_column(ForeignKey("access_reviews.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    username: Mapped[str] = mapped_column(String(255))
    name: Mapped[str | None] = mapped_column(String(255))
    role: Mapped[Role]
    source: Mapped[str] = mapped_column(Text)
    last_active_at: Mapped[datetime | None]
    kept: Mapped[bool]

    @property
    def called(self) -> str:
        return self.name or self.username
