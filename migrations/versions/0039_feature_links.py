"""Links of features to pages about them."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    op.create_table(
        "feature_links",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("feature_id", sa.Integer, nullable=False),
        sa.Column("url", sa.String(2_000), nullable=False),
        sa.Column("title", sa.String(255)),
        sa.Column("position", sa.Integer, nullable=False),
        sa.CheckConstraint("length(url) <= 2000", name=op.f("ck_feature_links_url_length")),
        sa.CheckConstraint("length(title) <= 255", name=op.f("ck_feature_links_title_length")),
        sa.ForeignKeyConstraint(
            ["feature_id"], ["features.id"], name=op.f("fk_feature_links_feature_id_features")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feature_links")),
    )
    op.create_index(op.f("ix_feature_links_feature_id"), "feature_links", ["feature_id"])
