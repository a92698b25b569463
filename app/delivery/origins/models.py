from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Model


class BrowserAccess(Model):
    """The only row: the origins whose pages can read features."""

    __tablename__ = "browser_access"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    origins: Mapped[list[str]] = mapped_column(sa.JSON(none_as_null=True))

    __table_args__ = ({"sqlite_with_rowid": False},)

    def snapshot(self) -> dict[str, Any]:
        """The origins as the event log records them."""
        return {"frontendApiOrigins": self.origins}
