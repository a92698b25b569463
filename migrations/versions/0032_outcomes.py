"""Approvals of change requests are for what applications get in the end.

Approvals of open change requests were for a list of changes, so they have to be given again.
Tokens know who created them, who can’t approve what is proposed with them.
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
    op.add_column("tokens", sa.Column("created_by_id", sa.Integer))
    _fill_in_creators()


def _fill_in_creators() -> None:
    """From the event log. An account that rotated its own token takes over from before."""
    events = sa.table(
        "events",
        sa.column("id", sa.Integer),
        sa.column("type", sa.String),
        sa.column("created_by_user_id", sa.Integer),
        sa.column("data", sa.JSON),
    )
    tokens = sa.table("tokens", sa.column("id", sa.Integer), sa.column("created_by_id", sa.Integer))
    query = sa.select(events.c.created_by_user_id, events.c.data)
    created = query.where(events.c.type == "token-created").order_by(events.c.id)
    people: dict[int, int] = {}
    for by, data in op.get_bind().execute(created).all():
        maker = people.get(data["userId"], by) if by == data["userId"] else by
        if maker is None:
            continue
        people[data["userId"]] = maker
        op.execute(tokens.update().where(tokens.c.id == data["id"]).values(created_by_id=maker))


def _allow_more_steps() -> None:
    """Allow “changed”. SQLite gets a new table for that."""
    values = ", ".join(f"'{kind}'" for kind in KINDS)
    with op.batch_alter_table(STEPS, table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_constraint(op.f(CHECK), type_="check")
        batch.create_check_constraint(op.f(CHECK), f"kind IN ({values})")
