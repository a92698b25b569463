"""The outcome of changes in a few words: “on for 50% of users”, “off”, “archived”."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from app.catalogue.segments.models import Segment
from app.catalogue.strategies import words
from app.catalogue.strategies.models import Strategy
from app.core.db import db
from app.releases.change_requests.models import Change

_PLAIN = {"id", "environment", "name", "title", "disabled", "parameters", "constraints", "variants"}


def segments_of(changes: Sequence[Change]) -> dict[int, Segment]:
    """Segments that strategies use after the changes, by id."""
    ids = {
        id
        for change in changes
        for strategy in (change.after or {}).get("strategies", ())
        for id in strategy["segments"]
    }
    if not ids:
        return {}
    query = sa.select(Segment).where(Segment.id.in_(ids)).order_by(Segment.id)
    return {segment.id: segment for segment in db.session.scalars(query)}


def strategy_of(snapshot: Mapping[str, Any], known: Mapping[int, Segment]) -> Strategy:
    """Rebuild a strategy from its snapshot; never saved. Deleted segments are left out."""
    return Strategy(
        **{name: snapshot[name] for name in _PLAIN},
        sort_order=snapshot["sortOrder"],
        segments=[known[id] for id in snapshot["segments"] if id in known],
    )


def of_feature(changes: Sequence[Change], known: Mapping[int, Segment]) -> str:
    """The combined outcome of all changes to one feature."""
    before, after = changes[0].before, changes[-1].after
    if before is None or after is None:
        return ""
    if after["archived"] and not before["archived"]:
        return "archived"
    parts = []
    if before["enabled"] != after["enabled"] or before["strategies"] != after["strategies"]:
        parts.append(_state(before, after, known))
    if before["variants"] != after["variants"]:
        parts.append("other variants")
    if before["parents"] != after["parents"]:
        parents = [parent["parent"] for parent in after["parents"]]
        parts.append(f"depends on {parents[0]}" if parents else "depends on no other feature")
    if before.get("impressionData") != after.get("impressionData"):
        parts.append(f"{'with' if after['impressionData'] else 'without'} impression data")
    return "; ".join(parts)


def short(changes: Sequence[Change], known: Mapping[int, Segment]) -> str:
    """The state of the feature after the changes, as lists show it; empty if it stays as it is."""
    before, after = changes[0].before, changes[-1].after
    if before is None or after is None or after["archived"]:
        return ""
    was, will_be = (_short(snapshot, known) for snapshot in (before, after))
    return will_be.word if will_be != was else ""


def _short(snapshot: Mapping[str, Any], known: Mapping[int, Segment]) -> words.ShortState:
    strategies = [strategy_of(strategy, known) for strategy in snapshot["strategies"]]
    return words.short(strategies, enabled=snapshot["enabled"])


def _state(
    before: Mapping[str, Any], after: Mapping[str, Any], known: Mapping[int, Segment]
) -> str:
    if not after["enabled"] and before["enabled"]:
        return "off"
    strategies = [strategy_of(snapshot, known) for snapshot in after["strategies"]]
    who = " or ".join(
        words.summary(strategy).removeprefix("On ")
        for strategy in strategies
        if not strategy.disabled
    )
    if not after["enabled"]:
        return f"off, and {who} once it’s switched on" if who else "off, without a strategy"
    return f"on {who}"
