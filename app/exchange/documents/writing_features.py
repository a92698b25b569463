"""Writes features in bulk: ten thousand of them take seconds, one by one they would take minutes.

Everything that a feature refers to has to exist already. The plan has checked the rules.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from app.catalogue.features.models import (
    CompletedStatus,
    Dependency,
    Feature,
    FeatureLink,
    FeatureType,
)
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import FeatureState, Strategy, StrategySegment
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import FeatureTag, TagName
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import Model, chunks, db, insert_all, insert_if_absent
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.statements import OnList
from app.core.words import camel_case
from app.exchange.documents import reading_features
from app.exchange.documents.documents import STATE, Item
from app.exchange.documents.plans import Entry

CHUNK = 500


def _update_of(model: type[Model], key: Sequence[str], columns: Sequence[str]) -> sa.Update:
    """An UPDATE by key, with parameters ``of_…`` and ``new_…``: SQLAlchemy reserves plain names."""
    table = Model.metadata.tables[model.__tablename__]
    return (
        sa.update(table)
        .where(*(table.c[name] == sa.bindparam(f"of_{name}") for name in key))
        .values({name: sa.bindparam(f"new_{name}") for name in columns})
    )


_ids = OnList(lambda is_among: sa.select(Feature.name, Feature.id).where(is_among(Feature.name)))
_drop_tags = OnList(lambda is_among: sa.delete(FeatureTag).where(is_among(FeatureTag.feature_id)))
_drop_pages = OnList(
    lambda is_among: sa.delete(FeatureLink).where(is_among(FeatureLink.feature_id))
)
_drop_parents = OnList(lambda is_among: sa.delete(Dependency).where(is_among(Dependency.child_id)))
_drop_links = OnList(
    lambda is_among: sa.delete(StrategySegment).where(is_among(StrategySegment.strategy_id))
)
_drop_strategies = OnList(lambda is_among: sa.delete(Strategy).where(is_among(Strategy.id)))
_WRITTEN = ("name", "title", "disabled", "parameters", "constraints", "variants")
_set_strategy = _update_of(Strategy, ("id",), (*_WRITTEN, "sort_order"))
_set_feature = _update_of(
    Feature,
    ("id",),
    (
        *Feature.settings,
        *("completed_at", "completed_status", "completed_value"),
    ),
)
_set_state = _update_of(
    FeatureState, ("feature_id", "environment"), ("enabled", "variants", "changed_at")
)


def write(actor: Actor, entries: Sequence[Entry], progress: Callable[[int], object]) -> None:
    """Create and change features. ``progress``: called with the number in each chunk."""
    segments = dict(db.session.execute(sa.select(Segment.name, Segment.id)).all())
    names = {name for entry in entries for name in (entry.item or {}).get("tags", ())}
    tag_ids = tags.make([TagName.read(name) for name in names])
    children: list[Item] = []
    for chunk in chunks(entries, CHUNK):
        new = [entry for entry in chunk if entry.current is None]
        old = [entry for entry in chunk if entry.current is not None]
        _Chunk(new, segments, tag_ids).create(actor)
        _Chunk(old, segments, tag_ids).change(actor)
        children += [found for e in chunk if (found := direct(e))["parent"] or e.current]
        progress(len(chunk))
    _write_parents(children)  # last, since a parent can be in a later chunk


def direct(entry: Entry) -> Item:
    """The item with the fields that need no approval; the others keep their current values."""
    item, current = entry.item or {}, entry.current
    if not entry.proposed:
        return item
    before = current["environments"] if current else {}
    states = dict(item["environments"])
    for name in entry.proposed:
        states.pop(name, None)
        if name in before:
            states[name] = before[name]
    found = item | {"environments": states}
    if current is not None and any(before.get(n, STATE)["enabled"] for n in entry.proposed):
        found |= {"parent": current["parent"], "archived": current["archived"]}
    return found


class _Chunk:
    """Features that are written together."""

    def __init__(
        self, entries: Sequence[Entry], segments: dict[str, int], tag_ids: dict[TagName, int]
    ) -> None:
        self.entries = entries
        self.items = {entry.name: direct(entry) for entry in entries}
        self.segments, self.tag_ids = segments, tag_ids
        self.now = utcnow()
        self.ids: dict[str, int] = {}

    def create(self, actor: Actor) -> None:
        if not self.items:
            return
        insert_all([self._new(item) for item in self.items.values()], Feature)
        self._find_ids()
        states = [
            (name, environment, state)
            for name, item in self.items.items()
            for environment, state in item["environments"].items()
        ]
        insert_all([self._state_row(*each) for each in states], FeatureState)
        self._insert_strategies(
            (self.ids[name], environment, place, strategy)
            for name, environment, state in states
            for place, strategy in enumerate(state["strategies"])
        )
        self._insert_tags()
        self._insert_pages(self.items)
        payloads = [
            EventPayload(project=item["project"], feature_name=name, data=recorded(item))
            for name, item in self.items.items()
        ]
        events.record_all(actor, EventType.FEATURE_CREATED, payloads)

    def change(self, actor: Actor) -> None:
        changed = [e for e in self.entries if self.items[e.name] != e.current]
        if not changed:
            return
        self.entries = changed
        self.items = {entry.name: self.items[entry.name] for entry in changed}
        self._find_ids()
        connection = db.session.connection()
        rows = [
            {f"new_{key}": value for key, value in self._fields(item).items()}
            | {"of_id": self.ids[name]}
            for name, item in self.items.items()
        ]
        connection.execute(_set_feature, rows)
        self._change_states()
        _drop_tags.run([*self.ids.values()])
        self._insert_tags()
        others = [
            e.name for e in changed if self.items[e.name]["links"] != (e.current or {})["links"]
        ]
        _drop_pages.run([self.ids[name] for name in others])
        self._insert_pages(others)
        payloads = [
            EventPayload(
                project=entry.current["project"],
                feature_name=entry.name,
                pre_data=recorded(entry.current),
                data=recorded(self.items[entry.name]),
            )
            for entry in changed
            if entry.current is not None
        ]
        events.record_all(actor, EventType.FEATURE_UPDATED, payloads)

    def _find_ids(self) -> None:
        self.ids = dict(_ids.run([*self.items]))

    def _new(self, item: Item) -> dict[str, Any]:
        return {
            "name": item["name"],
            "project_id": item["project"],
            "created_at": self.now,
            "archived_at": self.now if item["archived"] else None,
            **self._fields(item),
        }

    def _fields(self, item: Item) -> dict[str, Any]:
        completed = item["completed"]
        return {
            **{name: item[camel_case(name)] for name in Feature.settings},
            "type": FeatureType(item["type"]),
            "completed_at": self.now if completed else None,
            "completed_status": CompletedStatus(completed["status"]) if completed else None,
            "completed_value": completed["value"] if completed else None,
        }

    def _state_row(self, name: str, environment: str, state: Item) -> dict[str, Any]:
        return {
            "feature_id": self.ids[name],
            "environment": environment,
            "enabled": state["enabled"],
            "variants": state["variants"],
            "changed_at": self.now,
        }

    def _insert_strategies(self, found: Iterable[tuple[int, str, int, Item]]) -> None:
        rows, links = [], []
        for feature_id, environment, place, strategy in found:
            id = str(uuid4())
            rows.append(
                {
                    "id": id,
                    "feature_id": feature_id,
                    "project_id": None,
                    "environment": environment,
                    "sort_order": place,
                    "created_at": self.now,
                    **{key: strategy[key] for key in _WRITTEN},
                }
            )
            links += self._links(id, strategy)
        insert_all(rows, Strategy)
        insert_all(links, StrategySegment)

    def _links(self, id: str, strategy: Item) -> list[dict[str, Any]]:
        return [
            {"strategy_id": id, "segment_id": self.segments[name]} for name in strategy["segments"]
        ]

    def _insert_tags(self) -> None:
        rows = [
            {"feature_id": self.ids[name], "tag_id": self.tag_ids[TagName.read(tag)]}
            for name, item in self.items.items()
            for tag in item["tags"]
        ]
        insert_all(rows, FeatureTag)

    def _insert_pages(self, names: Iterable[str]) -> None:
        """Insert the links of features to pages about them."""
        rows = [
            {"id": str(uuid4()), "feature_id": self.ids[name], "position": place, **link}
            for name in names
            for place, link in enumerate(self.items[name]["links"])
        ]
        insert_all(rows, FeatureLink)

    def _change_states(self) -> None:
        present = reading_features.strategy_ids([*self.ids.values()])
        changes = _StateChanges(self.now)
        for name, environment, before, after in self._changed_states():
            id = self.ids[name]
            changes.note_state(id, environment, after)
            ids = present.get((id, environment), [])
            changes.gone += ids[len(after["strategies"]) :]
            for place, strategy in enumerate(after["strategies"]):
                if place >= len(ids):
                    changes.new.append((id, environment, place, strategy))
                elif strategy != before["strategies"][place]:
                    links = self._links(ids[place], strategy)
                    changes.note_strategy(ids[place], place, strategy, links)
        changes.write()
        self._insert_strategies(changes.new)
        insert_all(changes.links, StrategySegment)

    def _changed_states(self) -> Iterator[tuple[str, str, Item, Item]]:
        for entry in self.entries:
            before = entry.current["environments"] if entry.current else {}
            after = self.items[entry.name]["environments"]
            for environment in sorted({*before, *after}):
                old = before.get(environment, dict(STATE))
                now = after.get(environment, dict(STATE))
                if old != now:
                    yield entry.name, environment, old, now


@dataclass(slots=True)
class _StateChanges:
    """Rows for the statements that change states and strategies.

    ``gone``: ids of strategies to delete. ``new``: strategies to insert, with feature, environment
    and place.
    """

    now: datetime
    states: list[dict[str, Any]] = field(default_factory=list)
    strategies: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    new: list[tuple[int, str, int, Item]] = field(default_factory=list)

    def note_state(self, feature_id: int, environment: str, state: Item) -> None:
        self.states.append(
            {
                "of_feature_id": feature_id,
                "of_environment": environment,
                "new_enabled": state["enabled"],
                "new_variants": state["variants"],
                "new_changed_at": self.now,
            }
        )

    def note_strategy(
        self, id: str, place: int, strategy: Item, links: list[dict[str, Any]]
    ) -> None:
        fields = {f"new_{key}": strategy[key] for key in _WRITTEN}
        self.strategies.append({**fields, "of_id": id, "new_sort_order": place})
        self.links += links

    def write(self) -> None:
        connection = db.session.connection()
        if self.states:
            absent = [
                {
                    "feature_id": row["of_feature_id"],
                    "environment": row["of_environment"],
                    "enabled": False,
                    "variants": [],
                    "changed_at": self.now,
                }
                for row in self.states
            ]
            connection.execute(insert_if_absent(FeatureState), absent)
            connection.execute(_set_state, self.states)
        _drop_links.run([*self.gone, *(row["of_id"] for row in self.strategies)])
        _drop_strategies.run(self.gone)
        if self.strategies:
            connection.execute(_set_strategy, self.strategies)


def _write_parents(items: Collection[Item]) -> None:
    """Replace the dependencies of features by those in their items."""
    names = {item["name"] for item in items}
    ids = dict(_ids.run([*names, *(i["parent"]["feature"] for i in items if i["parent"])]))
    if names:
        _drop_parents.run([ids[name] for name in names])
    rows = [
        {
            "child_id": ids[item["name"]],
            "parent_id": ids[item["parent"]["feature"]],
            "enabled": item["parent"]["enabled"],
            "variants": item["parent"]["variants"],
        }
        for item in items
        if item["parent"]
    ]
    insert_all(rows, Dependency)


def recorded(item: Item) -> Item:
    """The feature as the event log records it."""
    return {key: value for key, value in item.items() if key != "project"}
