"""Reading the tags that the picker offers."""

from collections import Counter
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from app.catalogue.tags.models import FeatureTag, Tag, TagName
from app.catalogue.tags.queries import use_count
from app.core.actor import Actor
from app.core.db import chunks, contains, db
from app.core.paging import page_of


def tag_counts(feature_ids: Collection[int]) -> dict[int, int]:
    """How many of the features have each tag, by the tag's id; tags on none are left out."""
    counts: Counter[int] = Counter()
    for chunk in chunks(feature_ids):
        query = (
            sa.select(FeatureTag.tag_id, sa.func.count())
            .where(FeatureTag.feature_id.in_(chunk))
            .group_by(FeatureTag.tag_id)
        )
        for tag_id, count in db.session.execute(query):
            counts[tag_id] += count
    return counts


def tags(actor: Actor, *, text: str | None, type: str | None, limit: int) -> tuple[list[Any], int]:
    """Rows of (id, type, value, used) of the first tags that match, and the number of all.

    ``used`` counts the features that the actor can see.
    """
    page = page_of(_matching(actor, text, type), limit=limit, offset=0)
    return page.items, page.total


def tags_with_ids(
    actor: Actor, ids: Collection[int], *, text: str | None = None, type: str | None = None
) -> list[Any]:
    """Rows like those of ``tags``, for the tags among the ids that match."""
    query = _matching(actor, text, type)
    found: list[Any] = []
    for chunk in chunks(ids):
        found += db.session.execute(query.where(Tag.id.in_(chunk)))
    return sorted(found, key=lambda row: (row.type, row.value))


def values(type: str, limit: int) -> list[str]:
    """Values of tags of the type, in alphabetical order."""
    return list(db.session.scalars(_values(type).order_by(Tag.value).limit(limit)))


def neighbours(tag: TagName, limit: int) -> list[str]:
    """Values of tags of the same type just before and after in alphabetical order."""
    query = _values(tag.type)
    before = query.where(Tag.value < tag.value).order_by(Tag.value.desc()).limit(limit)
    after = query.where(Tag.value > tag.value).order_by(Tag.value).limit(limit)
    return [*db.session.scalars(before), *db.session.scalars(after)]


def _values(type: str) -> sa.Select[str]:
    return sa.select(Tag.value).where(Tag.type == type)


def _matching(actor: Actor, text: str | None, type: str | None) -> sa.Select[*tuple[Any, ...]]:
    query = sa.select(Tag.id, Tag.type, Tag.value, use_count(actor)).order_by(Tag.type, Tag.value)
    if text is not None:
        query = query.where(contains(text, Tag.value, Tag.type + ":" + Tag.value))
    if type is not None:
        query = query.where(Tag.type == type)
    return query
