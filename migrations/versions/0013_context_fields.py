"""Context fields, with those that every SDK sends."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

BUILT_IN = (
    ("userId", "The person who asks", True),
    ("sessionId", "The visit in which they ask", True),
    ("appName", "The application that asks", False),
    ("environment", "Where the application runs", False),
    ("remoteAddress", "The address they ask from", False),
    ("currentTime", "When they ask", False),
)


def upgrade() -> None:
    fields = op.create_table(
        "context_fields",
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("description", sa.String(255)),
        sa.Column("stickiness", sa.Boolean, nullable=False),
        sa.Column("sort_order", sa.Integer, nullable=False),
        sa.Column("legal_values", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_context_fields_name_length")),
        sa.CheckConstraint(
            "length(description) <= 255", name=op.f("ck_context_fields_description_length")
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_context_fields")),
    )
    now = datetime.now(UTC).replace(tzinfo=None)
    op.bulk_insert(
        fields,
        [
            {
                "name": name,
                "description": description,
                "stickiness": stickiness,
                "sort_order": place,
                "legal_values": [],
                "created_at": now,
            }
            for place, (name, description, stickiness) in enumerate(BUILT_IN, 1)
        ],
    )
