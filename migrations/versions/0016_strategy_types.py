"""Types of strategy that people create, and what a dependency asks of its parent."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "strategy_types",
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("description", sa.String(255)),
        sa.Column("parameters", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("deprecated", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_strategy_types_name_length")),
        sa.CheckConstraint(
            "length(description) <= 255", name=op.f("ck_strategy_types_description_length")
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_strategy_types")),
    )
    for table in ("feature_dependencies", "archived_dependencies"):
        op.add_column(
            table, sa.Column("enabled", sa.Boolean, nullable=False, server_default=sa.true())
        )
        op.add_column(table, sa.Column("variants", sa.JSON(none_as_null=True)))
