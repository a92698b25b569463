"""The security log: sign-ins, failures, refusals and exports."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "security_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("kind", sa.String(length=60), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("ip", sa.String(length=45), nullable=True),
        sa.Column("network", sa.String(length=50), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=True),
        sa.Column("detail", sa.String(length=255), nullable=True),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_security_log")),
        sqlite_autoincrement=True,
    )
    for columns in (["account_id", "id"], ["at"], ["kind", "network", "at"]):
        name = op.f(f"ix_security_log_{'_'.join(columns)}")
        op.create_index(name, "security_log", columns)
