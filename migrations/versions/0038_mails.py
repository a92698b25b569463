"""Mail to people, and what they don’t want mail about."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"

KINDS = ("reviews", "schedules", "expiry")
WAITING = sa.text("next_at IS NOT NULL")


def kind_of(table: str) -> sa.Enum:
    name = op.f(f"ck_{table}_mailkind")
    return sa.Enum(*KINDS, native_enum=False, length=60, create_constraint=True, name=name)


def upgrade() -> None:
    op.create_table(
        "mail_stops",
        sa.Column("account_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("kind", kind_of("mail_stops"), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "kind", name=op.f("pk_mail_stops")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_mail_stops_account_id_accounts")
        ),
    )
    op.create_table(
        "mails",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("account_id", sa.Integer, nullable=False),
        sa.Column("kind", kind_of("mails"), nullable=False),
        sa.Column("about", sa.String(100)),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("path", sa.String(300), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", sa.DateTime),
        sa.CheckConstraint("length(about) <= 100", name=op.f("ck_mails_about_length")),
        sa.CheckConstraint("length(path) <= 300", name=op.f("ck_mails_path_length")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_mails_account_id_accounts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mails")),
        sa.UniqueConstraint("account_id", "about", name=op.f("uq_mails_account_id_about")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_mails_created_at"), "mails", ["created_at"])
    op.create_index(
        "ix_mails_waiting",
        "mails",
        ["next_at"],
        sqlite_where=WAITING,
        postgresql_where=WAITING,
    )
