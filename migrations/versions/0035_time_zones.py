"""The time zone in which each person reads times."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    with op.batch_alter_table("accounts", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.add_column(sa.Column("time_zone", sa.String(64)))
        batch.create_check_constraint(
            op.f("ck_accounts_time_zone_length"), "length(time_zone) <= 64"
        )
