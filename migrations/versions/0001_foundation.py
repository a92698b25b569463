"""All tables, the roles, the project and the environments that every instance begins with."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_tables()
    _fill()


def _create_tables() -> None:
    op.create_table(
        "environments",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column(
            "type",
            sa.Enum(
                "development",
                "test",
                "preproduction",
                "production",
                name="ck_environments_environmenttype",
                native_enum=False,
                create_constraint=True,
                length=60,
            ),
            nullable=False,
        ),
        sa.Column("sort_order", sa.Integer(), nullable=False),
        sa.Column("deprecated", sa.Boolean(), nullable=False),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_environments_name_length")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_environments")),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=60), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("created_by", sa.String(length=255), nullable=False),
        sa.Column("created_by_user_id", sa.Integer(), nullable=True),
        sa.Column("token_id", sa.Integer(), nullable=True),
        sa.Column("ip", sa.String(length=45), nullable=True),
        sa.Column("project", sa.String(length=100), nullable=True),
        sa.Column("feature_name", sa.String(length=100), nullable=True),
        sa.Column("data", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("pre_data", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("batch_id", sa.String(length=36), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_events_batch_id_id"), "events", ["batch_id", "id"], unique=False)
    op.create_index(op.f("ix_events_created_at"), "events", ["created_at"], unique=False)
    op.create_index(
        op.f("ix_events_created_by_user_id_id"),
        "events",
        ["created_by_user_id", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_events_feature_name_id"), "events", ["feature_name", "id"], unique=False
    )
    op.create_index(op.f("ix_events_project_id"), "events", ["project", "id"], unique=False)
    op.create_index(op.f("ix_events_type_id"), "events", ["type", "id"], unique=False)
    op.create_table(
        "projects",
        sa.Column("id", sa.String(length=100), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("description", sa.String(length=5000), nullable=True),
        sa.Column(
            "mode",
            sa.Enum(
                "open",
                "protected",
                "private",
                name="ck_projects_projectmode",
                native_enum=False,
                create_constraint=True,
                length=60,
            ),
            nullable=False,
        ),
        sa.Column("default_stickiness", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("archived_at", sa.DateTime(), nullable=True),
        sa.CheckConstraint(
            "length(default_stickiness) <= 100", name=op.f("ck_projects_default_stickiness_length")
        ),
        sa.CheckConstraint(
            "length(description) <= 5000", name=op.f("ck_projects_description_length")
        ),
        sa.CheckConstraint("length(id) <= 100", name=op.f("ck_projects_id_length")),
        sa.CheckConstraint("length(name) <= 255", name=op.f("ck_projects_name_length")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
    )
    op.create_table(
        "roles",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_roles")),
        sa.UniqueConstraint("name", name=op.f("uq_roles_name")),
    )
    op.create_table(
        "tag_types",
        sa.Column("name", sa.String(length=50), nullable=False),
        sa.Column("description", sa.String(length=255), nullable=True),
        sa.Column("hue", sa.Integer(), nullable=False),
        sa.CheckConstraint("hue BETWEEN 1 AND 8", name=op.f("ck_tag_types_hue")),
        sa.CheckConstraint(
            "length(description) <= 255", name=op.f("ck_tag_types_description_length")
        ),
        sa.CheckConstraint("length(name) <= 50", name=op.f("ck_tag_types_name_length")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_tag_types")),
    )
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "person",
                "service",
                name="ck_accounts_accountkind",
                native_enum=False,
                create_constraint=True,
                length=60,
            ),
            nullable=False,
        ),
        sa.Column("username", sa.String(length=255), nullable=True),
        sa.Column("username_key", sa.String(length=255), nullable=True),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("email_key", sa.String(length=255), nullable=True),
        sa.Column("role", sa.SmallInteger(), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("login_attempts", sa.Integer(), nullable=False),
        sa.Column("scim_id", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("last_sign_in_at", sa.DateTime(), nullable=True),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.CheckConstraint("length(email) <= 254", name=op.f("ck_accounts_email_length")),
        sa.CheckConstraint("length(name) <= 255", name=op.f("ck_accounts_name_length")),
        sa.CheckConstraint("length(username) <= 255", name=op.f("ck_accounts_username_length")),
        sa.CheckConstraint("role IN (1, 2, 3)", name=op.f("ck_accounts_root_role")),
        sa.ForeignKeyConstraint(["role"], ["roles.id"], name=op.f("fk_accounts_role_roles")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("email_key", name=op.f("uq_accounts_email_key")),
        sa.UniqueConstraint("username_key", name=op.f("uq_accounts_username_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_accounts_kind_deleted_at_id"),
        "accounts",
        ["kind", "deleted_at", "id"],
        unique=False,
    )
    op.create_table(
        "features",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("project_id", sa.String(length=100), nullable=False),
        sa.Column(
            "type",
            sa.Enum(
                "release",
                "experiment",
                "operational",
                "kill-switch",
                "permission",
                name="ck_features_featuretype",
                native_enum=False,
                create_constraint=True,
                length=60,
            ),
            nullable=False,
        ),
        sa.Column("description", sa.String(length=5000), nullable=True),
        sa.Column("stale", sa.Boolean(), nullable=False),
        sa.Column("impression_data", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("archived_at", sa.DateTime(), nullable=True),
        sa.CheckConstraint(
            "length(description) <= 5000", name=op.f("ck_features_description_length")
        ),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_features_name_length")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_features_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_features")),
        sa.UniqueConstraint("name", name=op.f("uq_features_name")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_features_project_id_name"), "features", ["project_id", "name"], unique=False
    )
    op.create_table(
        "project_approvals",
        sa.Column("project_id", sa.String(length=100), nullable=False),
        sa.Column("environment", sa.String(length=100), nullable=False),
        sa.Column("required_approvals", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "required_approvals BETWEEN 1 AND 10", name=op.f("ck_project_approvals_range")
        ),
        sa.ForeignKeyConstraint(
            ["environment"],
            ["environments.name"],
            name=op.f("fk_project_approvals_environment_environments"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_approvals_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "environment", name=op.f("pk_project_approvals")),
    )
    op.create_index(
        op.f("ix_project_approvals_environment"), "project_approvals", ["environment"], unique=False
    )
    op.create_table(
        "project_environments",
        sa.Column("project_id", sa.String(length=100), nullable=False),
        sa.Column("environment", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["environment"],
            ["environments.name"],
            name=op.f("fk_project_environments_environment_environments"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_project_environments_project_id_projects"),
        ),
        sa.PrimaryKeyConstraint("project_id", "environment", name=op.f("pk_project_environments")),
    )
    op.create_index(
        op.f("ix_project_environments_environment"),
        "project_environments",
        ["environment"],
        unique=False,
    )
    op.create_table(
        "tags",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=50), nullable=False),
        sa.Column("value", sa.String(length=50), nullable=False),
        sa.CheckConstraint("length(value) <= 50", name=op.f("ck_tags_value_length")),
        sa.ForeignKeyConstraint(["type"], ["tag_types.name"], name=op.f("fk_tags_type_tag_types")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tags")),
        sa.UniqueConstraint("type", "value", name=op.f("uq_tags_type_value")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "archived_dependencies",
        sa.Column("child_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("parent_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["child_id"], ["features.id"], name=op.f("fk_archived_dependencies_child_id_features")
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["features.id"], name=op.f("fk_archived_dependencies_parent_id_features")
        ),
        sa.PrimaryKeyConstraint("child_id", name=op.f("pk_archived_dependencies")),
    )
    op.create_index(
        op.f("ix_archived_dependencies_parent_id"),
        "archived_dependencies",
        ["parent_id"],
        unique=False,
    )
    op.create_table(
        "feature_dependencies",
        sa.Column("child_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("parent_id", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "child_id <> parent_id", name=op.f("ck_feature_dependencies_not_itself")
        ),
        sa.ForeignKeyConstraint(
            ["child_id"], ["features.id"], name=op.f("fk_feature_dependencies_child_id_features")
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["features.id"], name=op.f("fk_feature_dependencies_parent_id_features")
        ),
        sa.PrimaryKeyConstraint("child_id", name=op.f("pk_feature_dependencies")),
    )
    op.create_index(
        op.f("ix_feature_dependencies_parent_id"),
        "feature_dependencies",
        ["parent_id"],
        unique=False,
    )
    op.create_table(
        "feature_tags",
        sa.Column("feature_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("tag_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["feature_id"], ["features.id"], name=op.f("fk_feature_tags_feature_id_features")
        ),
        sa.ForeignKeyConstraint(["tag_id"], ["tags.id"], name=op.f("fk_feature_tags_tag_id_tags")),
        sa.PrimaryKeyConstraint("feature_id", "tag_id", name=op.f("pk_feature_tags")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_feature_tags_tag_id"), "feature_tags", ["tag_id"], unique=False)
    op.create_table(
        "feedback",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("feedback_id", sa.String(length=255), nullable=False),
        sa.Column("given", sa.DateTime(), nullable=True),
        sa.Column("never_show", sa.Boolean(), nullable=False),
        sa.CheckConstraint(
            "length(feedback_id) <= 255", name=op.f("ck_feedback_feedback_id_length")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["accounts.id"], name=op.f("fk_feedback_user_id_accounts")
        ),
        sa.PrimaryKeyConstraint("user_id", "feedback_id", name=op.f("pk_feedback")),
    )
    op.create_table(
        "project_members",
        sa.Column("project_id", sa.String(length=100), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.SmallInteger(), nullable=False),
        sa.CheckConstraint("role IN (4, 5)", name=op.f("ck_project_members_project_role")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_project_members_account_id_accounts")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_members_project_id_projects")
        ),
        sa.ForeignKeyConstraint(["role"], ["roles.id"], name=op.f("fk_project_members_role_roles")),
        sa.PrimaryKeyConstraint("project_id", "account_id", name=op.f("pk_project_members")),
    )
    op.create_index(
        op.f("ix_project_members_account_id"), "project_members", ["account_id"], unique=False
    )
    op.create_table(
        "splash",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("splash_id", sa.String(length=255), nullable=False),
        sa.CheckConstraint("length(splash_id) <= 255", name=op.f("ck_splash_splash_id_length")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["accounts.id"], name=op.f("fk_splash_user_id_accounts")
        ),
        sa.PrimaryKeyConstraint("user_id", "splash_id", name=op.f("pk_splash")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("hint", sa.String(length=12), nullable=False),
        sa.Column("description", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=True),
        sa.Column("revoked_at", sa.DateTime(), nullable=True),
        sa.Column("last_seen_at", sa.DateTime(), nullable=True),
        sa.CheckConstraint("length(description) <= 255", name=op.f("ck_tokens_description_length")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_tokens_account_id_accounts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_tokens_account_id"), "tokens", ["account_id"], unique=False)
    op.create_index(
        "uq_tokens_account_id_description",
        "tokens",
        ["account_id", "description"],
        unique=True,
        sqlite_where=sa.text("revoked_at IS NULL"),
        postgresql_where=sa.text("revoked_at IS NULL"),
    )


def _fill() -> None:
    roles = sa.table("roles", sa.column("id"), sa.column("name"))
    names = ["Admin", "Editor", "Viewer", "Owner", "Member"]
    op.bulk_insert(roles, [{"id": id, "name": name} for id, name in enumerate(names, start=1)])
    environments = sa.table(
        "environments",
        *(sa.column(name) for name in ("name", "type", "sort_order", "deprecated")),
    )
    starting = ["development", "production"]
    op.bulk_insert(
        environments,
        [
            {"name": name, "type": name, "sort_order": order, "deprecated": False}
            for order, name in enumerate(starting, start=1)
        ],
    )
    projects = sa.table(
        "projects",
        *(sa.column(name) for name in ("id", "name", "mode", "default_stickiness")),
        sa.column("created_at", sa.DateTime()),
    )
    op.bulk_insert(
        projects,
        [
            {
                "id": "default",
                "name": "Default",
                "mode": "open",
                "default_stickiness": "default",
                "created_at": datetime.now(UTC).replace(tzinfo=None, microsecond=0),
            }
        ],
    )
    enabled = sa.table("project_environments", sa.column("project_id"), sa.column("environment"))
    op.bulk_insert(enabled, [{"project_id": "default", "environment": name} for name in starting])
    types = sa.table("tag_types", *(sa.column(name) for name in ("name", "description", "hue")))
    description = "Used where no other type is said"
    op.bulk_insert(types, [{"name": "simple", "description": description, "hue": 1}])
