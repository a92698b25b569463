"""Maintenance mode."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    op.create_table(
        "maintenance",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("since", sa.DateTime, nullable=False),
        sa.Column("by", sa.String(255), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_maintenance_one_row")),
        sa.CheckConstraint("length(by) <= 255", name=op.f("ck_maintenance_by_length")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_maintenance")),
    )
