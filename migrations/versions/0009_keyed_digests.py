"""Digests of requests are made with the secret key; those without are deleted."""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.execute("DELETE FROM first_answers")
