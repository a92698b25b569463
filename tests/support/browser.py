"""A browser without JavaScript: it keeps cookies, fills in forms, and lints each page it sees."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

from flask import Flask
from selectolax.lexbor import LexborHTMLParser, LexborNode
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from app.accounts import service as accounts
from app.accounts.sessions import service as sessions
from app.accounts.sessions.service import Browser as OpenedBy
from app.core.db import unit_of_work

Element = LexborNode

VOID = {"meta", "link", "input", "br", "hr", "img", "wbr"}
IN_WORDS = {"a", "b", "code", "wbr", "kbd", "mark", "time"}
CONTROLS = {"input", "select", "textarea"}
REFERENCES = {"aria-describedby", "aria-labelledby", "aria-controls", "for", "list", "form"}
ADDRESSES = {"href", "src", "action", "formaction"}
REDIRECTS = {301, 302, 303, 308}
TAG = re.compile(r"""<(/?[a-zA-Z][a-zA-Z0-9-]*+)((?:[^>"']++|"[^"]*+"|'[^']*+')*+)>""")
HEADINGS = {"h1", "h2", "h3", "h4"}
SIGN_OUT_THERE = "/session/end?id_token_hint="
"""In the only address of another server that a page leads to without saying so."""
OUTSIDE = "external noreferrer"
"""The rel of a link to another server, which then isn’t told which page led to it."""
CHANCE = re.compile(r'[0-9a-f-]{36}|value="[^"]{50,}"')
"""What differs between two visits of the same page: ids of requests, and CSRF tokens."""
WITH_WORDS = {"a", "button", "summary", "legend", "th", "caption", "label"} | HEADINGS


_linted: set[str] = set()


def attribute(element: Element, name: str, default: str = "") -> str:
    """Its value; empty where the attribute has none, ``default`` where there is no attribute."""
    return element.attributes.get(name, default) or ""


def text_of(element: Element) -> str:
    """What is to be read in it, in one line; words of different blocks are apart."""
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Element) -> Iterator[str]:
    for child in element.iter(include_text=True):
        if child.is_text_node:
            yield child.text_content or ""
        elif child.is_element_node:
            is_type = child.attributes.get("class") == "tag__type"
            apart = "" if child.tag in IN_WORDS or is_type else " "
            yield apart
            yield from _pieces(child)
            yield apart


def check_nesting(html: str, understood: str) -> None:
    """Refuse what a browser would repair silently: tags not closed in order, or in a wrong place.

    ``understood`` is the page as a parser writes it again.
    """
    (written, places), (read, _) = _tags(html), _tags(understood)
    if written != read:
        for tag, place, instead in zip(written, places, read, strict=False):
            line = html.count("\n", 0, place) + 1
            assert tag == instead, f"{tag} in line {line} is understood as {instead}"


def _tags(html: str) -> tuple[list[str], list[int]]:
    """Each tag, ``a`` or ``/a``, and where it is; one that closes itself is there twice."""
    tags, places = [], []
    for found in TAG.finditer(html):
        tag, rest = found[1].lower(), found[2]
        tags.append(tag)
        places.append(found.start())
        if rest.endswith("/") and tag not in VOID:
            tags.append(f"/{tag}")
            places.append(found.start())
    return [*tags, "the end"], [*places, len(html)]


class Page:
    """An answer to a browser."""

    def __init__(self, answer: TestResponse, path: str) -> None:
        self.answer = answer
        self.path = path
        self.status = answer.status_code
        self.text = answer.text

    @property
    def location(self) -> str:
        """Where a redirect leads, without the host."""
        target = urlsplit(self.answer.headers["Location"])
        assert target.netloc in {"", "localhost"}, self.answer.headers["Location"]
        return f"{target.path}?{target.query}" if target.query else target.path

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """All of it, as a browser understands it."""
        tree = LexborHTMLParser(self.text)
        check_nesting(self.text, tree.html or "")
        return tree

    def select(self, selector: str) -> list[Element]:
        """The elements of a CSS selector, in their order, each once."""
        return list(dict.fromkeys(self.tree.css(selector)))

    @property
    def title(self) -> str:
        return text_of(self.select("title")[0])

    @property
    def h1(self) -> str:
        return text_of(self.select("h1")[0])

    @property
    def words(self) -> str:
        """All that is to be read, in one line."""
        return text_of(self.select("body")[0])

    @property
    def messages(self) -> list[str]:
        """What the page tells by itself, what was done first."""
        toasts = [text_of(e) for e in self.select(".toast > p")]
        notes = [text_of(e) for e in self.select('[role="alert"], [role="status"]:not(.toasts)')]
        return toasts + [text for text in notes if text]

    @property
    def errors(self) -> list[str]:
        """The lines of the summary on top."""
        if self.status in REDIRECTS:
            return []
        return [text_of(item) for item in self.select(".summary li")]

    @property
    def links(self) -> dict[str, str]:
        return {text_of(e): e.attributes["href"] or "" for e in self.select("a")}

    def has(self, text: str) -> bool:
        return text in self.words

    def form(self, which: int | str = 0) -> Element:
        """A form of the content: by its number, or by the end of its action or a button of it.

        Switches and stars, which are forms of one button, are not counted.
        """
        if isinstance(which, int):
            alone = '[role="switch"], .star'
            forms = [form for form in self.select("main form") if not form.css_first(alone)]
            return forms[which]
        for form in self.select("form"):
            buttons = {text_of(button) for button in form.css("button")}
            if attribute(form, "action", self.path).endswith(which) or which in buttons:
                return form
        raise AssertionError(f"no form {which!r} on {self.path}")

    def fields(self, form: int | str = 0) -> dict[str, Any]:
        """What the form would send now; a list where a name is used more than once."""
        sent = sent_by(self.form(form)).to_dict(flat=False)
        return {name: values[0] if len(values) == 1 else values for name, values in sent.items()}


class Browser:
    """One browser; ``sign_in`` gives it a session of an account, without a password."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.client = app.test_client()
        self._csrf_tokens: dict[str, str] = {}

    def sign_in(self, username: str) -> "Browser":
        with self.app.app_context(), unit_of_work(writes=True):
            account = accounts.with_username(username)
            assert account is not None, username
            opened_by = OpenedBy(ip="127.0.0.1", user_agent="test", idle_hours=12)
            secret = sessions.open(account.id, opened_by)
        with self.client.session_transaction() as session:
            session.clear()
            session["_user_id"] = secret
        return self

    def get(self, path: str, **kwargs: Any) -> Page:
        return self._page(self.client.get(path, **kwargs), path)

    def post(
        self,
        path: str,
        data: dict[str, Any] | MultiDict[str, str] | None = None,
        *,
        csrf: bool = True,
        headers: dict[str, str] | None = None,
    ) -> Page:
        """Send a form; the redirect that it may be answered with is not followed."""
        sent = MultiDict(data or {})
        if csrf and "csrf_token" not in sent:
            sent["csrf_token"] = self.csrf_token()
        given = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"} | (headers or {})
        given = {name: value for name, value in given.items() if value}
        return self._page(self.client.post(path, data=sent, headers=given), path)

    def follow(self, page: Page) -> Page:
        assert page.status in {302, 303}, f"{page.path}: {page.status} {page.errors}"
        return self.get(page.location)

    def submit(
        self,
        page: Page,
        changes: dict[str, Any] | None = None,
        *,
        form: int | str = 0,
        button: str | None = None,
    ) -> Page:
        """Send a form of the page with some changes, by one of its buttons; None takes one out."""
        element = page.form(form)
        sent = sent_by(element)
        for name, value in (changes or {}).items():
            sent.poplist(name)
            sent.setlist(name, value if isinstance(value, list) else [value])
        for name in [name for name, value in (changes or {}).items() if value is None]:
            sent.poplist(name)
        buttons = [b for b in element.css("button") if button is None or text_of(b) == button]
        assert buttons, f"no button {button!r}"
        chosen = buttons[0].attributes
        if "name" in chosen and button is not None:
            sent.add(attribute(buttons[0], "name"), attribute(buttons[0], "value"))
        action = attribute(element, "action", page.path)
        action = urljoin(page.path, attribute(buttons[0], "formaction", action))
        if chosen.get("formmethod", element.attributes.get("method")) == "post":
            return self.post(action, sent, headers={"Referer": f"http://localhost{page.path}"})
        return self.get(action, query_string=sent)

    def csrf_token(self) -> str:
        """The token that pages of this session hold; it is looked up once a session."""
        name = self.app.config["SESSION_COOKIE_NAME"]
        cookie = self.client.get_cookie(name, path=self.app.config["SESSION_COOKIE_PATH"])
        session = cookie.value if cookie else ""
        if session not in self._csrf_tokens:
            answer = self.client.get("/new-project")
            if answer.status_code != 200:
                answer = self.client.get("/sign-in?password=yes")
            found = re.search(r'name="csrf_token" value="([^"]+)"', answer.text)
            assert found is not None, answer.text
            self._csrf_tokens[session] = found[1]
        return self._csrf_tokens[session]

    def _page(self, answer: TestResponse, path: str) -> Page:
        page = Page(answer, answer.request.full_path.rstrip("?") if "?" not in path else path)
        is_page = answer.mimetype == "text/html" and answer.status_code not in REDIRECTS
        if is_page and not self._is_linted_elsewhere:
            seen = CHANCE.sub("", page.text)
            if seen not in _linted:
                lint(page)
                _linted.add(seen)
        return page

    @property
    def _is_linted_elsewhere(self) -> bool:
        """The pages are the same with each database, so once is enough."""
        url: str = self.app.config["SQLALCHEMY_DATABASE_URI"]
        return url.startswith("postgresql")


def lint(page: Page) -> None:
    """Refuse what no page may have, or must not lack."""
    elements = page.select("*")
    where = f"{page.path} ({page.status})"
    headers = page.answer.headers
    assert "default-src 'none'" in headers["Content-Security-Policy"], where
    assert headers["Cache-Control"] == "no-store", where
    assert page.select("html")[0].attributes["lang"] == "en", where
    assert len(page.select("h1")) == 1, f"{where}: {page.select('h1')}"
    assert page.title.removesuffix("· Flagstaff").strip(), f"{where}: no title"
    ids = [attribute(e, "id") for e in page.select("[id]")]
    known = set(ids)
    assert len(ids) == len(known), f"{where}: ids twice: {sorted(ids)}"
    labelled = {attribute(e, "for") for e in page.select("label[for]") if text_of(e)}
    for element in elements:
        try:
            _lint_element(element, known, labelled)
        except AssertionError as wrong:
            tag = f"<{element.tag} {element.attributes}>"
            raise AssertionError(f"{where}: {tag} {wrong}") from None
    levels = [int(e.tag[1]) for e in page.select(", ".join(HEADINGS)) if e.tag]
    for before, after in zip([0, *levels], levels, strict=False):
        assert after <= before + 1, f"{where}: a heading h{after} after h{before}"


def _lint_element(element: Element, known: set[str], labelled: set[str]) -> None:
    tag, attrs = element.tag, element.attributes
    assert tag not in {"style", "iframe", "img"}, "is refused by the browser"
    assert tag != "template", "has what is not looked at here"
    for name, value in attrs.items():
        _lint_attribute(element, name, value or "", known)
    if tag == "script":
        assert "src" in attrs, "has no src"
        assert not text_of(element), "has code"
    if tag in CONTROLS and attrs.get("type") not in {"hidden", "submit", "button"}:
        assert _is_labelled(element, labelled), "has no label"
    if tag in WITH_WORDS:
        assert text_of(element) or "aria-label" in attrs or element.css_first("input"), "is empty"
    if tag == "table":
        assert element.css_first("caption"), "has no caption"
    if tag == "th":
        assert "scope" in attrs, "has no scope"
    if tag == "form" and attrs.get("method") == "post":
        tokens = element.css('input[name="csrf_token"]')
        assert len(tokens) == 1, f"has {len(tokens)} CSRF tokens"
    if tag == "select" and "required" in attrs:
        assert attribute(element.css("option")[0], "value", "?") == "", "has no empty option"
    if tag == "button" and attrs.get("type") != "button":
        assert "form" in attrs or _around(element, "form"), "is in no form"


def _lint_attribute(element: Element, name: str, value: str, known: set[str]) -> None:
    assert name != "style", "has a style"
    assert not name.startswith("on"), "has a handler"
    assert value != "None", f"has nothing in {name}"
    if name in REFERENCES:
        assert known.issuperset(value.split()), f"{name} points to nothing"
    elif name in ADDRESSES:
        is_own = re.match(r"(/(?!/)|#|\?|[\w.-]+$|$)", value) is not None
        says_so = OUTSIDE in attribute(element, "rel")
        assert is_own or says_so or SIGN_OUT_THERE in value, f"{name} leads elsewhere"
        if element.tag == "a" and value.startswith("#"):
            assert value[1:] in known, f"{name} leads nowhere"


def _is_labelled(element: Element, labelled: set[str]) -> bool:
    attrs = element.attributes
    if attrs.get("aria-label") or attrs.get("aria-labelledby"):
        return True
    label = _around(element, "label")
    return attrs.get("id") in labelled or (label is not None and text_of(label) != "")


def _around(element: Element, tag: str) -> Element | None:
    """The nearest element with that tag that it is in."""
    outer = element.parent
    while outer is not None and outer.tag != tag:
        outer = outer.parent
    return outer


def sent_by(form: Element) -> MultiDict[str, str]:
    """What a browser would send of the form now, without a button."""
    sent: MultiDict[str, str] = MultiDict()
    for control in form.css("input, select, textarea"):
        attrs = control.attributes
        name, kind = attribute(control, "name"), attrs.get("type")
        if not name or "disabled" in attrs:
            continue
        if control.tag == "textarea":
            sent.add(name, control.text().replace("\r\n", "\n"))
        elif control.tag == "select":
            options = control.css("option")
            for option in [o for o in options if "selected" in o.attributes] or options[:1]:
                sent.add(name, attribute(option, "value", text_of(option)))
        elif kind not in {"checkbox", "radio"} or "checked" in attrs:
            sent.add(name, attribute(control, "value", "on" if kind == "checkbox" else ""))
    return sent
