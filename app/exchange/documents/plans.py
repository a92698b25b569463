"""Plans: how each thing of a document differs from this instance, and what to do about it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from itertools import zip_longest
from typing import Any, NamedTuple

from app.exchange.documents.documents import Document, Fault, Item, Kind, digest
from app.exchange.documents.renaming import fitting_name


class Status(StrEnum):
    """How a thing of the document compares with this instance."""

    NEW = "new"
    SAME = "same"
    DIFFERENT = "different"
    IMPOSSIBLE = "impossible"


class Choice(StrEnum):
    """What to do with a thing."""

    TAKE = "take"
    """Create it, or change it to what the document says."""
    KEEP = "keep"
    """Leave it here unchanged."""
    LEAVE_OUT = "leave-out"
    """Don’t create it."""
    SWITCHED_OFF = "switched-off"
    """Take a feature without its faulty parts, switched off where it had them."""
    RENAME = "rename"
    """Take it under another name."""


class Side(StrEnum):
    """Where a thing has changed since it was last imported."""

    HERE = "here"
    THERE = "there"
    BOTH = "both"


class Difference(NamedTuple):
    """A field that differs: what it is here, and what the document says."""

    path: str
    here: Any
    there: Any


@dataclass(slots=True)
class Entry:
    """A thing of the document. ``item``: what it will be, or None if nothing is written.

    ``name``: its name here. ``was``: its name in the source. ``there``: what the source says, even
    if it isn’t taken. ``proposed``: environments whose changes go into a change request.
    """

    kind: Kind
    name: str
    was: str
    status: Status
    choice: Choice
    choices: tuple[Choice, ...] = ()
    item: Item | None = None
    current: Item | None = None
    there: Item | None = None
    faults: list[Fault] = field(default_factory=list)
    proposed: list[str] = field(default_factory=list)
    since: Side | None = None

    @property
    def key(self) -> str:
        """The key of decisions about it."""
        return f"{self.kind}:{self.was}"

    @property
    def is_written(self) -> bool:
        return self.item is not None

    @property
    def new_name(self) -> str:
        """A possible name, to replace one that isn’t."""
        return fitting_name(self.was)

    @property
    def differences(self) -> list[Difference]:
        if self.current is None or self.there is None:
            return []
        return list(_differences(self.current, self.item or self.there))


@dataclass(frozen=True, slots=True)
class Wanted:
    """The content of a source. ``faults``: of things that can’t be read, by kind and name.

    ``fields``: the fields that the source knows of a kind or a thing, if not all; others are never
    changed. ``environments``: those whose states it knows; None for all. ``is_exact``: whether
    parameters that a strategy lacks stay missing, or get their defaults.
    """

    document: Document
    faults: Mapping[tuple[Kind, str], list[Fault]] = field(default_factory=dict)
    fields: Mapping[Kind | tuple[Kind, str], Collection[str]] = field(default_factory=dict)
    environments: Collection[str] | None = None
    is_exact: bool = False
    lost: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The projects of things that can’t be read, by the keys of entries."""
    base: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """After the last import from there, by the keys of entries: (digest there, digest here)."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """What to do if there is a choice. ``by_key``: a choice, or ``rename:NAME``.

    ``different``: for things that exist here and differ. ``left_out``: whole kinds.
    """

    different: Choice
    by_key: Mapping[str, str] = field(default_factory=dict)
    left_out: Collection[Kind] = ()

    def of(self, key: str, default: Choice, choices: Collection[Choice]) -> Choice:
        chosen = self.by_key.get(key, "").partition(":")[0]
        return Choice(chosen) if chosen in choices else default

    def new_name(self, key: str) -> str | None:
        chosen, _, name = self.by_key.get(key, "").partition(":")
        return name if chosen == Choice.RENAME and name else None


@dataclass(slots=True)
class Plan:
    """Entries for everything in a document, in the order of writing."""

    entries: list[Entry]

    @property
    def written(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.is_written]

    @property
    def reported(self) -> list[Entry]:
        """Entries with changes or faults."""
        return [entry for entry in self.entries if entry.is_written or entry.faults]

    @property
    def is_impossible(self) -> bool:
        """Whether it has any step that can’t be done."""
        return any(entry.status is Status.IMPOSSIBLE for entry in self.entries)

    @property
    def digest(self) -> str:
        """Equal for plans with equal effects."""
        result = sha256()
        for entry in self.entries:
            parts = entry.key, entry.name, entry.status, entry.choice, *entry.proposed
            result.update("\0".join(parts).encode())
            if entry.is_written:
                result.update(f"\0{digest(entry.item)}{digest(entry.current)}".encode())
            result.update(b"\n")
        return result.hexdigest()

    def counts(self) -> dict[Kind, Counter[Status]]:
        found: defaultdict[Kind, Counter[Status]] = defaultdict(Counter)
        for entry in self.entries:
            found[entry.kind][entry.status] += 1
        return found


def impossible(entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.status is Status.IMPOSSIBLE]


def _differences(here: Any, there: Any, path: str = "") -> Iterator[Difference]:
    """The innermost fields that differ. Lists are compared as a whole, but steps one by one."""
    if isinstance(here, dict) and isinstance(there, dict):
        for key in sorted({*here, *there}):
            at = f"{path}/{key}".lstrip("/")
            yield from _differences(here.get(key), there.get(key), at)
    elif _is_of_steps(path) and isinstance(here, list) and isinstance(there, list):
        for place, (one, other) in enumerate(zip_longest(here, there)):
            yield from _differences(one, other, f"{path}/{place}")
    elif here != there:
        yield Difference(path, here, there)


def _is_of_steps(path: str) -> bool:
    """Whether this is the list of the steps of a template, or of the strategies of one."""
    return path.startswith("milestones") and path.endswith(("milestones", "strategies"))
