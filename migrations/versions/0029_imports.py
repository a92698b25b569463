"""What was read from other servers: plans that wait for a decision, and what became of them."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

TABLE = "imports"
STATES = ("reading", "planned", "applying", "applied", "failed", "undone")


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("source", sa.String(500), nullable=False),
        sa.Column("origin", sa.String(500), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                *STATES,
                name=op.f("ck_imports_importstate"),
                native_enum=False,
                length=60,
                create_constraint=True,
            ),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("created_by", sa.String(255), nullable=False),
        sa.Column("created_by_id", sa.Integer),
        sa.Column("beat_at", sa.DateTime, nullable=False),
        sa.Column("progress", sa.JSON),
        sa.Column("content", sa.LargeBinary),
        sa.Column("decisions", sa.JSON, nullable=False),
        sa.Column("shown", sa.LargeBinary),
        sa.Column("batch_id", sa.String(36)),
        sa.Column("finished_at", sa.DateTime),
        sa.Column("failure", sa.Text),
        sa.Column("report", sa.LargeBinary),
        sa.Column("written", sa.LargeBinary),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{TABLE}")),
        sa.CheckConstraint("length(source) <= 500", name=op.f(f"ck_{TABLE}_source_length")),
        sa.CheckConstraint("length(origin) <= 500", name=op.f(f"ck_{TABLE}_origin_length")),
        sqlite_autoincrement=True,
    )
