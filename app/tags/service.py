"""Tags and their types. Putting tags on features is ``app/features/tagging.py``."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import CHUNK, any_of, chunks, contains, db, insert_if_absent, rows, save
from app.core.errors import Conflict, NameExists, NotFound
from app.core.paging import Page, page_of, sorted_by
from app.events import service as events
from app.events.models import EventType
from app.tags.models import SIMPLE, FeatureTag, Tag, TagName, TagType

_by_name = sa.select(Tag.id, Tag.type, Tag.value).where(
    sa.tuple_(Tag.type, Tag.value).in_(any_of("tags"))
)


class TypeChanges(TypedDict, total=False):
    """What an update may name. A key left out is left alone; None clears."""

    description: str | None
    hue: int


class Filters(TypedDict, total=False):
    """What the list of tags can be narrowed by, and sorted."""

    text: str
    type: str
    unused: bool
    sort: str


def search(*, limit: int, offset: int, **filters: Unpack[Filters]) -> Page[Any]:
    """Rows of (type, value, number of features that carry it, archived ones included)."""
    used = sa.func.count(FeatureTag.feature_id)
    columns = {"type": Tag.type, "value": sa.func.lower(Tag.value), "used": used}
    query = (
        sa.select(Tag.type, Tag.value, used.label("used"))
        .outerjoin(FeatureTag, FeatureTag.tag_id == Tag.id)
        .group_by(Tag.id, Tag.type, Tag.value)
        .order_by(*sorted_by(filters.get("sort"), columns), Tag.type, Tag.value)
    )
    if "text" in filters:
        query = query.where(contains(filters["text"], Tag.value))
    if "type" in filters:
        query = query.where(Tag.type == filters["type"])
    if "unused" in filters:
        query = query.having(used == 0 if filters["unused"] else used > 0)
    return page_of(query, limit=limit, offset=offset)


def search_types(*, limit: int, offset: int) -> Page[TagType]:
    return page_of(sa.select(TagType).order_by(TagType.name), limit=limit, offset=offset)


def get_type(name: str, *, for_change: bool = True) -> TagType:
    """The tag type, for this transaction alone to change unless it is only looked at."""
    tag_type = db.session.get(TagType, name, with_for_update=for_change)
    if tag_type is None:
        raise NotFound(f"There is no tag type named {name!r}.")
    return tag_type


def create_type(
    actor: Actor, *, name: str, description: str | None = None, hue: int = 1
) -> TagType:
    tag_type = TagType(name=name, description=description, hue=hue)
    taken = NameExists(f"A tag type named {name!r} already exists.", field="name")
    save(tag_type, if_taken=taken)
    events.record(actor, EventType.TAG_TYPE_CREATED, data=tag_type.snapshot())
    return tag_type


def update_type(actor: Actor, tag_type: TagType, **changes: Unpack[TypeChanges]) -> None:
    before = tag_type.snapshot()
    for key, value in changes.items():
        setattr(tag_type, key, value)
    after = tag_type.snapshot()
    if after != before:
        events.record(actor, EventType.TAG_TYPE_UPDATED, pre_data=before, data=after)


@dataclass(frozen=True, slots=True)
class Remains:
    """What stands in the way of deleting a tag type, and what would go with it."""

    uses: int
    unused: list[str]


def remains(name: str) -> Remains:
    rows = db.session.execute(
        sa.select(Tag.value, sa.func.count(FeatureTag.feature_id))
        .outerjoin(FeatureTag, FeatureTag.tag_id == Tag.id)
        .where(Tag.type == name)
        .group_by(Tag.id, Tag.value)
        .order_by(Tag.value)
    ).all()
    return Remains(
        uses=sum(used for _, used in rows), unused=[value for value, used in rows if not used]
    )


def type_uses() -> dict[str, int]:
    """How many tags of each type there are, of those that have some."""
    query = sa.select(Tag.type, sa.func.count().label("tags")).group_by(Tag.type)
    return {row.type: row.tags for row in db.session.execute(query)}


def remove_type(actor: Actor, tag_type: TagType) -> None:
    """Delete a tag type that no feature carries a tag of; its unused tags go with it."""
    if tag_type.name == SIMPLE:
        raise Conflict(f"The tag type {SIMPLE!r} is the one for tags of no other type; it stays.")
    of_type = sa.select(Tag.id).where(Tag.type == tag_type.name)
    used = sa.select(sa.func.count()).where(FeatureTag.tag_id.in_(of_type))
    if count := db.session.scalar(used):
        raise Conflict(
            f"Tags of type {tag_type.name!r} are used {count} times; remove them from the "
            "features first."
        )
    db.session.execute(sa.delete(Tag).where(Tag.type == tag_type.name))
    db.session.delete(tag_type)
    events.record(actor, EventType.TAG_TYPE_DELETED, pre_data=tag_type.snapshot())


def types() -> list[TagType]:
    """All tag types by name."""
    return list(db.session.scalars(sa.select(TagType).order_by(TagType.name)))


def unknown_types(names: set[str]) -> set[str]:
    """Those of the names that are no tag type."""
    return names.difference(db.session.scalars(sa.select(TagType.name)))


def ids_of(tags: Iterable[TagName]) -> dict[TagName, int]:
    """The ids of those of the tags that exist."""
    found: dict[TagName, int] = {}
    for chunk in chunks(tags, CHUNK // 2):
        found |= {TagName(type, value): id for id, type, value in rows(_by_name, tags=chunk)}
    return found


def make(tags: Collection[TagName]) -> dict[TagName, int]:
    """Make tags that were not there, unless somebody else was quicker; their ids."""
    if not tags:
        return {}
    ordered = sorted(tags)  # in one order for all, or two writers could wait for each other
    db.session.execute(
        insert_if_absent(Tag), [{"type": tag.type, "value": tag.value} for tag in ordered]
    )
    return ids_of(ordered)
