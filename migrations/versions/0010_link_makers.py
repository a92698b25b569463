"""Who created a link to set a password, whether it was used, and whether its owner knows."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    for column in (
        sa.Column("created_by", sa.String(255), nullable=True),
        sa.Column("created_by_user_id", sa.Integer(), nullable=True),
        sa.Column("used_at", sa.DateTime(), nullable=True),
        sa.Column("used_ip", sa.String(45), nullable=True),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("told_at", sa.DateTime(), nullable=True),
    ):
        op.add_column("setup_links", column)
