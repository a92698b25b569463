from enum import StrEnum

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Model, at_most

MAX_ORDER = 9_999


class EnvironmentType(StrEnum):
    DEVELOPMENT = "development"
    TEST = "test"
    PREPRODUCTION = "preproduction"
    PRODUCTION = "production"


class Environment(Model):
    __tablename__ = "environments"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    type: Mapped[EnvironmentType]
    sort_order: Mapped[int]
    deprecated: Mapped[bool] = mapped_column(default=False)

    __table_args__ = (at_most("name", 100),)

    recorded = ("name", "type", "sort_order", "deprecated")
