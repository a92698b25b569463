"""Events are a chain, and are never changed: each has the digest of the one before in its own."""

import json
from datetime import UTC
from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

START = bytes(32)
TOLD = (
    "id",
    "type",
    "created_at",
    "created_by",
    "created_by_user_id",
    "token_id",
    "ip",
    "project",
    "feature_name",
    "reason",
    "batch_id",
)
SQLITE = (
    """
    CREATE TRIGGER events_stay_as_they_are BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never changed'); END
    """,
    """
    CREATE TRIGGER events_stay BEFORE DELETE ON events
    WHEN OLD.id > (SELECT pruned_to FROM event_heads)
    BEGIN SELECT RAISE(ABORT, 'events are never changed'); END
    """,
)
POSTGRESQL = (
    """
    CREATE FUNCTION keep_events() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE' AND OLD.id <= (SELECT pruned_to FROM event_heads) THEN
            RETURN OLD;
        END IF;
        RAISE EXCEPTION 'events are never changed';
    END $$
    """,
    """
    CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION keep_events()
    """,
    """
    CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION keep_events()
    """,
)

events = sa.table(
    "events",
    *(sa.column(name) for name in TOLD if name != "created_at"),
    sa.column("created_at", sa.DateTime()),
    sa.column("data", sa.JSON()),
    sa.column("pre_data", sa.JSON()),
    sa.column("digest", sa.LargeBinary()),
)


def upgrade() -> None:
    op.add_column(
        "events",
        sa.Column(
            "digest", sa.LargeBinary(length=32), nullable=False, server_default=sa.text("''")
        ),
    )
    heads = op.create_table(
        "event_heads",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("last_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("pruned_to", sa.Integer(), nullable=False),
        sa.Column("pruned_digest", sa.LargeBinary(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_heads")),
    )
    last_id, digest = _chain()
    row = {"id": 1, "last_id": last_id, "digest": digest, "pruned_to": 0, "pruned_digest": START}
    op.bulk_insert(heads, [row])
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in SQLITE if is_sqlite else POSTGRESQL:
        op.execute(statement)


def _chain() -> tuple[int, bytes]:
    """Give the events that there are their digests."""
    connection = op.get_bind()
    last_id, digest = 0, START
    change = sa.update(events).where(events.c.id == sa.bindparam("which"))
    change = change.values(digest=sa.bindparam("made"))
    while True:
        query = sa.select(events).where(events.c.id > last_id).order_by(events.c.id).limit(1_000)
        found = connection.execute(query).mappings().all()
        if not found:
            return last_id, digest
        made = []
        for event in found:
            facts = [event[name] for name in TOLD]
            facts[2] = event["created_at"].replace(tzinfo=UTC).isoformat()
            parts = (facts, event["data"], event["pre_data"])
            text = "\n".join(json.dumps(p, sort_keys=True, separators=(",", ":")) for p in parts)
            digest = sha256(digest + text.encode()).digest()
            last_id = event["id"]
            made.append({"which": last_id, "made": digest})
        connection.execute(change, made)
