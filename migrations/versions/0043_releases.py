"""Releases in steps, and the templates that they start from, with one for every instance."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"

STATES = ("draft", "running", "held", "done", "stopped", "left")
STAFF: dict[str, Any] = {
    "contextName": "userId",
    "operator": "STR_ENDS_WITH",
    "inverted": False,
    "caseInsensitive": False,
    "values": ["@example.com"],
}
HOUR = 3600
CHANGES = "change_request_changes"
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
    "updateImpressionData",
    "addReleasePlan",
    "startMilestone",
    "updateSegment",
    "deleteSegment",
    "updateApprovals",
    "removeEnvironment",
    "archiveProject",
)
CAREFUL = "6c3f7f52-5d0e-4b47-9d0a-2f4a3d6b7c01"


def upgrade() -> None:
    json = sa.JSON(none_as_null=True)
    templates = op.create_table(
        "release_templates",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("description", sa.String(255)),
        sa.Column("project_id", sa.String(100)),
        sa.Column("steps", json, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("created_by_id", sa.Integer),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_release_templates_name_length")),
        sa.CheckConstraint(
            "length(description) <= 255", name=op.f("ck_release_templates_description_length")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release_templates")),
        sa.UniqueConstraint("name", name=op.f("uq_release_templates_name")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_release_templates_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"],
            ["accounts.id"],
            name=op.f("fk_release_templates_created_by_id_accounts"),
        ),
    )
    op.create_index(op.f("ix_release_templates_project_id"), "release_templates", ["project_id"])
    op.create_table(
        "releases",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("feature_id", sa.Integer, nullable=False),
        sa.Column("environment", sa.String(100), nullable=False),
        sa.Column("template_id", sa.String(36)),
        sa.Column("template", sa.String(100)),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("description", sa.String(255)),
        sa.Column("state", sa.String(60), nullable=False),
        sa.Column("steps", json, nullable=False),
        sa.Column("position", sa.Integer),
        sa.Column("next_at", sa.DateTime),
        sa.Column("is_automatic", sa.Boolean, nullable=False),
        sa.Column("restores", sa.Boolean, nullable=False),
        sa.Column("former", json, nullable=False),
        sa.Column("was_on", sa.Boolean, nullable=False),
        sa.Column("warrant", json),
        sa.Column("request_id", sa.Integer),
        sa.Column("holds", json, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("created_by", sa.String(255), nullable=False),
        sa.Column("created_by_id", sa.Integer),
        sa.Column("started_by", sa.String(255)),
        sa.Column("started_by_id", sa.Integer),
        sa.Column("ended_at", sa.DateTime),
        sa.Column("ended_by", sa.String(255)),
        sa.Column("ended_by_id", sa.Integer),
        sa.Column("reason", sa.Text),
        sa.CheckConstraint(
            f"state IN ({', '.join(map(repr, STATES))})", name=op.f("ck_releases_releasestate")
        ),
        sa.CheckConstraint("length(name) <= 100", name=op.f("ck_releases_name_length")),
        sa.CheckConstraint(
            "length(description) <= 255", name=op.f("ck_releases_description_length")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_releases")),
        sa.ForeignKeyConstraint(
            ["feature_id"], ["features.id"], name=op.f("fk_releases_feature_id_features")
        ),
        sa.ForeignKeyConstraint(
            ["environment"],
            ["environments.name"],
            name=op.f("fk_releases_environment_environments"),
        ),
        *(
            sa.ForeignKeyConstraint(
                [column], ["accounts.id"], name=op.f(f"fk_releases_{column}_accounts")
            )
            for column in ("created_by_id", "started_by_id", "ended_by_id")
        ),
    )
    for columns in (
        ["environment"],
        ["template_id"],
        ["is_automatic", "next_at"],
        ["state", "ended_at"],
    ):
        op.create_index(op.f(f"ix_releases_{'_'.join(columns)}"), "releases", columns)
    is_open = sa.text("ended_at IS NULL")
    op.create_index(
        "uq_releases_open",
        "releases",
        ["feature_id", "environment"],
        unique=True,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    op.bulk_insert(templates, [_careful()])
    actions = ", ".join(map(repr, ACTIONS))
    with op.batch_alter_table(CHANGES, table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_constraint(op.f(f"ck_{CHANGES}_action"), type_="check")
        batch.create_check_constraint(op.f(f"ck_{CHANGES}_action"), f"action IN ({actions})")


def _careful() -> dict[str, Any]:
    staff, steps = _strategy(0, title="Staff", constraints=[STAFF]), []
    shares = (("Staff", None, 4), ("5%", 5, 24), ("25%", 25, 24), ("50%", 50, 24))
    for place, (name, share, hours) in enumerate(shares):
        rollout = [] if share is None else [_strategy(place, share=share)]
        steps.append(_step(place, name, [staff | {"id": _id(f"a{place}")}, *rollout], hours))
    everyone = _strategy(len(shares), share=100)
    steps.append(_step(len(shares), "Everyone", [everyone], None))
    return {
        "id": CAREFUL,
        "name": "Careful",
        "description": "Staff first, then everyone in four steps, a day each.",
        "project_id": None,
        "steps": steps,
        "created_at": datetime.now(UTC).replace(tzinfo=None, microsecond=0),
        "created_by_id": None,
    }


def _step(
    place: int, name: str, strategies: list[dict[str, Any]], hours: int | None
) -> dict[str, Any]:
    by_hand = name == "50%" or hours is None
    return {
        "id": _id(f"b{place}"),
        "name": name,
        "strategies": strategies,
        "seconds": None if hours is None else hours * HOUR,
        "by_hand": by_hand,
    }


def _strategy(
    place: int,
    *,
    title: str | None = None,
    constraints: list[dict[str, Any]] | None = None,
    share: int = 100,
) -> dict[str, Any]:
    return {
        "id": _id(f"c{place}"),
        "name": "flexibleRollout",
        "title": title,
        "disabled": False,
        "parameters": {"rollout": str(share)},
        "constraints": constraints or [],
        "segments": [],
        "variants": [],
    }


def _id(end: str) -> str:
    return f"{CAREFUL[:-2]}{end}"
