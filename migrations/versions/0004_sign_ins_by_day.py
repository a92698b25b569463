"""Sign-ins by day: how often people sign in is drawn without reading all of them."""

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_index(op.f("ix_sign_ins_at_succeeded"), "sign_ins", ["at", "succeeded"])
