"""Requests that start at the same moment."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

from werkzeug.test import TestResponse

from tests.support.clients import ApiClient

FEATURES = "/projects/default/features"


CROWD = 50


def at_once(requests: Iterable[Callable[[], TestResponse]]) -> list[TestResponse]:
    """The answers to requests that all start at the same moment, each in a thread of its own."""
    calls = list(requests)
    barrier = Barrier(len(calls))

    def wait_and_call(call: Callable[[], TestResponse]) -> TestResponse:
        barrier.wait(timeout=30)
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(wait_and_call, calls))


def crowd(client: ApiClient, path: str, bodies: Iterable[dict[str, Any]]) -> list[TestResponse]:
    return at_once(partial(client.post, path, body) for body in bodies)


def statuses(answers: list[TestResponse]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


def make_features(client: ApiClient, *names: str) -> None:
    for name in names:
        client.ok("POST", FEATURES, {"name": name})


def add_tags(client: ApiClient, name: str, values: Iterable[str]) -> Callable[[], TestResponse]:
    added = [{"value": value} for value in values]
    body = {"features": [name], "tags": {"addedTags": added, "removedTags": []}}
    return lambda: client.put("/projects/default/tags", body)


def tag_randomly(client: ApiClient, names: Sequence[str], seed: int) -> Callable[[], TestResponse]:
    chance = random.Random(seed)
    values = [f"t{number}" for number in range(8)]
    chance.shuffle(values)
    added, removed = ([{"value": value} for value in part] for part in (values[:4], values[4:]))
    features = chance.sample(names, len(names))
    body = {"features": features, "tags": {"addedTags": added, "removedTags": removed}}
    return lambda: client.put("/projects/default/tags", body)


def tags_as_they_are(client: ApiClient) -> dict[str, set[str]]:
    rows = client.ok("GET", f"{FEATURES}?limit=1000")["features"]
    return {row["name"]: {tag["value"] for tag in row["tags"]} for row in rows}


def tags_as_told(client: ApiClient) -> dict[str, set[str]]:
    """What the features carry, as the event log tells it from the first event to the last."""
    path = "/events?type=feature-tags-changed&limit=1000"
    carried: dict[str, set[str]] = {}
    page = client.ok("GET", path)
    events = page["events"]
    while page["nextBefore"]:
        page = client.ok("GET", f"{path}&before={page['nextBefore']}")
        events += page["events"]
    for event in reversed(events):
        tags = carried.setdefault(event["featureName"], set())
        added, removed = (
            {tag["value"] for tag in event["data"][part]} for part in ("added", "removed")
        )
        assert not added & tags
        assert removed <= tags
        tags |= added
        tags -= removed
    return carried
