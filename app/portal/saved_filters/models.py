from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most
from app.core.quotas import Quota

MAX_NAME = 60


class SavedFilter(Model):
    """The filters of a list, under a name that one person gave them.

    ``path`` and ``query``: the address of the list. ``key``: what its short address ends with,
    which no one can guess.
    """

    __tablename__ = "saved_filters"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    path: Mapped[str] = mapped_column(String(255))
    query: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(String(MAX_NAME))
    key: Mapped[str] = mapped_column(String(16), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = (
        UniqueConstraint("account_id", "path", "name"),
        at_most("name", MAX_NAME),
        NEVER_REUSE_IDS,
    )

    @property
    def address(self) -> str:
        return f"{self.path}?{self.query}"

    @property
    def short_address(self) -> str:
        return f"/saved-filters/{self.key}"


SAVED_FILTERS = Quota(SavedFilter, "saved filters", "person", rows=100, bytes=2_500)
