"""Webhooks: addresses that events are sent to, and what is sent to them."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

WAITING = sa.text("status = 'waiting'")


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("url", sa.String(500), nullable=False),
        sa.Column("event_types", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("projects", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("paused", sa.Boolean, nullable=False),
        sa.Column("salt", sa.LargeBinary(32), nullable=False),
        sa.Column("hint", sa.String(4), nullable=False),
        sa.Column("old_salt", sa.LargeBinary(32)),
        sa.Column("old_until", sa.DateTime),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("missed", sa.Integer, nullable=False),
        sa.Column("rest_until", sa.DateTime),
        sa.Column("lease", sa.String(32)),
        sa.Column("lease_until", sa.DateTime),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_webhooks_name_length")),
        sa.CheckConstraint("length(url) <= 500", name=op.f("ck_webhooks_url_length")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
        sa.UniqueConstraint("name", name=op.f("uq_webhooks_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("webhook_id", sa.Integer, nullable=False),
        sa.Column("message_id", sa.String(60), nullable=False),
        sa.Column("event_id", sa.Integer),
        sa.Column("event_type", sa.String(60)),
        sa.Column("stream", sa.String(100)),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column(
            "status",
            sa.Enum(
                "waiting",
                "delivered",
                "failed",
                native_enum=False,
                length=60,
                create_constraint=True,
                name=op.f("ck_webhook_deliveries_deliverystatus"),
            ),
            nullable=False,
        ),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("next_at", sa.DateTime),
        sa.Column("ended_at", sa.DateTime),
        sa.Column("answer_status", sa.Integer),
        sa.Column("error", sa.String(255)),
        sa.Column("answer", sa.Text),
        sa.CheckConstraint("length(error) <= 255", name=op.f("ck_webhook_deliveries_error_length")),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name=op.f("fk_webhook_deliveries_webhook_id_webhooks"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_webhook_deliveries_webhook_id_id"), "webhook_deliveries", ["webhook_id", "id"]
    )
    op.create_index(
        "ix_webhook_deliveries_waiting",
        "webhook_deliveries",
        ["webhook_id", "next_at"],
        sqlite_where=WAITING,
        postgresql_where=WAITING,
    )
