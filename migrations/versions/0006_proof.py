"""When the user of a session last entered their password."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("proved_at", sa.DateTime(), nullable=True))
