"""A browser without JavaScript: it keeps cookies, fills in forms, and lints each page it sees."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

from flask import Flask
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from app.accounts import service as accounts
from app.core.db import unit_of_work
from app.sessions import service as sessions
from app.sessions.service import Browser as OpenedBy

VOID = {"meta", "link", "input", "br", "hr", "img", "path", "rect", "circle", "use", "wbr"}
IN_WORDS = {"a", "b", "code", "wbr", "kbd", "time"}
CONTROLS = {"input", "select", "textarea"}
REDIRECTS = {301, 302, 303, 308}
HEADINGS = {"h1", "h2", "h3", "h4"}


@dataclass
class Element:
    """A tag with what is inside it."""

    tag: str
    attrs: dict[str, str]
    parent: "Element | None" = None
    children: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self._pieces()).split())

    def _pieces(self) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            else:
                apart = (
                    "" if child.tag in IN_WORDS or child.attrs.get("class") == "tag__type" else " "
                )
                yield apart
                yield from child._pieces()
                yield apart

    def all(self, *tags: str) -> list["Element"]:
        """The elements inside with one of the tags (any, without), in the order of the page."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if not tags or child.tag in tags:
                    found.append(child)
                found += child.all(*tags)
        return found

    def inside(self, tag: str) -> "Element | None":
        """The nearest element around this one with the tag."""
        around = self.parent
        while around is not None and around.tag != tag:
            around = around.parent
        return around


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.now = Element("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self.now)
        self.now.children.append(element)
        if tag not in VOID:
            self.now = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.now.children.append(Element(tag, {n: v or "" for n, v in attrs}, self.now))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.now.tag == tag, f"</{tag}> closes <{self.now.tag}>: {self.now.attrs}"
        self.now = self.now.parent

    def handle_data(self, data: str) -> None:
        self.now.children.append(data)


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
    def root(self) -> Element:
        reader = _Reader()
        reader.feed(self.text)
        assert reader.now is reader.root, f"<{reader.now.tag}> is not closed"
        return reader.root

    @property
    def title(self) -> str:
        return self.root.all("title")[0].text

    @property
    def h1(self) -> str:
        return self.root.all("h1")[0].text

    @property
    def words(self) -> str:
        """All that is to be read, in one line."""
        return self.root.all("body")[0].text

    @property
    def messages(self) -> list[str]:
        """What the page tells by itself."""
        return [e.text for e in self.root.all() if e.attrs.get("role") in {"alert", "status"}]

    @property
    def errors(self) -> list[str]:
        """The lines of the summary on top."""
        if self.status in REDIRECTS:
            return []
        summaries = [e for e in self.root.all() if e.attrs.get("class") == "summary"]
        return [item.text for summary in summaries for item in summary.all("li")]

    @property
    def links(self) -> dict[str, str]:
        return {e.text: e.attrs["href"] for e in self.root.all("a")}

    def has(self, text: str) -> bool:
        return text in self.words

    def form(self, which: int | str = 0) -> Element:
        """A form of the content: by its number, or by the end of its action or a button of it."""
        if isinstance(which, int):
            return self.root.all("main")[0].all("form")[which]
        for form in self.root.all("form"):
            buttons = {button.text for button in form.all("button")}
            if form.attrs.get("action", self.path).endswith(which) or which in buttons:
                return form
        raise AssertionError(f"no form {which!r} on {self.path}")

    def fields(self, form: int | str = 0) -> dict[str, Any]:
        """What the form would send as it stands; a list where a name stands more than once."""
        sent = _sent(self.form(form)).to_dict(flat=False)
        return {name: values[0] if len(values) == 1 else values for name, values in sent.items()}


class Browser:
    """One browser; ``sign_in`` gives it a session of an account, without a password."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.client = app.test_client()

    def sign_in(self, username: str) -> "Browser":
        with self.app.app_context(), unit_of_work(writes=True):
            account = accounts.with_username(username)
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
        sent = _sent(element)
        for name, value in (changes or {}).items():
            sent.poplist(name)
            sent.setlist(name, value if isinstance(value, list) else [value])
        for name in [name for name, value in (changes or {}).items() if value is None]:
            sent.poplist(name)
        action = element.attrs.get("action", page.path)
        buttons = [b for b in element.all("button") if button is None or b.text == button]
        assert buttons, f"no button {button!r}"
        if "name" in buttons[0].attrs and button is not None:
            sent.add(buttons[0].attrs["name"], buttons[0].attrs.get("value", ""))
        action = urljoin(page.path, buttons[0].attrs.get("formaction", action))
        if element.attrs.get("method") == "post":
            return self.post(action, sent)
        return self.get(action, query_string=sent)

    def csrf_token(self) -> str:
        """The token that pages of this session hold."""
        path = "/projects/new"
        answer = self.client.get(path)
        if answer.status_code != 200:
            answer = self.client.get("/sign-in")
        return re.search(r'name="csrf_token" value="([^"]+)"', answer.text)[1]

    def _page(self, answer: TestResponse, path: str) -> Page:
        page = Page(answer, answer.request.full_path.rstrip("?") if "?" not in path else path)
        if answer.mimetype == "text/html" and answer.status_code not in REDIRECTS:
            lint(page)
        return page


def lint(page: Page) -> None:
    """Refuse what no page may have, or must not lack."""
    root, elements = page.root, page.root.all()
    where = f"{page.path} ({page.status})"
    headers = page.answer.headers
    assert "default-src 'none'" in headers["Content-Security-Policy"], where
    assert headers["Cache-Control"] == "no-store", where
    assert root.all("html")[0].attrs["lang"] == "en", where
    assert len(root.all("h1")) == 1, f"{where}: {len(root.all('h1'))} h1"
    assert page.title.removesuffix("· Flagstaff").strip(), f"{where}: no title"
    ids = [e.attrs["id"] for e in elements if "id" in e.attrs]
    assert len(ids) == len(set(ids)), f"{where}: ids twice: {sorted(ids)}"
    for element in elements:
        _lint_element(element, set(ids), where)
    levels = [int(e.tag[1]) for e in elements if e.tag in HEADINGS]
    for before, after in zip([0, *levels], levels, strict=False):
        assert after <= before + 1, f"{where}: a heading h{after} after h{before}"


def _lint_element(element: Element, ids: set[str], where: str) -> None:
    tag, attrs = element.tag, element.attrs
    what = f"{where}: <{tag} {attrs}>"
    assert tag not in {"style", "iframe", "img"}, what
    assert "style" not in attrs, what
    assert not [name for name in attrs if name.startswith("on")], what
    assert "None" not in attrs.values(), what
    if tag == "script":
        assert "src" in attrs, what
        assert not element.text, what
    _lint_references(element, ids, what)
    if tag in CONTROLS and attrs.get("type") not in {"hidden", "submit", "button"}:
        assert _is_labelled(element), f"{what} has no label"
    if tag in {"a", "button", "summary", "legend", "th", "caption", "label"} | HEADINGS:
        assert element.text or "aria-label" in attrs or element.all("input"), f"{what} is empty"
    if tag == "table":
        assert element.all("caption"), f"{what} has no caption"
    if tag == "th":
        assert "scope" in attrs, f"{what} has no scope"
    if tag == "form" and attrs.get("method") == "post":
        names = [e.attrs.get("name") for e in element.all("input")]
        assert names.count("csrf_token") == 1, f"{what} has no CSRF token"
    if tag == "button":
        assert element.inside("form") or "form" in attrs or attrs.get("type") == "button", what


def _is_labelled(element: Element) -> bool:
    attrs = element.attrs
    if attrs.get("aria-label") or attrs.get("aria-labelledby"):
        return True
    label = element.inside("label")
    if label is not None and label.text:
        return True
    top = element
    while top.parent is not None:
        top = top.parent
    return any(e.attrs.get("for") == attrs.get("id") and e.text for e in top.all("label"))


def _sent(form: Element) -> MultiDict[str, str]:
    """What a browser would send of the form as it stands, without a button."""
    sent: MultiDict[str, str] = MultiDict()
    for control in form.all(*CONTROLS):
        attrs = control.attrs
        name = attrs.get("name")
        if not name or "disabled" in attrs:
            continue
        if control.tag == "textarea":
            typed = "".join(c for c in control.children if isinstance(c, str))
            sent.add(name, typed.replace("\r\n", "\n").removeprefix("\n"))
        elif control.tag == "select":
            options = control.all("option")
            chosen = [o for o in options if "selected" in o.attrs] or options[:1]
            for option in chosen:
                sent.add(name, option.attrs.get("value", option.text))
        elif attrs.get("type") not in {"checkbox", "radio"} or "checked" in attrs:
            sent.add(name, attrs.get("value", "on" if attrs.get("type") == "checkbox" else ""))
    return sent


def _lint_references(element: Element, ids: set[str], what: str) -> None:
    attrs = element.attrs
    for name in ("aria-describedby", "aria-labelledby", "aria-controls", "for", "list", "form"):
        missing = set(attrs.get(name, "").split()) - ids
        assert not missing, f"{what}: {name} points to nothing"
    for name in ("href", "src", "action", "formaction"):
        target = attrs.get(name, "/")
        assert re.match(r"(/(?!/)|#|\?|[\w.-]+$|$)", target), f"{what}: leads elsewhere"
        if target.startswith("#") and element.tag == "a":
            assert target[1:] in ids, f"{what}: leads nowhere"
