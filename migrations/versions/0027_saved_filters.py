"""Filters of lists that people keep under a name."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"

TABLE = "saved_filters"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("account_id", sa.Integer, nullable=False),
        sa.Column("path", sa.String(255), nullable=False),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("key", sa.String(16), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.CheckConstraint("length(name) <= 60", name=op.f(f"ck_{TABLE}_name_length")),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{TABLE}")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f(f"fk_{TABLE}_account_id_accounts")
        ),
        sa.UniqueConstraint(
            "account_id", "path", "name", name=op.f(f"uq_{TABLE}_account_id_path_name")
        ),
        sa.UniqueConstraint("key", name=op.f(f"uq_{TABLE}_key")),
        sqlite_autoincrement=True,
    )
