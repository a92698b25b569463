from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.catalogue.usage.models import MAX_NAME
from app.core.db import Model
from app.core.quotas import Quota


class WatchedInstance(Model):
    """A silent process of an application. Someone gets a notice when it asks again.

    ``event_id``: the change after which it was silent. ``notice``: the ``batch_id`` of the event
    that says it asked again; NULL until then. What they and the other columns are about may be
    gone, so there are no foreign keys to it.
    """

    __tablename__ = "watched_instances"

    account_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    event_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    application_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    environment: Mapped[str] = mapped_column(String(100), primary_key=True)
    instance_id: Mapped[str] = mapped_column(String(MAX_NAME), primary_key=True)
    since: Mapped[datetime]
    notice: Mapped[str | None] = mapped_column(String(36))

    __table_args__ = (
        Index(None, "account_id", "notice"),
        Index(None, "since"),
        {"sqlite_with_rowid": False},
    )


WATCHED_INSTANCES = Quota(WatchedInstance, "watched instances", "person", rows=1_000, bytes=1_000)
