"""The versions of Flagstaff that have served an instance."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.create_table(
        "served_versions",
        sa.Column("version", sa.String(50), nullable=False),
        sa.Column("since", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_served_versions")),
    )
    # An older version has served what has events; which one is not known.
    op.execute(
        "INSERT INTO served_versions (version, since) "
        "SELECT '', created_at FROM events WHERE id = (SELECT last_id FROM event_heads)"
    )
