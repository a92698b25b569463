"""Imports from other servers: read, planned, decided, applied, undone."""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.connections import lift_time_limits
from app.core.db import by_id, db
from app.core.errors import Conflict, Invalid, NotFound
from app.core.events import service as events
from app.core.words import counted, spoken
from app.exchange.documents import reading, words, writing_features
from app.exchange.documents import service as configuration
from app.exchange.documents.documents import Fault, Item, Kind, digest, empty
from app.exchange.documents.plans import Choice, Decisions, Entry, Plan, Status, Wanted
from app.exchange.documents.service import Prepared
from app.exchange.unleash import choosing
from app.exchange.unleash.choosing import Chosen, Unknown
from app.exchange.unleash.models import MAX_SOURCE, RETENTION, Import, ImportState

LISTED = 1_000
"""How many things that need attention a plan shows at most; the report has all of them."""
Progress = Callable[[str, int, int], object]


@dataclass(frozen=True, slots=True)
class Shown:
    """A plan as people see it.

    ``digest``: of exactly this plan. ``counts``: by kind and status. ``attention``: entries that
    differ, can’t be imported, or only with conditions. ``number``: how many things are written.
    ``names``: of everything, by kind and status.

    ``there``: how many features were read, also those that were not chosen. ``parents``: those that
    come because chosen ones depend on them. ``unknown``: chosen names that are not there.
    """

    digest: str
    number: int
    counts: dict[str, dict[str, int]]
    attention: list[dict[str, Any]]
    notes: list[str]
    proposed: str
    names: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    there: int = 0
    parents: list[str] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    of: list[Any] = field(default_factory=list)
    """The key of the cached plan: the last event when it was made, and the decisions."""

    def count(self, status: Status) -> int:
        return sum(found.get(status, 0) for found in self.counts.values())

    def entries(self, status: Status) -> list[dict[str, Any]]:
        return [entry for entry in self.attention if entry["status"] == status]

    @property
    def total(self) -> int:
        return sum(map(self.count, Status))


def begin(actor: Actor, origin: str) -> Import:
    """Create an import that is being read. Delete plans older than ``RETENTION``."""
    old = sa.delete(Import).where(
        Import.state.in_([ImportState.READING, ImportState.PLANNED, ImportState.FAILED]),
        Import.created_at < utcnow() - RETENTION,
    )
    db.session.execute(old)
    found = Import(
        source=origin[:MAX_SOURCE],
        origin=origin[:MAX_SOURCE],
        state=ImportState.READING,
        created_by=actor.username,
        created_by_id=actor.id,
        decisions={},
    )
    db.session.add(found)
    db.session.flush()
    return found


def store(found: Import, source: str, wanted: Wanted, notes: list[str]) -> None:
    """Keep what was read, so that it can be planned, decided and applied."""
    found.source, found.state = source[:MAX_SOURCE], ImportState.PLANNED
    found.content = _packed(_as_json(wanted) | {"notes": notes})
    found.progress = None
    db.session.flush()


def fail(found: Import, why: str) -> None:
    """Note that it failed. What was read stays, so that it can be tried again."""
    found.failure, found.progress = why, None
    found.state = ImportState.FAILED if found.content is None else ImportState.PLANNED
    db.session.flush()


def list_all() -> list[Import]:
    """All imports, newest first."""
    return list(db.session.scalars(sa.select(Import).order_by(Import.id.desc())))


def get(id: int, *, for_change: bool = False) -> Import:
    found = by_id(Import, id, for_change=for_change)
    if found is None:
        raise NotFound(f"There is no import {id}. Plans are kept for {RETENTION.days} days.")
    return found


def decide(
    found: Import,
    *,
    by_key: Mapping[str, str] | None = None,
    different: Choice | None = None,
    left_out: list[Kind] | None = None,
    chosen: Chosen | None = None,
) -> None:
    """Store decisions. Those that are not given stay. ``chosen``: empty to let everything come.

    Raises:
        Invalid: when nothing that was read fits ``chosen``.

    """
    _require_plan(found)
    if chosen is not None:
        choosing.check(_content(found)[0], chosen)
    decided = dict(found.decisions)
    if by_key is not None:
        decided["byKey"] = {**decided.get("byKey", {}), **by_key}
    if different is not None:
        decided["different"] = different.value
    if left_out is not None:
        decided["leftOut"] = [kind.value for kind in left_out]
    if chosen is not None:
        decided["chosen"] = chosen
    found.decisions = decided
    db.session.flush()


def shown(found: Import) -> Shown:
    """The plan as people see it: the cached one, unless an event or a decision came after it."""
    state = [events.end().last_id, found.decisions]
    if found.shown is not None:
        kept = Shown(**_unpacked(found.shown))
        if kept.of == state:
            return kept
    source = _source(found)
    made = configuration.plan(source.wanted, _decisions(found))
    return replace(_shown(made, source, source_name(found)), of=state)


def keep(found: Import, plan: Shown) -> None:
    """Cache the plan: for thousands of features it takes seconds to make."""
    found.shown = _packed(asdict(plan))
    db.session.flush()


def prepare(found: Import) -> Prepared:
    """The plan, for ``apply``."""
    return configuration.prepare(_source(found).wanted, _decisions(found))


def source_name(found: Import) -> str:
    """The name of the source on pages."""
    return "Unleash" if found.source.startswith("Unleash") else "the file"


def begin_applying(id: int) -> Import:
    """Mark the plan as being carried out, so that this can’t happen twice.

    Raises:
        Conflict: when it is being carried out already, or was.

    """
    found = get(id, for_change=True)
    if found.phase is not ImportState.PLANNED:
        raise Conflict(f"Import {id} can’t be applied: it is {found.phase}.")
    _require_plan(found)
    found.state, found.beat_at, found.failure = ImportState.APPLYING, utcnow(), None
    db.session.flush()
    return found


def apply(
    actor: Actor,
    id: int,
    shown_digest: str,
    prepared: Prepared | None = None,
    progress: Progress = lambda *_: None,
) -> Import:
    """Carry out exactly the plan that someone has read, or nothing.

    Raises:
        ChangedSinceReview: when the plan is different now.
        Conflict: when it was applied already.

    """
    found = get(id, for_change=True)
    if found.state not in {ImportState.PLANNED, ImportState.APPLYING}:
        raise Conflict(f"Import {id} can’t be applied: it is {found.state}.")
    lift_time_limits(db.session.connection())
    source = _source(found)
    done = 0

    def note(kind: Kind, number: int) -> None:
        nonlocal done
        done += number
        progress(kind.many, done, 0)

    applied = configuration.apply(
        actor,
        source.wanted,
        _decisions(found),
        cause=f"Imported from {found.source}",
        shown=shown_digest,
        prepared=prepared,
        progress=note,
    )
    found.state, found.batch_id = ImportState.APPLIED, applied.batch_id
    found.finished_at = utcnow()
    found.failure, found.progress = None, None
    report = _shown(applied.plan, source, source_name(found), limit=None)
    found.report = _packed(asdict(report) | {"changeRequests": applied.result.change_requests})
    found.written = _packed(_written(applied.plan, source.wanted.base))
    found.content = found.shown = None
    db.session.flush()
    return found


def report(found: Import) -> tuple[Shown, list[int]]:
    """What applying did, and the change requests that it opened."""
    if found.report is None:
        raise Conflict(f"Import {found.id} has not been applied.")
    fields = _unpacked(found.report)
    requests = fields.pop("changeRequests")
    return Shown(**fields), requests


def written(found: Import) -> dict[str, Any]:
    """What applying wrote, by the keys of entries: ``[before, digest after]``."""
    return {} if found.written is None else _unpacked(found.written)["things"]


def _require_plan(found: Import) -> None:
    if found.content is None:
        raise Conflict(f"Import {found.id} has no plan: it is {found.state}.")


def _decisions(found: Import) -> Decisions:
    decided = found.decisions
    try:
        return Decisions(
            Choice(decided.get("different", Choice.KEEP)),
            decided.get("byKey", {}),
            [Kind(name) for name in decided.get("leftOut", ())],
        )
    except ValueError as error:
        raise Invalid(str(error)) from None


class _Source(NamedTuple):
    """What comes of what was read; ``there``, ``parents``, ``unknown``: see ``Shown``."""

    wanted: Wanted
    notes: list[str]
    there: int
    parents: list[str]
    unknown: list[Unknown]


def _source(found: Import) -> _Source:
    whole, notes = _content(found)
    chosen = found.chosen or Chosen()
    wanted, parents = choosing.choose(whole, chosen)
    return _Source(
        replace(wanted, base=_base(found)),
        notes,
        choosing.projects(whole).total(),
        parents,
        choosing.unknown(whole, chosen),
    )


def projects(found: Import) -> list[tuple[str, str, int]]:
    """The projects that were read: id, name and number of features, by name."""
    _require_plan(found)
    whole, _ = _content(found)
    items = whole.document[Kind.PROJECTS]
    rows = [
        (id, items[id]["name"] if id in items else id, number)
        for id, number in choosing.projects(whole).items()
    ]
    return sorted(rows, key=lambda row: row[1].lower())


def _content(found: Import) -> tuple[Wanted, list[str]]:
    """Everything that was read, and the notes about it."""
    content = _unpacked(found.content or b"")
    return _from_json(content), content["notes"]


def _base(found: Import) -> dict[str, list[str]]:
    """Digests from the last import from the same origin; see ``Wanted.base``."""
    query = (
        sa.select(Import)
        .where(Import.origin == found.origin, Import.state == ImportState.APPLIED)
        .order_by(Import.id.desc())
        .limit(1)
    )
    last = db.session.scalar(query)
    return {} if last is None or last.written is None else _unpacked(last.written)["base"]


def _written(made: Plan, earlier: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """``base`` for a later import to compare with, and ``things`` for undoing this one.

    ``earlier``: the ``base`` of the import before it, for what does not come with this one.
    """
    base, things = {**earlier}, {}
    now = reading.smaller()
    for entry in made.entries:
        present = entry.item or entry.current
        if entry.there is not None and present is not None:
            base[entry.key] = [digest(entry.there), digest(present)]
        if entry.is_written:
            if entry.kind is Kind.FEATURES:
                present = writing_features.direct(entry)
            after = now[entry.kind].get(entry.name, present)
            things[f"{entry.kind}:{entry.name}"] = [entry.current, digest(after)]
    return {"base": base, "things": things}


def _shown(made: Plan, read: _Source, source: str, limit: int | None = LISTED) -> Shown:
    attention = [_entry(entry, source) for entry in made.entries if _needs_attention(entry)]
    names: dict[str, dict[str, list[str]]] = {}
    for entry in made.entries:
        names.setdefault(entry.kind, {}).setdefault(entry.status, []).append(entry.was)
    for by_status in names.values():
        for listed in by_status.values():
            listed.sort()
    return Shown(
        digest=made.digest,
        number=len(made.written),
        counts={
            kind.value: {status.value: number for status, number in found.items()}
            for kind, found in made.counts().items()
        },
        attention=attention if limit is None else attention[:limit],
        notes=read.notes,
        proposed=words.proposals(made.entries),
        names=names,
        there=read.there,
        parents=read.parents,
        unknown=read.unknown,
    )


def _needs_attention(entry: Entry) -> bool:
    return (
        entry.status in {Status.DIFFERENT, Status.IMPOSSIBLE}
        or entry.choice not in {Choice.TAKE, Choice.KEEP}
        or bool(entry.proposed)
    )


def _entry(entry: Entry, source: str) -> dict[str, Any]:
    there = entry.there
    return {
        "key": entry.key,
        "kind": entry.kind.value,
        "name": entry.name,
        "was": entry.was,
        "status": entry.status.value,
        "choice": entry.choice.value,
        "choices": [
            [choice.value, words.choice(choice, entry, source)] for choice in entry.choices
        ],
        "newName": entry.new_name,
        "faults": [*dict.fromkeys(str(fault) for fault in entry.faults)],
        "here": words.in_short(entry.kind, entry.current, there),
        "there": words.in_short(entry.kind, there, entry.current),
        "differences": [words.difference(each) for each in entry.differences],
        "since": entry.since and entry.since.value,
        "proposed": entry.proposed,
    }


def _as_json(wanted: Wanted) -> Item:
    return {
        "document": {kind.value: items for kind, items in wanted.document.items()},
        "faults": [[kind, name, found] for (kind, name), found in wanted.faults.items()],
        "fields": [
            [*((key, None) if isinstance(key, Kind) else key), sorted(fields)]
            for key, fields in wanted.fields.items()
        ],
        "environments": wanted.environments,
        "isExact": wanted.is_exact,
        "lost": wanted.lost,
    }


def _from_json(content: Item) -> Wanted:
    return Wanted(
        # Plans of earlier versions lack a kind.
        empty() | {Kind(kind): items for kind, items in content["document"].items()},
        {
            (Kind(kind), name): [Fault(*fault) for fault in found]
            for kind, name, found in content["faults"]
        },
        {
            Kind(kind) if name is None else (Kind(kind), name): fields
            for kind, name, fields in content["fields"]
        },
        content["environments"],
        is_exact=content["isExact"],
        lost=content.get("lost", {}),  # missing in plans of earlier versions
    )


def _packed(content: Item) -> bytes:
    return zlib.compress(json.dumps(content, ensure_ascii=False).encode(), 6)


def _unpacked(content: bytes) -> Item:
    found: Item = json.loads(zlib.decompress(content))
    return found


def summary(found: Shown, source: str) -> list[str]:
    """In sentences: ``1,284 of 1,319 items can be imported.``, ``22 are here already.`` …"""
    here = counted(found.count(Status.SAME), "is", "are")
    parts = [f"{found.number:,} of {found.total:,} items can be imported.", f"{here} here already."]
    if different := found.count(Status.DIFFERENT):
        parts.append(f"{counted(different, 'differs', 'differ')} from {source}.")
    if impossible := found.count(Status.IMPOSSIBLE):
        parts.append(f"{impossible:,} can’t be imported as they are.")
    return parts


def choice(found: Shown, chosen: Chosen | None) -> list[str]:
    """In sentences, what was chosen: ``30 of 3,030 features are chosen: …``."""
    if not chosen:
        return []
    asked = []
    if "projects" in chosen:
        asked.append(f"those of {spoken(chosen['projects'])}")
    if "prefix" in chosen:
        asked.append(f"names that begin with “{chosen['prefix']}”")
    if "names" in chosen:
        asked.append(counted(len(chosen["names"]), "listed name"))
    number = sum(found.counts.get(Kind.FEATURES, {}).values()) - len(found.parents)
    are = "is" if number == 1 else "are"
    parts = [
        f"{number:,} of {counted(found.there, 'feature')} {are} chosen: {', '.join(asked)}.",
        "What they need comes too.",
    ]
    if rest := len(chosen.get("names", ())) and len(chosen["names"]) - len(found.unknown) - number:
        outside = counted(rest, "listed feature doesn’t", "listed features don’t")
        parts.append(f"{outside} fit the rest of the choice.")
    if found.parents:
        more = counted(len(found.parents), "more comes", "more come")
        parts.append(f"{more} because others depend on them: {spoken(found.parents)}.")
    return parts
