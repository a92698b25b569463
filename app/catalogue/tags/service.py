"""Tags and tag types. app/catalogue/tagging puts tags on features."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from app.catalogue.tags import queries
from app.catalogue.tags.models import SIMPLE, FeatureTag, Tag, TagName, TagType
from app.core.actor import Actor
from app.core.connections import can_write
from app.core.db import by_id, contains, db, insert_if_absent, save
from app.core.errors import Conflict, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of, sorted_by
from app.core.statements import Condition, OnList
from app.core.words import counted


def _named(is_among: Condition) -> sa.Select[*tuple[Any, ...]]:
    """Tags with one of the types and one of the values, so also some that were not named."""
    return sa.select(Tag.id, Tag.type, Tag.value).where(
        is_among(Tag.type, "types"), is_among(Tag.value)
    )


_by_name = OnList(_named, "types")
_by_name_kept = OnList(
    lambda is_among: _named(is_among).with_for_update(read=True, key_share=True), "types"
)
# In the same order for every transaction, or two of them could deadlock.
_by_name_locked = OnList(
    lambda is_among: _named(is_among).order_by(Tag.id).with_for_update(), "types"
)


class TypeChanges(TypedDict, total=False):
    """Fields of an update. Omitted fields keep their value; None clears one."""

    description: str | None
    hue: int


class Filters(TypedDict, total=False):
    """Filters and order of a list of tags."""

    text: str
    type: str
    unused: bool
    sort: str


def search(actor: Actor, *, limit: int, offset: int, **filters: Unpack[Filters]) -> Page[Any]:
    """Rows of (id, type, value, used).

    ``used``: how many features have the tag, active or archived, if the actor can see them.
    """
    used = queries.use_count(actor)
    columns = {"type": Tag.type, "value": sa.func.lower(Tag.value), "used": used}
    query = sa.select(Tag.id, Tag.type, Tag.value, used).order_by(
        *sorted_by(filters.get("sort"), columns), Tag.type, Tag.value
    )
    if "text" in filters:
        query = query.where(contains(filters["text"], Tag.value))
    if "type" in filters:
        query = query.where(Tag.type == filters["type"])
    if "unused" in filters:
        query = query.where(used == 0 if filters["unused"] else used > 0)
    return page_of(query, limit=limit, offset=offset)


def get(name: TagName) -> TagName:
    """The tag, if it exists."""
    if not ids_of([name]):
        raise NotFound(f"There is no tag {name}.")
    return name


def create(actor: Actor, name: TagName) -> None:
    """Create a tag that no feature has yet."""
    get_type(name.type, for_change=False)
    if ids_of([name]):
        raise NameExists(f"The tag {name} already exists.", field="value")
    make([name])
    events.record(actor, EventType.TAG_CREATED, data=name._asdict())


def search_types(*, limit: int, offset: int) -> Page[TagType]:
    return page_of(sa.select(TagType).order_by(TagType.name), limit=limit, offset=offset)


def get_type(name: str, *, for_change: bool = True) -> TagType:
    """The tag type, with ``for_change`` locked until the transaction ends."""
    tag_type = by_id(TagType, name, for_change=for_change)
    if tag_type is None:
        raise NotFound(f"There is no tag type named {name!r}.")
    return tag_type


def create_type(
    actor: Actor, *, name: str, description: str | None = None, hue: int = 1
) -> TagType:
    tag_type = TagType(name=name, description=description, hue=hue)
    save(tag_type, if_taken=_type_taken(name))
    events.record(actor, EventType.TAG_TYPE_CREATED, data=tag_type.snapshot())
    return tag_type


def check_type_name(name: str) -> None:
    """Refuse a name that a tag type has."""
    if by_id(TagType, name) is not None:
        raise _type_taken(name)


def _type_taken(name: str) -> NameExists:
    return NameExists(f"A tag type named {name!r} already exists.", field="name")


def update_type(actor: Actor, tag_type: TagType, **changes: Unpack[TypeChanges]) -> bool:
    """Change a tag type from ``get_type``. Return whether anything changed."""
    before = tag_type.snapshot()
    for key, value in changes.items():
        setattr(tag_type, key, value)
    after = tag_type.snapshot()
    if after != before:
        events.record(actor, EventType.TAG_TYPE_UPDATED, pre_data=before, data=after)
    return after != before


@dataclass(frozen=True, slots=True)
class DeletionImpact:
    """What prevents the deletion of a tag type, and which tags would be deleted with it.

    ``used``: tags on features that the actor can see, with the number of those features.
    ``used_elsewhere``: whether features that the actor cannot see have such tags.
    """

    used: dict[str, int]
    used_elsewhere: bool
    unused: list[str]

    @property
    def uses(self) -> int:
        return sum(self.used.values())

    @property
    def is_possible(self) -> bool:
        return not self.used and not self.used_elsewhere

    @property
    def obstacle(self) -> str:
        """Why the type cannot be deleted, and what to do about it."""
        if not self.used:
            return "Features that you cannot see use its tags. Ask an Admin."
        uses = counted(self.uses, "time")
        too = " Features that you cannot see use its tags too." if self.used_elsewhere else ""
        return f"Its tags are used {uses}. Remove them from all features first.{too}"


def deletion_impact(actor: Actor, name: str) -> DeletionImpact:
    uses = queries.visible_uses(actor)
    count = sa.func.count
    query = (
        sa.select(Tag.value, count(FeatureTag.feature_id), count(uses.c.feature_id))
        .outerjoin(FeatureTag, FeatureTag.tag_id == Tag.id)
        .outerjoin(
            uses, sa.and_(uses.c.tag_id == Tag.id, uses.c.feature_id == FeatureTag.feature_id)
        )
        .where(Tag.type == name)
        .group_by(Tag.id, Tag.value)
        .order_by(Tag.value)
    )
    found = db.session.execute(query).all()
    return DeletionImpact(
        used={value: visible for value, _, visible in found if visible},
        used_elsewhere=any(total > visible for _, total, visible in found),
        unused=[value for value, total, _ in found if not total],
    )


def type_uses() -> dict[str, int]:
    """How many tags each type has, without zeros."""
    query = sa.select(Tag.type, sa.func.count().label("tags")).group_by(Tag.type)
    return {row.type: row.tags for row in db.session.execute(query)}


def remove_type(actor: Actor, tag_type: TagType) -> None:
    """Delete a tag type with its tags. Refuse if a feature has one of them."""
    if tag_type.name == SIMPLE:
        raise Conflict(f"The tag type {SIMPLE!r} is the default type and cannot be deleted.")
    impact = deletion_impact(actor, tag_type.name)
    if not impact.is_possible:
        raise Conflict(f"The tag type {tag_type.name!r} cannot be deleted. {impact.obstacle}")
    db.session.execute(sa.delete(Tag).where(Tag.type == tag_type.name))
    db.session.delete(tag_type)
    events.record(actor, EventType.TAG_TYPE_DELETED, pre_data=tag_type.snapshot())


def types() -> list[TagType]:
    """All tag types by name."""
    return list(db.session.scalars(sa.select(TagType).order_by(TagType.name)))


def hues() -> dict[str, int]:
    """The number of the colour of each tag type."""
    return {type.name: type.hue for type in types()}


def unknown_types(names: set[str]) -> set[str]:
    """Names among these that no tag type has."""
    return names.difference(db.session.scalars(sa.select(TagType.name)))


def ids_of(
    tags: Iterable[TagName], *, keep: bool = False, lock: bool = False
) -> dict[TagName, int]:
    """The ids of the tags that exist.

    ``keep``: lock them against renaming and deletion until the transaction ends. ``lock``: also
    against use by others.
    """
    statement = _by_name
    if (lock or keep) and can_write():
        statement = _by_name_locked if lock else _by_name_kept
    wanted = {*tags}
    types, values = {tag.type for tag in wanted}, {tag.value for tag in wanted}
    found = statement.run(values, types=types) if wanted else ()
    return {name: row.id for row in found if (name := TagName(row.type, row.value)) in wanted}


def make(tags: Collection[TagName]) -> dict[TagName, int]:
    """Create the tags that don't exist yet. Return the ids of all."""
    if not tags:
        return {}
    ordered = sorted(tags)  # the same order for every writer, or two could deadlock
    db.session.execute(
        insert_if_absent(Tag), [{"type": tag.type, "value": tag.value} for tag in ordered]
    )
    return ids_of(ordered, keep=True)
