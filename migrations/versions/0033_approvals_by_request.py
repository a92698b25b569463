"""Change requests can be about the approvals of an environment, and about the project itself.

People can have several drafts for a place.
"""

from alembic import op

revision = "0033"
down_revision = "0032"

CHANGES = "change_request_changes"
SUBJECT, ACTION = f"ck_{CHANGES}_one_subject", f"ck_{CHANGES}_action"
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
    "updateSegment",
    "deleteSegment",
    "updateApprovals",
    "removeEnvironment",
    "archiveProject",
)


def upgrade() -> None:
    values = ", ".join(f"'{action}'" for action in ACTIONS)
    with op.batch_alter_table(CHANGES, table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_constraint(op.f(SUBJECT), type_="check")
        batch.create_check_constraint(op.f(SUBJECT), "feature_id IS NULL OR segment_id IS NULL")
        batch.drop_constraint(op.f(ACTION), type_="check")
        batch.create_check_constraint(op.f(ACTION), f"action IN ({values})")
    op.drop_index(op.f(f"ix_{CHANGES}_request_id"), CHANGES)
    op.create_index(op.f(f"ix_{CHANGES}_request_id_subject"), CHANGES, ["request_id", "subject"])
    op.drop_index("uq_change_requests_draft", "change_requests")
