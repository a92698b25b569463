"""First answers to repeated requests, and links by which people set their passwords."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "first_answers",
        sa.Column("token_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("request_digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("location", sa.String(length=500), nullable=True),
        sa.Column("etag", sa.String(length=100), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("token_id", "key", name=op.f("pk_first_answers")),
    )
    op.create_index(op.f("ix_first_answers_created_at"), "first_answers", ["created_at"])
    op.create_table(
        "setup_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_setup_links_account_id_accounts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_setup_links")),
        sa.UniqueConstraint("digest", name=op.f("uq_setup_links_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_setup_links_account_id"), "setup_links", ["account_id"])
