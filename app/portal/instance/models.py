from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Model


class ServedVersion(Model):
    """A version of Flagstaff that has served this instance; ``since``: its last upgrade to it.

    ``version`` is empty for the versions before this table, which recorded nothing.
    """

    __tablename__ = "served_versions"

    version: Mapped[str] = mapped_column(String(50), primary_key=True)
    since: Mapped[datetime]
