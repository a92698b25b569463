"""The sites whose pages may read features in browsers: all of them, until an Admin chooses."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    table = op.create_table(
        "browser_access",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("origins", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_browser_access")),
        sqlite_with_rowid=False,
    )
    op.execute(table.insert().values(id=1, origins=["*"]))
