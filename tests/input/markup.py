"""Texts that look like markup, put everywhere, and the pages that show them."""

from collections.abc import Sequence

from flask import Flask

from tests.support.access import PAGES_NEED, path_of
from tests.support.browser import Browser, Element
from tests.support.clients import ApiClient
from tests.support.instances import reset_database
from tests.support.people import People

PAYLOADS = [
    *("<script>alert(1)</script>", "</title><script>a()</script>", "<img src=x onerror=a()>"),
    *('"><svg onload=a()>', "'><svg onload=a()>", "' onmouseover='a()", '" autofocus onfocus="a()'),
    *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,<b>x", "</textarea><b>x"),
    *("</select><b>x", "<!--", "--><b>x", "]]><b>x", "<![CDATA[x", "&lt;script&gt;", "&#60;b&#62;"),
    *("&quot; onclick=a()", "{{7*7}}", "{% raw %}", "${7*7}", "`onclick=a()`", "<b/onclick=a()>"),
    *("<iframe src=//evil.example>", "<base href=//evil.example>", "<form action=//evil.example>"),
    *("<meta http-equiv=refresh>", "<style>*{color:red}", "<link rel=stylesheet href=//e>", '\\"'),
    *(
        "</script><script>a()",
        "<a href=javascript:a()>x",
        "<math><mi xlink:href=x>",
        "<x onclick=a()",
    ),
    *(
        "expression(alert(1))",
        "\uff1cscript\uff1e",
        "%3Cscript%3E",
        "\\u003cscript\\u003e",
        "<plaintext>",
    ),
]


def fill(client: ApiClient, texts: Sequence[str]) -> None:
    """Put each of the texts into everything that has room for text; who refuses it has none."""
    for number, text in enumerate(texts):
        id = f"p{number:03}"
        reason = {"X-Reason": text.encode().decode("latin-1")}
        named = {"description": text, "defaultStickiness": text}
        client.post("/projects", {"id": id, "name": text, **named}, headers=reason)
        feature = {"name": id, "description": text}
        client.post("/projects/default/features", feature, headers=reason)
        tags = {"addedTags": [{"value": text}], "removedTags": []}
        client.put("/projects/default/tags", {"features": [id], "tags": tags}, headers=reason)
        client.post("/user-admin", {"username": text, "name": text, "rootRole": 3}, headers=reason)
        robot = {"username": f"robot {text}", "name": text, "rootRole": 3}
        client.post("/service-account", robot, headers=reason)
        client.post("/user/tokens", {"description": text}, headers=reason)
        client.post("/tag-types", {"name": id, "description": text}, headers=reason)


LISTS = ("/projects", "/projects/default", "/tags", "/users", "/service-accounts", "/events")


NAMED = {"<key:project_id>": "default", "<key:name>": "p000", "<id:account_id>": "2"}


def pages() -> list[str]:
    """Every page that can be looked at, and the lists in full."""
    found = ["/projects/p000", "/projects/p000/settings", *(f"{one}?limit=1000" for one in LISTS)]
    for method, rule in sorted(PAGES_NEED):
        if method == "GET" and "secret" not in rule:
            for part, value in NAMED.items():
                rule = rule.replace(part, value)  # noqa: PLW2901 - step by step
            found.append(path_of(rule))
    return found


def elements(element: Element, around: str = "") -> set[tuple[str, ...]]:
    """Each element: the tags around it, its own, and the names of its attributes."""
    way = f"{around} {element.tag}"
    found = {(way, *sorted(element.attributes))}
    for child in element.iter():
        if child.tag != "wbr":
            found |= elements(child, way)
    return found


def crawl(app: Flask, texts: Sequence[str]) -> dict[str, set[tuple[str, ...]]]:
    """What every page is made of when these texts are everywhere."""
    with app.app_context():
        reset_database()
    fill(People(app).client("admin", role="Admin"), texts)
    browser = Browser(app).sign_in("admin")
    found = {}
    for path in pages():
        page = browser.get(path)  # which also looks for scripts, handlers and foreign addresses
        assert page.status in {200, 303, 404, 400}, (path, page.status)
        if page.answer.mimetype == "text/html" and page.status == 200:
            found[path] = elements(page.select("html")[0])
    return found


def check(app: Flask, texts: Sequence[str]) -> int:
    """How many pages there were; none may have what it has neither with plain words nor empty."""
    hostile, plain = crawl(app, texts), crawl(app, [f"x{n:03}" for n in range(len(texts))])
    empty = crawl(app, [])
    for path, made_of in plain.items():
        assert hostile[path] - made_of - empty.get(path, set()) == set(), path
    return len(plain)
