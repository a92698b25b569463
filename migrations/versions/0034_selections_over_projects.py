"""Features can be selected over all projects."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    with op.batch_alter_table("selections") as batch:
        batch.alter_column("project_id", existing_type=sa.String(100), nullable=True)
