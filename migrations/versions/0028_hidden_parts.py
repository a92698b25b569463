"""The columns and other parts of pages that each person chose not to see."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

TABLE = "hidden_parts"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("account_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("page", sa.String(30), nullable=False),
        sa.Column("part", sa.String(30), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "page", "part", name=op.f(f"pk_{TABLE}")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f(f"fk_{TABLE}_account_id_accounts")
        ),
        sqlite_with_rowid=False,
    )
