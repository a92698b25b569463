"""The tags that the picker offers, in groups."""

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from app.catalogue.tagging import queries
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import TagName, TagType
from app.core.actor import Actor
from app.core.words import Spellings

OFFERED = 500
COMPARED = 2_000
LEAST_SIMILARITY = 80


class TagRow(NamedTuple):
    """A tag. ``on``: the number of selected features that have it; ``used``: of all features."""

    tag: TagName
    on: int
    used: int
    is_new: bool = False


class TagGroup(NamedTuple):
    name: str
    rows: list[TagRow]
    description: str | None = None


class Palette(NamedTuple):
    """``total``: how many tags match the filter, also those that are not offered."""

    groups: list[TagGroup]
    total: int

    @property
    def tags(self) -> set[TagName]:
        return {row.tag for group in self.groups for row in group.rows}


def palette(
    actor: Actor,
    feature_ids: Collection[int],
    new: Collection[TagName],
    types: Collection[TagType],
    *,
    text: str | None,
    type: str | None,
) -> Palette:
    """New tags, then tags on the features, then at most OFFERED other tags that match."""
    on = queries.tag_counts(feature_ids)
    found, total = queries.tags(actor, text=text, type=type, limit=OFFERED + len(on))
    others = [row for row in found if row.id not in on][:OFFERED]
    applied = queries.tags_with_ids(actor, on, text=text, type=type)
    by_type: defaultdict[str, list[TagRow]] = defaultdict(list)
    for row in others:
        by_type[row.type].append(TagRow(TagName(row.type, row.value), 0, row.used))
    groups = [
        TagGroup("New", [TagRow(tag, 0, 0, is_new=True) for tag in sorted(new)]),
        TagGroup(
            "On these features",
            [TagRow(TagName(row.type, row.value), on[row.id], row.used) for row in applied],
        ),
        *(TagGroup(each.name, by_type[each.name], each.description) for each in types),
    ]
    return Palette([group for group in groups if group.rows], total)


def similar(actor: Actor, tag: TagName) -> list[TagRow]:
    """Up to 3 tags of the same type with a similar value, most used first."""
    values = queries.values(tag.type, COMPARED + 1)
    if len(values) > COMPARED:
        values = queries.neighbours(tag, COMPARED // 2)
    found = [
        TagName(tag.type, value)
        for value in Spellings(values).most_similar(tag.value, least=LEAST_SIMILARITY, limit=3)
    ]
    ids = tags.ids_of(found)
    used = {row.id: row.used for row in queries.tags_with_ids(actor, ids.values())}
    rows = [TagRow(tag, 0, used[ids[tag]]) for tag in found]
    return sorted(rows, key=lambda row: -row.used)
