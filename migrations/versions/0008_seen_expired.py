"""When a token was first refused as expired."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("tokens", sa.Column("seen_expired_at", sa.DateTime(), nullable=True))
