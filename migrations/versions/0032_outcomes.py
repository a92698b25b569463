"""Approvals of change requests are for what applications get in the end.

Approvals of open change requests were for a list of changes, so they have to be given again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"

REQUESTS, OUTCOMES = "change_requests", "change_request_outcomes"
STEPS, CHECK = "change_request_steps", "ck_change_request_steps_stepkind"
KINDS = (
    "opened",
    "edited",
    "withdrawn",
    "approved",
    "approval-withdrawn",
    "rejected",
    "commented",
    "changed",
    "scheduled",
    "unscheduled",
    "applied",
    "failed",
    "cancelled",
)


def upgrade() -> None:
    op.create_table(
        OUTCOMES,
        sa.Column("request_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("feature", sa.String(100), nullable=False),
        sa.Column("before", sa.JSON),
        sa.Column("after", sa.JSON),
        sa.Column("approved", sa.JSON),
        sa.PrimaryKeyConstraint("request_id", "feature", name=op.f(f"pk_{OUTCOMES}")),
        sa.ForeignKeyConstraint(
            ["request_id"],
            [f"{REQUESTS}.id"],
            name=op.f(f"fk_{OUTCOMES}_request_id_{REQUESTS}"),
        ),
        sa.CheckConstraint("length(feature) <= 100", name=op.f(f"ck_{OUTCOMES}_feature_length")),
        sqlite_with_rowid=False,
    )
    op.add_column(REQUESTS, sa.Column("digest", sa.String(64)))
    op.add_column(
        REQUESTS, sa.Column("is_outdated", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.add_column(REQUESTS, sa.Column("obstacle", sa.Text))
    op.add_column(REQUESTS, sa.Column("checked_to", sa.Integer, nullable=False, server_default="0"))
    op.add_column("change_request_approvals", sa.Column("digest", sa.String(64)))
    op.drop_column("change_request_changes", "base")
    _allow_more_steps()


def _allow_more_steps() -> None:
    """Allow “changed”. SQLite gets a new table for that."""
    values = ", ".join(f"'{kind}'" for kind in KINDS)
    with op.batch_alter_table(STEPS, table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_constraint(op.f(CHECK), type_="check")
        batch.create_check_constraint(op.f(CHECK), f"kind IN ({values})")
