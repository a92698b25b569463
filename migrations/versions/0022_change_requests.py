"""Change requests: what is proposed for guarded environments, and what people say about it."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

STATES = ("Draft", "In review", "Approved", "Scheduled", "Applied", "Cancelled", "Rejected")
ACTIONS = (
    "updateEnabled",
    "addStrategy",
    "updateStrategy",
    "deleteStrategy",
    "reorderStrategy",
    "patchVariant",
    "archiveFeature",
    "addDependency",
    "deleteDependency",
    "updateSegment",
    "deleteSegment",
)
STEPS = (
    "opened",
    "edited",
    "withdrawn",
    "approved",
    "approval-withdrawn",
    "rejected",
    "commented",
    "scheduled",
    "unscheduled",
    "applied",
    "failed",
    "cancelled",
)


def upgrade() -> None:
    _create(
        "change_requests",
        sa.Column("project_id", sa.String(100), nullable=False),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column("state", _one_of("change_requests_state", STATES), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("title", sa.String(255)),
        sa.Column("description", sa.Text),
        sa.Column("created_by", sa.String(255), nullable=False),
        sa.Column("created_by_id", sa.Integer),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("scheduled_at", sa.DateTime),
        sa.Column("scheduled_by", sa.String(255)),
        sa.Column("scheduled_by_id", sa.Integer),
        sa.Column("failure", sa.Text),
        sa.Column("closed_at", sa.DateTime),
        sa.Column("required_approvals", sa.Integer),
        sa.Column("batch_id", sa.String(36)),
        sa.Column("reverses_id", sa.Integer),
        sa.CheckConstraint("state <> 'Approved'", name=op.f("ck_change_requests_stored_state")),
        sa.CheckConstraint("length(title) <= 255", name=op.f("ck_change_requests_title_length")),
        to={
            "project_id": "projects.id",
            "environment": "environments.name",
            "created_by_id": "accounts.id",
            "scheduled_by_id": "accounts.id",
            "reverses_id": "change_requests.id",
        },
        indexes=(
            ["created_by_id"],
            ["environment"],
            ["project_id", "state", "id"],
            ["state", "scheduled_at"],
        ),
    )
    op.create_index(
        "uq_change_requests_draft",
        "change_requests",
        ["created_by_id", "project_id", "environment"],
        unique=True,
        sqlite_where=sa.text("state = 'Draft'"),
        postgresql_where=sa.text("state = 'Draft'"),
    )
    _create(
        "change_request_changes",
        sa.Column("request_id", sa.Integer, nullable=False),
        sa.Column("action", _one_of("change_request_changes_action", ACTIONS), nullable=False),
        sa.Column("feature_id", sa.Integer),
        sa.Column("subject", sa.String(100), nullable=False),
        sa.Column("segment_id", sa.Integer),
        sa.Column("payload", sa.JSON(none_as_null=True), nullable=False),
        *(sa.Column(name, sa.JSON(none_as_null=True)) for name in ("base", "before", "after")),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.CheckConstraint(
            "(feature_id IS NULL) <> (segment_id IS NULL)",
            name=op.f("ck_change_request_changes_one_subject"),
        ),
        sa.CheckConstraint(
            "length(subject) <= 100", name=op.f("ck_change_request_changes_subject_length")
        ),
        to={"request_id": "change_requests.id", "feature_id": "features.id"},
        indexes=(["feature_id"], ["request_id"]),
    )
    _create_pairs("change_request_approvals", sa.Column("created_at", sa.DateTime, nullable=False))
    _create_pairs("change_request_reviewers")
    _create(
        "change_request_steps",
        sa.Column("request_id", sa.Integer, nullable=False),
        sa.Column("kind", _one_of("change_request_steps_stepkind", STEPS), nullable=False),
        sa.Column("created_by", sa.String(255), nullable=False),
        sa.Column("created_by_id", sa.Integer),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("text", sa.Text),
        to={"request_id": "change_requests.id", "created_by_id": "accounts.id"},
        indexes=(["request_id"],),
    )


def _create(
    table: str, *parts: sa.schema.SchemaItem, to: dict[str, str], indexes: tuple[list[str], ...]
) -> None:
    """A table whose ids are never used again, with foreign keys by column."""
    op.create_table(
        table,
        sa.Column("id", sa.Integer, nullable=False),
        *parts,
        *_keys(table, to),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sqlite_autoincrement=True,
    )
    for columns in indexes:
        op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, columns)


def _create_pairs(table: str, *columns: sa.Column[object]) -> None:
    """A table of accounts that a change request has."""
    key = ("request_id", "account_id")
    op.create_table(
        table,
        *(sa.Column(name, sa.Integer, autoincrement=False, nullable=False) for name in key),
        *columns,
        *_keys(table, {"request_id": "change_requests.id", "account_id": "accounts.id"}),
        sa.PrimaryKeyConstraint(*key, name=op.f(f"pk_{table}")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f(f"ix_{table}_account_id"), table, ["account_id"])


def _keys(table: str, to: dict[str, str]) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint(
            [column], [other], name=op.f(f"fk_{table}_{column}_{other.split('.')[0]}")
        )
        for column, other in to.items()
    ]


def _one_of(name: str, values: tuple[str, ...]) -> sa.Enum:
    return sa.Enum(
        *values, name=op.f(f"ck_{name}"), native_enum=False, create_constraint=True, length=60
    )
