"""Proposes the changes of a plan in environments where they need approvals."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import selectinload

from app.catalogue.features.models import Feature
from app.catalogue.segments.models import Segment
from app.core.actor import Actor
from app.core.db import chunks, db
from app.exchange.documents import reading_features
from app.exchange.documents.documents import STATE, Item, Kind
from app.exchange.documents.plans import Entry
from app.releases.change_requests import editing, review, service
from app.releases.change_requests import proposals as change_proposals
from app.releases.change_requests.editing import Proposal
from app.releases.change_requests.models import CLOSED, MAX_CHANGES, Action, ChangeRequest, State
from app.releases.change_requests.queries import is_by

TITLE = "Changes from a document"


def propose(actor: Actor, entries: Sequence[Entry]) -> list[int]:
    """Open a change request for each environment, or several if it is too large; return ids.

    One of the actor that waits with the same changes is not opened again.
    """
    ids = []
    proposals: defaultdict[tuple[str, str], list[Proposal]] = defaultdict(list)
    for entry in entries:
        if entry.kind is Kind.PROJECTS and entry.proposed:
            number_in = (entry.item or {})["approvals"]
            for name in entry.proposed:
                lowering = change_proposals.approvals(number_in.get(name, 0))
                ids.append(_open(actor, (entry.name, name), lowering))
    found = [entry for entry in entries if entry.kind is Kind.FEATURES and entry.proposed]
    features = _Features([entry.name for entry in found]) if found else None
    for entry in found:
        item = entry.item or {}
        for environment in entry.proposed:
            place = item["project"], environment
            proposals[place] += features.proposals(entry, environment) if features else ()
    for place, all in sorted(proposals.items(), key=lambda each: each[0]):
        ids += [_open(actor, place, chunk) for chunk in chunks(all, MAX_CHANGES)]
    return ids


def _open(actor: Actor, place: tuple[str, str], proposals: Sequence[Proposal]) -> int:
    request = editing.propose(actor, *place, proposals)
    if (waiting := _waiting(actor, request)) is not None:
        editing.discard_draft(actor, request)
        return waiting
    service.describe(actor, request, title=TITLE, description=actor.cause)
    review.send(actor, request)
    return request.id


def _waiting(actor: Actor, request: ChangeRequest) -> int | None:
    """The id of an open change request of the actor that does what this one would do."""
    query = sa.select(ChangeRequest).options(selectinload(ChangeRequest.changes))
    query = query.where(
        is_by(actor.id),
        ChangeRequest.project_id == request.project_id,
        ChangeRequest.environment == request.environment,
        ChangeRequest.state.not_in({*CLOSED, State.DRAFT}),
        ChangeRequest.obstacle.is_(None),
        ChangeRequest.digest == request.digest,
    )
    changes = _contents(request)
    found = (each.id for each in db.session.scalars(query) if _contents(each) == changes)
    return next(found, None)


def _contents(request: ChangeRequest) -> list[tuple[Action, str, Any]]:
    """The changes, without the ids of strategies, which new ones get at random."""
    return [
        (each.action, each.subject, {k: v for k, v in each.payload.items() if k != "id"})
        for each in request.changes
    ]


class _Features:
    """Ids of the features, strategies and segments that proposals refer to."""

    def __init__(self, names: Sequence[str]) -> None:
        self.segments = dict(db.session.execute(sa.select(Segment.name, Segment.id)).all())
        self.ids: dict[str, int] = {}
        for chunk in chunks(names):
            query = sa.select(Feature.name, Feature.id).where(Feature.name.in_(chunk))
            self.ids |= dict(db.session.execute(query).all())
        self.strategies = reading_features.strategy_ids([*self.ids.values()])

    def proposals(self, entry: Entry, environment: str) -> Iterator[Proposal]:
        """The changes of one feature in one environment, in the order in which they can be made."""
        item, current = entry.item or {}, entry.current
        before = (current["environments"] if current else {}).get(environment, STATE)
        after = item["environments"].get(environment, STATE)
        if current and item["archived"] and not current["archived"]:
            yield Proposal(entry.name, Action.ARCHIVE_FEATURE, {})
            return
        yield from self._strategies(entry.name, environment, before, after)
        if before["variants"] != after["variants"]:
            yield Proposal(entry.name, Action.PATCH_VARIANT, {"variants": after["variants"]})
        if before["enabled"]:
            yield from _parent(entry)
        if _is_left_on(before, after) != after["enabled"]:
            yield Proposal(entry.name, Action.UPDATE_ENABLED, {"enabled": after["enabled"]})

    def _strategies(
        self, name: str, environment: str, before: Item | Any, after: Item | Any
    ) -> Iterator[Proposal]:
        ids = self.strategies.get((self.ids[name], environment), [])
        for place, strategy in enumerate(after["strategies"]):
            payload = self._payload(strategy)
            if place >= len(ids):
                yield Proposal(name, Action.ADD_STRATEGY, payload)
            elif strategy != before["strategies"][place]:
                payload = {"id": ids[place], "replace_parameters": True, **payload}
                yield Proposal(name, Action.UPDATE_STRATEGY, payload)
        for id in ids[len(after["strategies"]) :]:
            yield Proposal(name, Action.DELETE_STRATEGY, {"id": id})

    def _payload(self, strategy: Item) -> dict[str, Any]:
        return strategy | {"segments": [self.segments[name] for name in strategy["segments"]]}


def _is_left_on(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the feature is on after its strategies were changed one by one.

    It is switched off as soon as no active one is left, even if another one is added later.
    """
    is_on = bool(before["enabled"])
    counts = [not strategy["disabled"] for strategy in before["strategies"]]
    for place, strategy in enumerate(after["strategies"]):
        if place >= len(counts):
            counts.append(not strategy["disabled"])
        elif strategy != before["strategies"][place]:
            counts[place] = not strategy["disabled"]
            is_on = is_on and any(counts)
    while len(counts) > len(after["strategies"]):
        del counts[len(after["strategies"])]
        is_on = is_on and any(counts)
    return is_on


def _parent(entry: Entry) -> Iterator[Proposal]:
    item, current = entry.item or {}, entry.current or {}
    if item["parent"] == current.get("parent"):
        return
    if item["parent"] is None:
        payload = {"feature": current["parent"]["feature"]}
        yield Proposal(entry.name, Action.DELETE_DEPENDENCY, payload)
    else:
        yield Proposal(entry.name, Action.ADD_DEPENDENCY, item["parent"])
