"""What applications report: who asks for which feature, how often, and with what result."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most
from app.core.quotas import Quota

MAX_NAME = 255
MAX_ETAG = 80


class Span(StrEnum):
    """Period that a row of counts covers, from its ``start``."""

    HOUR = "hour"
    DAY = "day"


class Application(Model):
    """An application that asks for features through an SDK, by the name that it reports."""

    __tablename__ = "applications"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(MAX_NAME), unique=True)
    strategies: Mapped[list[str]] = mapped_column(JSON(none_as_null=True))
    """Types of strategy that it can evaluate, as it reported when it started."""
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    __table_args__ = (at_most("name", MAX_NAME), NEVER_REUSE_IDS)


class Instance(Model):
    """One running process of an application, and what it has of its environment's features.

    An event is contained in what it has if that has an event with an equal or a higher id. From
    its latest poll: ``held_event`` is the last event in what it proved to have, by the ETag that it
    sent; ``sent_event`` is the last event in the response, if that was something else. It has one
    of the two. Both are NULL if unknown. ``polled_at`` is NULL if it never polled itself: others
    report it.
    """

    __tablename__ = "application_instances"

    application_id: Mapped[int] = mapped_column(
        ForeignKey("applications.id"), primary_key=True, autoincrement=False
    )
    environment: Mapped[str] = mapped_column(
        ForeignKey("environments.name"), primary_key=True, index=True
    )
    id: Mapped[str] = mapped_column(String(MAX_NAME), primary_key=True)
    sdk: Mapped[str | None] = mapped_column(String(MAX_NAME))
    """Name and version, such as ``unleash-node-sdk:6.12.1``."""
    first_seen_at: Mapped[datetime | None]
    """NULL if that was before this was recorded."""
    last_seen_at: Mapped[datetime] = mapped_column(index=True)
    token_id: Mapped[int | None]
    """The last one it used. No foreign key: a restored database may not have it."""
    polled_at: Mapped[datetime | None]
    interval: Mapped[int | None]
    """Seconds between two polls."""
    keeps_etags: Mapped[bool | None]
    """False if it polls again and again without saying what it has."""
    etag: Mapped[str | None] = mapped_column(String(MAX_ETAG))
    """Of what it proved to have."""
    held_event: Mapped[int | None]
    held_at: Mapped[datetime | None]
    """When it first proved to have that."""
    sent_event: Mapped[int | None]
    shared_at: Mapped[datetime | None]
    """When it named something older than before: several processes have this id."""

    __table_args__ = (
        at_most("id", MAX_NAME),
        at_most("sdk", MAX_NAME),
        at_most("etag", MAX_ETAG),
        {"sqlite_with_rowid": False},
    )


class _Counted:
    feature_id: Mapped[int] = mapped_column(
        ForeignKey("features.id"), primary_key=True, autoincrement=False
    )
    environment: Mapped[str] = mapped_column(ForeignKey("environments.name"), primary_key=True)
    span: Mapped[Span] = mapped_column(primary_key=True)
    start: Mapped[datetime] = mapped_column(primary_key=True)
    application_id: Mapped[int] = mapped_column(
        ForeignKey("applications.id"), primary_key=True, autoincrement=False
    )


class Usage(_Counted, Model):
    """How often an application asked for a feature, and got on or off."""

    __tablename__ = "feature_usage"

    yes: Mapped[int] = mapped_column(BigInteger)
    no: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (Index(None, "span", "start"), {"sqlite_with_rowid": False})


class VariantUsage(_Counted, Model):
    """How often an application got a variant."""

    __tablename__ = "variant_usage"

    variant: Mapped[str] = mapped_column(String(100), primary_key=True, sort_order=1)
    times: Mapped[int] = mapped_column(BigInteger, sort_order=1)

    __table_args__ = (
        Index(None, "span", "start"),
        at_most("variant", 100),
        {"sqlite_with_rowid": False},
    )


class FeatureSeen(Model):
    """When a feature was asked for in an environment; outlives the counts.

    ``first_on_at``: when an application first got “on”.
    """

    __tablename__ = "feature_seen"

    feature_id: Mapped[int] = mapped_column(
        ForeignKey("features.id"), primary_key=True, autoincrement=False
    )
    environment: Mapped[str] = mapped_column(ForeignKey("environments.name"), primary_key=True)
    first_seen_at: Mapped[datetime]
    first_on_at: Mapped[datetime | None]
    last_seen_at: Mapped[datetime]

    __table_args__ = ({"sqlite_with_rowid": False},)


class UnknownFeature(Model):
    """A name that an application asks for, but that no feature its token can read has."""

    __tablename__ = "unknown_features"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    environment: Mapped[str] = mapped_column(ForeignKey("environments.name"), primary_key=True)
    application_id: Mapped[int] = mapped_column(
        ForeignKey("applications.id"), primary_key=True, autoincrement=False
    )
    last_seen_at: Mapped[datetime] = mapped_column(index=True)

    __table_args__ = (at_most("name", 100), {"sqlite_with_rowid": False})


class TokenUse(Model):
    """An application that reads features with an SDK token."""

    __tablename__ = "sdk_token_uses"

    token_id: Mapped[int] = mapped_column(
        ForeignKey("sdk_tokens.id"), primary_key=True, autoincrement=False
    )
    application_id: Mapped[int] = mapped_column(
        ForeignKey("applications.id"), primary_key=True, autoincrement=False, index=True
    )
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime] = mapped_column(index=True)

    __table_args__ = ({"sqlite_with_rowid": False},)


APPLICATIONS = Quota(Application, "applications", "server", rows=5_000, bytes=26_000)
INSTANCES = Quota(Instance, "processes of applications", "server", rows=100_000, bytes=1_000)
TOKEN_USES = Quota(TokenUse, "applications", "SDK token", rows=100, bytes=100)
UNKNOWN_FEATURES = Quota(
    UnknownFeature, "names of features that don’t exist", "server", rows=1_000, bytes=500
)
VARIANTS = Quota(
    VariantUsage, "names of variants", "feature, environment and day", rows=100, bytes=200
)
