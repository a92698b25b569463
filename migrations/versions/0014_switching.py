"""The states of features in environments, and their strategies."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "feature_states",
        sa.Column("feature_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("variants", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("feature_id", "environment", name=op.f("pk_feature_states")),
        sa.ForeignKeyConstraint(
            ["feature_id"], ["features.id"], name=op.f("fk_feature_states_feature_id_features")
        ),
        sa.ForeignKeyConstraint(
            ["environment"],
            ["environments.name"],
            name=op.f("fk_feature_states_environment_environments"),
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_feature_states_environment"), "feature_states", ["environment"])
    op.create_table(
        "strategies",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("feature_id", sa.Integer),
        sa.Column("project_id", sa.String(100)),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("title", sa.String(255)),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.Column("sort_order", sa.Integer, nullable=False),
        sa.Column("parameters", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("constraints", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("variants", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_strategies_name_length")),
        sa.CheckConstraint("length(title) <= 255", name=op.f("ck_strategies_title_length")),
        sa.CheckConstraint(
            "(feature_id IS NULL) <> (project_id IS NULL)", name=op.f("ck_strategies_one_owner")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_strategies")),
        sa.UniqueConstraint(
            "project_id", "environment", name=op.f("uq_strategies_project_id_environment")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_strategies_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["feature_id"], ["features.id"], name=op.f("fk_strategies_feature_id_features")
        ),
        sa.ForeignKeyConstraint(
            ["environment"],
            ["environments.name"],
            name=op.f("fk_strategies_environment_environments"),
        ),
    )
    op.create_index(op.f("ix_strategies_environment"), "strategies", ["environment"])
    op.create_index(
        op.f("ix_strategies_feature_id_environment_sort_order"),
        "strategies",
        ["feature_id", "environment", "sort_order"],
    )
