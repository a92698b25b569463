"""Tokens that programs read their features with."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

LIVE = sa.text("revoked_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "sdk_tokens",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("hint", sa.String(12), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("expires_at", sa.DateTime),
        sa.Column("revoked_at", sa.DateTime),
        sa.Column("last_seen_at", sa.DateTime),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column(
            "type",
            sa.Enum(
                "client",
                "frontend",
                native_enum=False,
                length=60,
                create_constraint=True,
                name=op.f("ck_sdk_tokens_sdktokentype"),
            ),
            nullable=False,
        ),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column("all_projects", sa.Boolean, nullable=False),
        sa.CheckConstraint("length(name) <= 255", name=op.f("ck_sdk_tokens_name_length")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sdk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_sdk_tokens_digest")),
        sa.ForeignKeyConstraint(
            ["environment"],
            ["environments.name"],
            name=op.f("fk_sdk_tokens_environment_environments"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_sdk_tokens_name",
        "sdk_tokens",
        ["name"],
        unique=True,
        sqlite_where=LIVE,
        postgresql_where=LIVE,
    )
    op.create_table(
        "sdk_token_projects",
        sa.Column("token_id", sa.Integer, nullable=False),
        sa.Column("project_id", sa.String(100), nullable=False),
        sa.PrimaryKeyConstraint("token_id", "project_id", name=op.f("pk_sdk_token_projects")),
        sa.ForeignKeyConstraint(
            ["token_id"], ["sdk_tokens.id"], name=op.f("fk_sdk_token_projects_token_id_sdk_tokens")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_sdk_token_projects_project_id_projects"),
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_sdk_token_projects_project_id"), "sdk_token_projects", ["project_id"])
