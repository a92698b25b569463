"""Column types that behave identically on SQLite and PostgreSQL."""

from datetime import UTC, datetime
from enum import StrEnum

import sqlalchemy as sa

from app.core.permissions import Role


class UtcDateTime(sa.TypeDecorator[datetime]):
    """Accepts aware times only, stores naive UTC, returns aware UTC."""

    impl = sa.DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone can't be stored")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002 - as above
        return value.replace(tzinfo=UTC) if value else None


class RoleColumn(sa.TypeDecorator[Role]):
    impl = sa.SmallInteger
    cache_ok = True

    def process_bind_param(self, value: Role | None, dialect: sa.Dialect) -> int | None:  # noqa: ARG002 - as above
        return None if value is None else int(value)

    def process_result_value(self, value: int | None, dialect: sa.Dialect) -> Role | None:  # noqa: ARG002 - as above
        return None if value is None else Role(value)


def enum_of(members: type[StrEnum], *, constrained: bool = True) -> sa.Enum:
    """Text in the database, enum members in Python. ``constrained``: add a CHECK constraint."""
    return sa.Enum(
        members,
        native_enum=False,
        length=60,
        create_constraint=constrained,
        values_callable=lambda enum: [member.value for member in enum],
    )
