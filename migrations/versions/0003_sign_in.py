"""Signing in with a browser, and selections of features that have an address."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("last_used_at", sa.DateTime(), nullable=False),
        sa.Column("ip", sa.String(length=45), nullable=True),
        sa.Column("user_agent", sa.String(length=255), nullable=True),
        sa.CheckConstraint("length(user_agent) <= 255", name=op.f("ck_sessions_user_agent_length")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_sessions_account_id_accounts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("digest", name=op.f("uq_sessions_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_sessions_account_id"), "sessions", ["account_id"])
    op.create_index(op.f("ix_sessions_last_used_at"), "sessions", ["last_used_at"])
    op.create_table(
        "kept_forms",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("fields", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
            name=op.f("fk_kept_forms_session_id_sessions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_kept_forms")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_kept_forms_session_id"), "kept_forms", ["session_id"])
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("ip", sa.String(length=45), nullable=True),
        sa.Column("network", sa.String(length=50), nullable=False),
        sa.Column("succeeded", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_sign_ins_account_id_accounts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_ins")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_sign_ins_account_id_id"), "sign_ins", ["account_id", "id"])
    op.create_table(
        "throttles",
        sa.Column("key", sa.String(length=120), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("counted_at", sa.DateTime(), nullable=False),
        sa.CheckConstraint("length(key) <= 120", name=op.f("ck_throttles_key_length")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_throttles")),
    )
    op.create_index(op.f("ix_throttles_counted_at"), "throttles", ["counted_at"])
    op.create_table(
        "first_admin_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_first_admin_links")),
        sa.UniqueConstraint("digest", name=op.f("uq_first_admin_links_digest")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "selections",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("project_id", sa.String(length=100), nullable=False),
        sa.Column("names", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("used_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_selections_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_selections")),
    )
    op.create_index(op.f("ix_selections_used_at"), "selections", ["used_at"])
