"""Which applications use which SDK tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

TABLE = "sdk_token_uses"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("token_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("application_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("first_seen_at", sa.DateTime, nullable=False),
        sa.Column("last_seen_at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("token_id", "application_id", name=op.f(f"pk_{TABLE}")),
        _to("token_id", "sdk_tokens"),
        _to("application_id", "applications"),
        sqlite_with_rowid=False,
    )
    for column in ("application_id", "last_seen_at"):
        op.create_index(op.f(f"ix_{TABLE}_{column}"), TABLE, [column])


def _to(column: str, other: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{TABLE}_{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name)
