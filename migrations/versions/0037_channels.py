"""Webhooks can send to channels, and what is about some environments only."""

from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    # With its constraint, which SQLite can't add afterwards.
    op.execute(
        "ALTER TABLE webhooks ADD COLUMN channel VARCHAR(50) "
        "CONSTRAINT ck_webhooks_channel_length CHECK (length(channel) <= 50)"
    )
    op.execute("ALTER TABLE webhooks ADD COLUMN environments JSON")
    op.execute("""UPDATE webhooks SET environments = '["*"]'""")
