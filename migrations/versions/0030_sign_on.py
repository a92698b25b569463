"""Single sign-on: identities, groups and the roles that they give, and tokens for SCIM."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    _create_identities()
    _create_groups()
    _create_scim_tokens()
    for table in ("accounts", "project_members"):
        for column in (
            sa.Column("own_role", sa.SmallInteger),
            sa.Column("group_role", sa.SmallInteger),
            sa.Column("given_by", sa.String(255)),
            sa.Column("given_at", sa.DateTime),
        ):
            op.add_column(table, column)
        op.execute(f"UPDATE {table} SET own_role = role")  # noqa: S608 - two names from above
    op.add_column("accounts", sa.Column("external_id", sa.String(255)))
    op.add_column("accounts", sa.Column("scim_attributes", sa.JSON))
    op.add_column("accounts", sa.Column("deactivated_at", sa.DateTime))
    op.create_index(op.f("ix_accounts_external_id"), "accounts", ["external_id"])
    op.add_column("sessions", sa.Column("identity_id", sa.Integer))
    op.add_column("sessions", sa.Column("provider_session", sa.String(255)))
    op.add_column("sessions", sa.Column("id_token", sa.Text))
    for name in ("identity_id", "provider_session"):
        op.create_index(op.f(f"ix_sessions_{name}"), "sessions", [name])


def _create_identities() -> None:
    op.create_table(
        "identities",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("account_id", sa.Integer, nullable=False),
        sa.Column("issuer", sa.String(500), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("last_used_at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identities")),
        _to("identities", "account_id", "accounts"),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_identities_issuer_subject")),
        _at_most("identities", "issuer", 500),
        _at_most("identities", "subject", 255),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_identities_account_id"), "identities", ["account_id"])


def _create_groups() -> None:
    op.create_table(
        "groups",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("name_key", sa.String(255), nullable=False),
        sa.Column("scim_id", sa.String(255)),
        sa.Column("external_id", sa.String(255)),
        sa.Column("root_role", sa.SmallInteger),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("changed_at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
        sa.UniqueConstraint("name_key", name=op.f("uq_groups_name_key")),
        sa.CheckConstraint("root_role IN (1, 2, 3)", name=op.f("ck_groups_root_role")),
        _at_most("groups", "name", 255),
        _at_most("groups", "external_id", 255),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_groups_external_id"), "groups", ["external_id"])
    op.create_table(
        "group_projects",
        sa.Column("group_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("project_id", sa.String(100), nullable=False),
        sa.Column("role", sa.SmallInteger, nullable=False),
        sa.PrimaryKeyConstraint("group_id", "project_id", name=op.f("pk_group_projects")),
        _to("group_projects", "group_id", "groups"),
        _to("group_projects", "project_id", "projects"),
        sa.CheckConstraint("role IN (4, 5)", name=op.f("ck_group_projects_project_role")),
    )
    op.create_index(op.f("ix_group_projects_project_id"), "group_projects", ["project_id"])
    op.create_table(
        "group_members",
        sa.Column("group_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("account_id", sa.Integer, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("group_id", "account_id", name=op.f("pk_group_members")),
        _to("group_members", "group_id", "groups"),
        _to("group_members", "account_id", "accounts"),
    )
    op.create_index(op.f("ix_group_members_account_id"), "group_members", ["account_id"])


def _create_scim_tokens() -> None:
    op.create_table(
        "scim_tokens",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("created_by", sa.String(255), nullable=False),
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("hint", sa.String(12), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("expires_at", sa.DateTime),
        sa.Column("revoked_at", sa.DateTime),
        sa.Column("last_seen_at", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scim_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_scim_tokens_digest")),
        _at_most("scim_tokens", "name", 255),
        sqlite_autoincrement=True,
    )


def _to(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name)


def _at_most(table: str, column: str, length: int) -> sa.CheckConstraint:
    return sa.CheckConstraint(
        f"length({column}) <= {length}", name=op.f(f"ck_{table}_{column}_length")
    )
