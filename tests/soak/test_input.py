"""Everything hostile at every place that takes input; the quick tests have a sample of it."""

from collections import Counter
from itertools import product

from app.core.db import chunks
from tests.input.bodies import ROUTES, check_types
from tests.input.corpora import json_texts, strings
from tests.input.fields import READABLE, SLOTS, UNREADABLE
from tests.input.homes import HOMES, client_of, verdict
from tests.input.markup import PAYLOADS
from tests.input.markup import check as check_markup
from tests.input.pages import bombard
from tests.input.paths import check_all
from tests.input.values import mistakes, sender
from tests.support.clients import ApiClient, error_of
from tests.support.writes import World


def test_every_json_text_on_every_route(root: ApiClient, world: World):
    statuses: Counter[int] = Counter()
    for (method, path, body), (name, text) in product(ROUTES, json_texts().items()):
        answer = root.request(
            method,
            f"{path.format_map(world)}?dryRun=true",
            data=text,
            content_type="application/json",
        )
        statuses[answer.status_code] += 1
        assert answer.status_code < 500, (path, name)
        if body is not None and name.startswith("n_"):
            assert error_of(answer) == (400, "ValidationError"), (path, name)
    print("\nJSON texts:", dict(statuses))


def test_every_value_in_every_field(root: ApiClient, world: World):
    assert mistakes(sender(root, world)) == []
    pairs = len(SLOTS) * (len(READABLE) + len(UNREADABLE))
    print(f"\n{pairs} pairs of field and value")


def test_every_string_in_every_field_with_one_verdict_on_both_databases(twins):
    clients = [client_of(app) for app in twins]
    verdicts: Counter[int] = Counter()
    differences = []
    for home, text in product(HOMES, strings()):
        first, second = (verdict(client, ids, home, text) for client, ids in clients)
        verdicts[first[0]] += 1
        if first != second:
            differences.append((home, ascii(text[:80]), first, second))
    print("\nstrings:", dict(verdicts))
    assert differences == []


def test_every_strange_address_with_every_rule(app, admin, browser, addressed):
    print(f"\n{check_all(app, admin, browser)} requests")


def test_20_000_hostile_requests_for_pages(browser, admin, people):
    admin.ok("POST", "/projects", {"id": "web", "name": "Web"})
    for name in ("child", "parent"):
        admin.ok("POST", "/projects/web/features", {"name": name})
    statuses, broken = bombard(browser, people, 20_000, seed=3)
    print("\npages:", dict(statuses))
    assert broken == []


def test_every_type_on_every_route(root: ApiClient, world: World):
    check_types(root, world)


def is_shown(text: str) -> bool:
    """Whether everything takes it for a name; "None" would look like a mistake of a template."""
    return bool(text.strip()) and text.isprintable() and len(text) <= 255 and text != "None"


def test_no_string_becomes_markup_on_any_page(app):
    texts = [*PAYLOADS, *filter(is_shown, strings())]
    for some in chunks(texts, 40):  # fewer than a page has rows
        assert check_markup(app, some) > 30
    print(f"\n{len(texts)} texts")
