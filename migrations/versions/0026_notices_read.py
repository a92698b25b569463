"""How far each person has read what happened to what they follow."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

TABLE = "notices_read"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("account_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("event_id", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("account_id", name=op.f(f"pk_{TABLE}")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f(f"fk_{TABLE}_account_id_accounts")
        ),
    )
