"""Segments, and which strategies use them."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "segments",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("description", sa.String(255)),
        sa.Column("project_id", sa.String(100)),
        sa.Column("constraints", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_segments_name_length")),
        sa.CheckConstraint(
            "length(description) <= 255", name=op.f("ck_segments_description_length")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_segments")),
        sa.UniqueConstraint("name", name=op.f("uq_segments_name")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_segments_project_id_projects")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_segments_project_id"), "segments", ["project_id"])
    op.create_table(
        "strategy_segments",
        sa.Column("strategy_id", sa.String(36), nullable=False),
        sa.Column("segment_id", sa.Integer, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("strategy_id", "segment_id", name=op.f("pk_strategy_segments")),
        sa.ForeignKeyConstraint(
            ["strategy_id"],
            ["strategies.id"],
            name=op.f("fk_strategy_segments_strategy_id_strategies"),
        ),
        sa.ForeignKeyConstraint(
            ["segment_id"], ["segments.id"], name=op.f("fk_strategy_segments_segment_id_segments")
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_strategy_segments_segment_id"), "strategy_segments", ["segment_id"])
