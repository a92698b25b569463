"""Two instances that are asked the same, one on each database, answer the same."""

import json
import random
import re
from collections import Counter

import pytest

from tests.input.corpora import strings
from tests.input.fields import READABLE, SLOTS, with_value
from tests.support.clients import ApiClient
from tests.support.people import People
from tests.support.writes import WRITES, World, new_root, new_world

REQUESTS, SEEDS = 2_000, (1, 2)
BODIES = {(method, path): body for method, path, body in WRITES}
NAMES = [
    *(f"n{number}" for number in range(12)),
    "Zoo",
    "zebra",
    "Äpfel",
    "äther",
    "a",
    "A",
    "_x",
    "~",
]
LISTS = {
    "/projects": ("id", "name", "createdAt", "featureCount", "memberCount"),
    "/projects/shop/features": ("name", "type", "createdAt"),
    "/tags": ("type", "value", "used"),
    "/tag-types": (),
    "/environments": (),
    "/user-admin": ("id", "username", "name", "createdAt", "seenAt"),
    "/service-account": ("id", "username", "name", "createdAt"),
    "/events": (),
    "/projects/shop/access": (),
    "/user": (),
}
MASKED = re.compile(
    r'"(id|userId|tokenId|createdByUserId|nextBefore|before|childId)":\d+|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)'
    r'|fst_\w+|[0-9a-f]{8}-[0-9a-f-]{27}|/set-up/[\w-]+|"total":\d+|"(secret|hint)":"[^"]*"'
    r"|service-account-\d+|account \d+"
)
NOT_NAMED = {"/user/change-password", "/user-admin/inactive/delete"}


def furnish(app) -> tuple[ApiClient, World]:
    people = People(app)
    admin = people.client("admin", role="Admin")
    root = new_root(app, admin, people)
    return root, {**new_world(root, admin, people), "own": 999}


def draw(chance: random.Random) -> tuple[str, str, object]:
    """A request: mostly one that could succeed, with one of its values exchanged."""
    if chance.random() < 0.3:
        path = chance.choice(list(LISTS))
        query = {"limit": chance.choice([1, 5, 50, 1000, 0, "x"])}
        if chance.random() < 0.4:
            query["text"] = chance.choice([*NAMES, "%", "_", "\\", "Ä", "'"])
        if LISTS[path] and chance.random() < 0.6:
            query["sort"] = chance.choice(["", "-"]) + chance.choice(LISTS[path])
        return "GET", path, query
    slot = chance.choice([slot for slot in SLOTS if slot.path not in NOT_NAMED])
    value: object = chance.choice(NAMES)
    if chance.random() < 0.3:
        value = chance.choice(strings())[:300]
    elif chance.random() < 0.3:
        value = json.loads(READABLE[chance.choice([n for n in READABLE if n != "1 MB"])])
    path = slot.path if chance.random() < 0.9 else slot.path.replace("shop", "nowhere")
    body = BODIES.get((slot.method, slot.path)) or {"features": ["a", "b"]}
    return slot.method, path, with_value(body, slot.pointer, value)


def told(client: ApiClient, ids: World, request: tuple[str, str, object]):
    method, path, body = request
    where = path.format_map(ids)
    if method == "GET":
        answer = client.request(method, where, query_string=body)
    else:
        answer = client.request(
            method, where, data=json.dumps(body), content_type="application/json"
        )
    return answer.status_code, MASKED.sub("*", answer.text)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_databases_answer_alike(twins, seed):
    chance = random.Random(seed)
    furnished = [furnish(app) for app in twins]
    statuses: Counter[int] = Counter()
    different = []
    for _ in range(REQUESTS):
        request = draw(chance)
        first, second = (told(client, ids, request) for client, ids in furnished)
        statuses[first[0]] += 1
        if first != second:
            different.append((ascii(request)[:300], first, second))
    print("\n", dict(statuses))
    assert not [status for status in statuses if status >= 500]
    assert different == []
