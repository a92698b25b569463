from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Model


class HiddenPart(Model):
    """A part of a page, such as a column of a list, that someone chose not to see."""

    __tablename__ = "hidden_parts"

    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    page: Mapped[str] = mapped_column(String(30), primary_key=True)
    part: Mapped[str] = mapped_column(String(30), primary_key=True)

    __table_args__ = ({"sqlite_with_rowid": False},)
