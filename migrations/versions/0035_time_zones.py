"""The time zone in which each person reads times."""

from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    # With its constraint, which SQLite can't add afterwards.
    op.execute(
        "ALTER TABLE accounts ADD COLUMN time_zone VARCHAR(64) "
        "CONSTRAINT ck_accounts_time_zone_length CHECK (length(time_zone) <= 64)"
    )
