from typing import NamedTuple, Self

from sqlalchemy import CheckConstraint, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import NEVER_REUSE_IDS, Model, at_most

HUES = 8
SIMPLE = "simple"


class TagName(NamedTuple):
    """A tag as people and clients write it."""

    type: str
    value: str

    def __str__(self) -> str:
        return f"{self.type}:{self.value}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse ``type:value``. A value alone is a simple tag."""
        type, colon, value = text.partition(":")
        return cls(type, value) if colon else cls(SIMPLE, text)


class TagType(Model):
    """A group of tags. ``hue``: number of its colour, 1 to HUES."""

    __tablename__ = "tag_types"

    name: Mapped[str] = mapped_column(String(50), primary_key=True)
    description: Mapped[str | None] = mapped_column(String(255))
    hue: Mapped[int] = mapped_column(default=1)

    __table_args__ = (
        CheckConstraint(f"hue BETWEEN 1 AND {HUES}", name="hue"),
        at_most("name", 50),
        at_most("description", 255),
    )

    recorded = ("name", "description", "hue")


class Tag(Model):
    __tablename__ = "tags"

    id: Mapped[int] = mapped_column(primary_key=True)
    type: Mapped[str] = mapped_column(ForeignKey("tag_types.name"))
    value: Mapped[str] = mapped_column(String(50))

    __table_args__ = (UniqueConstraint("type", "value"), at_most("value", 50), NEVER_REUSE_IDS)


class FeatureTag(Model):
    __tablename__ = "feature_tags"

    feature_id: Mapped[int] = mapped_column(
        ForeignKey("features.id"), primary_key=True, autoincrement=False
    )
    tag_id: Mapped[int] = mapped_column(
        ForeignKey("tags.id"), primary_key=True, autoincrement=False, index=True
    )

    __table_args__ = ({"sqlite_with_rowid": False},)
