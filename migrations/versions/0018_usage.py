"""What applications report: their instances, and how often they ask for features."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "applications",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("strategies", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.CheckConstraint("length(name) <= 255", name=op.f("ck_applications_name_length")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_applications")),
        sa.UniqueConstraint("name", name=op.f("uq_applications_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "application_instances",
        sa.Column("application_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column("id", sa.String(255), nullable=False),
        sa.Column("sdk", sa.String(255)),
        sa.Column("last_seen_at", sa.DateTime, nullable=False),
        sa.CheckConstraint("length(id) <= 255", name=op.f("ck_application_instances_id_length")),
        sa.CheckConstraint("length(sdk) <= 255", name=op.f("ck_application_instances_sdk_length")),
        sa.PrimaryKeyConstraint(
            "application_id", "environment", "id", name=op.f("pk_application_instances")
        ),
        _to("application_instances", "application_id", "applications", "id"),
        _to("application_instances", "environment", "environments", "name"),
        sqlite_with_rowid=False,
    )
    for column in ("environment", "last_seen_at"):
        name = op.f(f"ix_application_instances_{column}")
        op.create_index(name, "application_instances", [column])
    _counts("feature_usage", ("yes", "no"))
    _counts("variant_usage", ("times",), also=sa.Column("variant", sa.String(100), nullable=False))
    op.create_table(
        "feature_seen",
        sa.Column("feature_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column("last_seen_at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("feature_id", "environment", name=op.f("pk_feature_seen")),
        _to("feature_seen", "feature_id", "features", "id"),
        _to("feature_seen", "environment", "environments", "name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "unknown_features",
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column("application_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("last_seen_at", sa.DateTime, nullable=False),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_unknown_features_name_length")),
        sa.PrimaryKeyConstraint(
            "name", "environment", "application_id", name=op.f("pk_unknown_features")
        ),
        _to("unknown_features", "environment", "environments", "name"),
        _to("unknown_features", "application_id", "applications", "id"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_unknown_features_last_seen_at"), "unknown_features", ["last_seen_at"])


def _counts(table: str, numbers: Sequence[str], also: sa.Column | None = None) -> None:
    own = [] if also is None else [also]
    key = ["feature_id", "environment", "span", "start", "application_id"]
    checks = [
        sa.CheckConstraint(
            f"length({column.name}) <= 100", name=op.f(f"ck_{table}_{column.name}_length")
        )
        for column in own
    ]
    op.create_table(
        table,
        sa.Column("feature_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column(
            "span",
            sa.Enum(
                "hour",
                "day",
                native_enum=False,
                length=60,
                create_constraint=True,
                name=op.f(f"ck_{table}_span"),
            ),
            nullable=False,
        ),
        sa.Column("start", sa.DateTime, nullable=False),
        sa.Column("application_id", sa.Integer, autoincrement=False, nullable=False),
        *own,
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in numbers),
        *checks,
        sa.PrimaryKeyConstraint(*key, *(column.name for column in own), name=op.f(f"pk_{table}")),
        _to(table, "feature_id", "features", "id"),
        _to(table, "environment", "environments", "name"),
        _to(table, "application_id", "applications", "id"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f(f"ix_{table}_span_start"), table, ["span", "start"])


def _to(table: str, column: str, other: str, key: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.{key}"], name=name)
