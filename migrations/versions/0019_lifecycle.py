"""The lifecycle of features: when they were first used, last changed, and completed."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

FIRST_USE = """
    UPDATE feature_seen SET
    first_seen_at = coalesce(
        (SELECT min(start) FROM feature_usage
         WHERE feature_usage.feature_id = feature_seen.feature_id
         AND feature_usage.environment = feature_seen.environment AND span = 'day'),
        last_seen_at
    ),
    first_on_at = (
        SELECT min(start) FROM feature_usage
        WHERE feature_usage.feature_id = feature_seen.feature_id
        AND feature_usage.environment = feature_seen.environment AND span = 'day' AND yes > 0
    )
"""
# Added with their constraints, which SQLite can't add to a table afterwards.
STATUS = """
    ALTER TABLE features ADD COLUMN completed_status VARCHAR(60)
    CONSTRAINT ck_features_completedstatus CHECK (completed_status IN ('kept', 'discarded'))
"""
VALUE = """
    ALTER TABLE features ADD COLUMN completed_value VARCHAR(255)
    CONSTRAINT ck_features_completed_value_length CHECK (length(completed_value) <= 255)
"""


def upgrade() -> None:
    op.add_column("feature_seen", sa.Column("first_seen_at", sa.DateTime))
    op.add_column("feature_seen", sa.Column("first_on_at", sa.DateTime))
    op.execute(FIRST_USE)
    _require("feature_seen", "first_seen_at")
    op.add_column("feature_states", sa.Column("changed_at", sa.DateTime))
    states = sa.table("feature_states", sa.column("changed_at", sa.DateTime))
    op.execute(states.update().values(changed_at=datetime.now(UTC).replace(tzinfo=None)))
    _require("feature_states", "changed_at")
    op.add_column("features", sa.Column("completed_at", sa.DateTime))
    op.execute(STATUS)
    op.execute(VALUE)


def _require(table: str, column: str) -> None:
    """Let no row be without a value; SQLite gets a new table for that."""
    with op.batch_alter_table(table, table_kwargs={"sqlite_with_rowid": False}) as batch:
        batch.alter_column(column, existing_type=sa.DateTime(), nullable=False)
