"""Two-step sign-in, for people who choose it."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "second_factors",
        sa.Column("account_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("salt", sa.LargeBinary(length=20), nullable=False),
        sa.Column("last_step", sa.Integer(), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_second_factors_account_id_accounts")
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_second_factors")),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_recovery_codes_account_id_accounts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recovery_codes")),
        sa.UniqueConstraint("digest", name=op.f("uq_recovery_codes_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_recovery_codes_account_id"), "recovery_codes", ["account_id"])
