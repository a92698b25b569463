"""Events that bring an SDK from one state of its features to another, as the client API has them.

An SDK applies them in their order. So a segment comes before a feature that newly uses it, and is
removed after the last one that did.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from app.delivery.sdk.state import DeliveredFeature, DeliveredState

NONE = b'{"events":[]}'


def hydration(state: DeliveredState, wanted: Sequence[DeliveredFeature]) -> bytes:
    """Write one event with all features that are wanted, and their segments."""
    features = b",".join(feature.by_reference for feature in wanted)
    segments = b",".join(state.segments_of(wanted).values())
    event = b'{"eventId":%d,"type":"hydration","features":[%b],"segments":[%b]}'
    return _list([event % (state.version, features, segments)])


def changes(
    before: DeliveredState,
    had: Iterable[DeliveredFeature],
    now: DeliveredState,
    wanted: Iterable[DeliveredFeature],
) -> bytes:
    """Write the events between two states. ``had``, ``wanted``: the SDK's features in each."""
    old = {feature.name: feature for feature in had}
    new = {feature.name: feature for feature in wanted}
    used, uses = before.segments_of(old.values()), now.segments_of(new.values())
    head = b'{"eventId":%d,"type":' % now.version

    def events() -> Iterator[bytes]:
        for id, segment in uses.items():
            if used.get(id) != segment:
                yield head + b'"segment-updated","segment":%b}' % segment
        for name, feature in new.items():
            if name not in old or old[name].by_reference != feature.by_reference:
                yield head + b'"feature-updated","feature":%b}' % feature.by_reference
        for name, feature in old.items():
            if name not in new:
                place = {"featureName": name, "project": feature.project}
                yield head + b'"feature-removed",%b' % json.dumps(place).encode()[1:]
        for id in used:
            if id not in uses:
                yield head + b'"segment-removed","segmentId":%d}' % id

    return _list(events())


def _list(events: Iterable[bytes]) -> bytes:
    return b'{"events":[%b]}' % b",".join(events)
