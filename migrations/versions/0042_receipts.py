"""What each process of an application has of its environment's features, and who watches them.

Processes that run say it with their next poll.
"""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"

TABLE = "application_instances"


def upgrade() -> None:
    with op.batch_alter_table(TABLE, table_kwargs={"sqlite_with_rowid": False}) as batch:
        batch.add_column(sa.Column("first_seen_at", sa.DateTime))
        batch.add_column(sa.Column("token_id", sa.Integer))
        batch.add_column(sa.Column("polled_at", sa.DateTime))
        batch.add_column(sa.Column("interval", sa.Integer))
        batch.add_column(sa.Column("keeps_etags", sa.Boolean))
        batch.add_column(sa.Column("etag", sa.String(80)))
        batch.add_column(sa.Column("held_event", sa.Integer))
        batch.add_column(sa.Column("held_at", sa.DateTime))
        batch.add_column(sa.Column("sent_event", sa.Integer))
        batch.add_column(sa.Column("shared_at", sa.DateTime))
        batch.create_check_constraint(op.f(f"ck_{TABLE}_etag_length"), "length(etag) <= 80")
    op.create_table(
        "watched_instances",
        sa.Column("account_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("event_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("application_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column("instance_id", sa.String(255), nullable=False),
        sa.Column("since", sa.DateTime, nullable=False),
        sa.Column("notice", sa.String(36)),
        sa.PrimaryKeyConstraint(
            "account_id",
            "event_id",
            "application_id",
            "environment",
            "instance_id",
            name=op.f("pk_watched_instances"),
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_watched_instances_account_id_accounts")
        ),
        sqlite_with_rowid=False,
    )
    for columns in (["account_id", "notice"], ["since"]):
        name = op.f(f"ix_watched_instances_{'_'.join(columns)}")
        op.create_index(name, "watched_instances", columns)
