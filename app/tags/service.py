"""Tags and their types. Putting tags on features is ``app/features/tagging.py``."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.core.db import CHUNK, chunks, db, insert_if_absent
from app.core.paging import Page, page_of
from app.tags.models import FeatureTag, Tag, TagType


class TagName(NamedTuple):
    """A tag as clients name it."""

    type: str
    value: str


def search(*, limit: int, offset: int) -> Page[Any]:
    """Rows of (type, value, number of features that carry it, archived ones included)."""
    used = sa.func.count(FeatureTag.feature_id).label("used")
    query = (
        sa.select(Tag.type, Tag.value, used)
        .outerjoin(FeatureTag, FeatureTag.tag_id == Tag.id)
        .group_by(Tag.id, Tag.type, Tag.value)
        .order_by(Tag.type, Tag.value)
    )
    return page_of(query, limit=limit, offset=offset)


def search_types(*, limit: int, offset: int) -> Page[TagType]:
    return page_of(sa.select(TagType).order_by(TagType.name), limit=limit, offset=offset)


def unknown_types(names: set[str]) -> set[str]:
    """Those of the names that are no tag type."""
    return names.difference(db.session.scalars(sa.select(TagType.name)))


def ids_of(tags: Iterable[TagName]) -> dict[TagName, int]:
    """The ids of those of the tags that exist."""
    found: dict[TagName, int] = {}
    for chunk in chunks(tags, CHUNK // 2):
        query = sa.select(Tag.id, Tag.type, Tag.value).where(
            sa.tuple_(Tag.type, Tag.value).in_(chunk)
        )
        found |= {TagName(row.type, row.value): row.id for row in db.session.execute(query)}
    return found


def ensure(tags: Iterable[TagName]) -> dict[TagName, int]:
    """The ids of the tags, of which those that are new are made."""
    wanted = sorted(set(tags))  # in one order for all, or two writers could wait for each other
    found = ids_of(wanted)
    missing = [tag for tag in wanted if tag not in found]
    if missing:
        db.session.execute(
            insert_if_absent(Tag), [{"type": tag.type, "value": tag.value} for tag in missing]
        )
        found |= ids_of(missing)
    return found
