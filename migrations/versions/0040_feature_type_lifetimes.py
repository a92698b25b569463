"""How long features of a type are expected to live. Until someone says so, no type has a limit."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"

TYPES = ("release", "experiment", "operational", "kill-switch", "permission")


def upgrade() -> None:
    op.create_table(
        "feature_type_lifetimes",
        sa.Column(
            "type",
            sa.Enum(
                *TYPES,
                native_enum=False,
                length=60,
                create_constraint=True,
                name=op.f("ck_feature_type_lifetimes_featuretype"),
            ),
            nullable=False,
        ),
        sa.Column("lifetime_days", sa.Integer),
        sa.PrimaryKeyConstraint("type", name=op.f("pk_feature_type_lifetimes")),
    )
