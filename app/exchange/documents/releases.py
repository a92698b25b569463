"""Releases under way of features that a plan changes: their strategies belong to the release."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from app.catalogue.releases import queries
from app.catalogue.releases import service as releases
from app.catalogue.releases.models import Release
from app.catalogue.releases.queries import Located
from app.core.actor import Actor
from app.core.errors import Conflict
from app.exchange.documents import writing_features
from app.exchange.documents.documents import STATE, Fault, Item
from app.exchange.documents.plans import Entry


def under_way(names: Collection[str]) -> Mapping[str, Sequence[Release]]:
    """The releases that strategies of these features belong to, by feature."""
    found: defaultdict[str, list[Release]] = defaultdict(list)
    for each in queries.moving(names, ()):
        found[each.feature].append(each.release)
    return found


def faults(item: Item, current: Item, known: Sequence[Release]) -> Iterator[Fault]:
    """Changes of strategies that belong to a release. Archiving the feature stops it instead."""
    for release in () if item["archived"] else known:
        before, after = (_state(each, release)["strategies"] for each in (current, item))
        if before != after:
            yield Fault(
                f"environments/{release.environment}/strategies",
                f"A release decides who gets {item['name']} here. It is at step "
                f"{(release.position or 0) + 1} of {len(release.steps)}. Stop it or leave it "
                "before you change the strategies yourself.",
            )


def settle(actor: Actor, entries: Sequence[Entry]) -> None:
    """Before features are written: stop the releases of those that go off.

    Raises:
        Conflict: when a release began after the plan was made, and the plan changed its strategies.

    """
    known = under_way([entry.name for entry in entries])
    for entry in entries:
        item, current = writing_features.direct(entry), entry.current or {}
        own = known.get(entry.name, ())
        for fault in faults(item, current, own):
            raise Conflict(f"Feature {entry.name}: {fault}")
        for release in () if item["archived"] else own:
            if not _state(item, release)["enabled"]:
                found = Located(release, entry.name, item["project"])
                releases.stop(actor, found, "The feature was switched off")


def _state(item: Item, release: Release) -> Mapping[str, Item]:
    """The state of a feature where the release is."""
    state: Mapping[str, Item] = item["environments"].get(release.environment, STATE)
    return state
