"""An index of the active features of each project."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

ACTIVE = sa.text("archived_at IS NULL")


def upgrade() -> None:
    op.create_index(
        "ix_features_active",
        "features",
        ["project_id", "name"],
        sqlite_where=ACTIVE,
        postgresql_where=ACTIVE,
    )
