"""The projects and features that each person keeps at hand."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

TABLE = "favourites"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("account_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("project_id", sa.String(100), nullable=False),
        sa.Column("feature_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "project_id", "feature_id", name=op.f(f"pk_{TABLE}")),
        _to("account_id", "accounts"),
        _to("project_id", "projects"),
        sqlite_with_rowid=False,
    )


def _to(column: str, other: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{TABLE}_{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name)
