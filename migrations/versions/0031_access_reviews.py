"""Reviews of the access to projects, with what was decided about each member."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

REVIEWS, ENTRIES = "access_reviews", "access_review_entries"


def upgrade() -> None:
    op.create_table(
        REVIEWS,
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("project_id", sa.String(100), nullable=False),
        sa.Column("signed_off_at", sa.DateTime, nullable=False),
        sa.Column("signed_off_by", sa.String(255), nullable=False),
        sa.Column("signed_off_by_id", sa.Integer),
        sa.Column("comment", sa.Text),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{REVIEWS}")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f(f"fk_{REVIEWS}_project_id_projects")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f(f"ix_{REVIEWS}_project_id_id"), REVIEWS, ["project_id", "id"])
    op.create_table(
        ENTRIES,
        sa.Column("review_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("username", sa.String(255), nullable=False),
        sa.Column("name", sa.String(255)),
        sa.Column("role", sa.SmallInteger, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("last_active_at", sa.DateTime),
        sa.Column("kept", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("review_id", "account_id", name=op.f(f"pk_{ENTRIES}")),
        sa.ForeignKeyConstraint(
            ["review_id"], [f"{REVIEWS}.id"], name=op.f(f"fk_{ENTRIES}_review_id_{REVIEWS}")
        ),
    )
