from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Model, at_most
from app.core.quotas import Quota


class Feedback(Model):
    """A person's answer to one of the portal's own surveys."""

    __tablename__ = "feedback"

    user_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    feedback_id: Mapped[str] = mapped_column(String(255), primary_key=True)
    given: Mapped[datetime | None]
    never_show: Mapped[bool] = mapped_column(default=False)

    __table_args__ = (at_most("feedback_id", 255),)


class Splash(Model):
    """A notice that a person has seen, so that it isn't shown again."""

    __tablename__ = "splash"

    user_id: Mapped[int] = mapped_column(
        ForeignKey("accounts.id"), primary_key=True, autoincrement=False
    )
    splash_id: Mapped[str] = mapped_column(String(255), primary_key=True)

    __table_args__ = (at_most("splash_id", 255),)


FEEDBACK = Quota(Feedback, "answers to surveys", "person", rows=100, bytes=1_000)
SPLASHES = Quota(Splash, "notices that were seen", "person", rows=100, bytes=1_000)
