"""Hostile requests for pages, made from what the pages themselves offer."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from werkzeug.datastructures import MultiDict

from tests.support.access import PAGES_NEED, path_of
from tests.support.browser import Browser, Element, Page, attribute, sent_by
from tests.support.people import People

ENDS = {"/sign-out", "/account/password", "/maintenance"}
"""Without the session or its password, the rest would be about the sign-in page only.

With maintenance mode on, it would be about that.
"""
RULES = sorted((method, rule) for method, rule in PAGES_NEED if rule not in ENDS)
PARAMETERS = [
    *("limit", "offset", "sort", "text", "type", "tag", "withoutTag", "stale", "archived", "mode"),
    *("membership", "unused", "rootRole", "from", "to", "before", "actor", "project", "feature"),
    *("batch", "selection", "near", "kept", "next", "format", "away", "may", "child", "parent"),
    *("id", "names", "new_type", "value", "plan", "seen", "way-simple:a", "step", "back"),
]
VALUES = [
    *("", " ", "0", "1", "-1", "007", "1e9", "9" * 9, "9" * 30, "1.5", "true", "null", "٣"),
    *("simple:zzz", "simple:", ":", "a:b:c", "none:none", "x" * 101, "x" * 5_000, "../..", "."),
    *("0001-01-01", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31", "2026-02-30"),
    *("2026-01-01T00:00:00+23:59", "0001-01-01T00:00:00+14:00", "csv", "json", "-name", "name"),
    *("a\0b", "\u202eabc", "\ufeff", "\ud7ff", "%00", "<b>", "'\"", "%_\\", "{}", "[]", "=1+1"),
    *("default", "web", "child", "boss", "add", "remove", "keep", "private", "production"),
]


class Sent(NamedTuple):
    """What was sent, to be repeated."""

    method: str
    path: str
    fields: list[tuple[str, str]]


def bombard(
    browser: Browser, people: People, number: int, seed: int
) -> tuple[Counter[int], list[Sent]]:
    """Send that many requests; how many had which status, and those that broke the server."""
    statuses: Counter[int] = Counter()
    broken = []
    found = hostile(browser, Random(seed))
    for count in range(number):
        sent, page = next(found)
        statuses[page.status] += 1
        if page.status >= 500:
            broken.append(sent)
        if page.status in {303, 401, 403} and browser.get("/users").status != 200:
            people.person(f"admin-{count}", role="Admin")  # the last one signed off, or worse
            browser.sign_in(f"admin-{count}")
    return statuses, broken


def hostile(browser: Browser, random: Random) -> Iterator[tuple[Sent, Page]]:
    """Requests as a page's forms and links make them, with other values in their fields."""
    seen: dict[str, list[str]] = {}
    while True:
        method, rule = random.choice(RULES)
        path, fields = path_of(rule), [(name, "") for name in random.choices(PARAMETERS, k=3)]
        shown = browser.get(path) if ("GET", rule) in PAGES_NEED else None
        if shown and (shown.status, shown.answer.mimetype) == (200, "text/html"):
            links = [link for link in shown.links.values() if "?" in link]
            forms = posted(shown)
            if forms and random.random() < 0.5:
                method, form = "POST", random.choice(forms)
                path, fields = attribute(form, "action", path), fields + fields_of(form)
            elif links:
                path, _, query = random.choice(links).partition("?")
                path, fields = path or path_of(rule), fields + parse_qsl(query)
        sent = [(name, mutated(name, value, seen, random)) for name, value in fields]
        for name, value in fields:
            seen[name] = [*seen.get(name, [])[-20:], value]
        random.shuffle(sent)
        sent = sent[: random.randint(1, len(sent) + 3)]
        if method == "GET":
            yield Sent(method, path, sent), browser.get(path, query_string=sent)
            continue
        page = browser.post(path, MultiDict([*sent, ("csrf_token", browser.csrf_token())]))
        if page.status == 303:
            for name, value in parse_qsl(urlsplit(page.location).query):
                seen[name] = [*seen.get(name, [])[-20:], value]
        yield Sent(method, path, sent), page


def mutated(name: str, value: str, seen: dict[str, list[str]], random: Random) -> str:
    """The value itself, another of the same field, one of another field, or a hostile one."""
    chance = random.random()
    if value and chance < 0.4:
        return value
    if seen.get(name) and chance < 0.7:
        return random.choice(seen[name])
    if seen and chance < 0.8:
        return random.choice(random.choice(list(seen.values())))
    return random.choice(VALUES)


def posted(page: Page) -> list[Element]:
    return page.select('main form[method="post"]')


def fields_of(form: Element) -> list[tuple[str, str]]:
    return [
        (name, value) for name, value in sent_by(form).items(multi=True) if name != "csrf_token"
    ]
