"""A browser without JavaScript: it keeps cookies, fills in forms, and lints each page it sees."""

import re
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString, Tag
from flask import Flask
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from app.accounts import service as accounts
from app.core.db import unit_of_work
from app.sessions import service as sessions
from app.sessions.service import Browser as OpenedBy

VOID = {"meta", "link", "input", "br", "hr", "img", "wbr"}
IN_WORDS = {"a", "b", "code", "wbr", "kbd", "mark", "time"}
CONTROLS = {"input", "select", "textarea"}
REFERENCES = {"aria-describedby", "aria-labelledby", "aria-controls", "for", "list", "form"}
ADDRESSES = {"href", "src", "action", "formaction"}
REDIRECTS = {301, 302, 303, 308}
HEADINGS = {"h1", "h2", "h3", "h4"}
SIGN_OUT_THERE = "/session/end?id_token_hint="
"""In the only address of another server that a page leads to."""
CHANCE = re.compile(r'[0-9a-f-]{36}|value="[^"]{50,}"')
"""What differs between two visits of the same page: ids of requests, and CSRF tokens."""
WITH_WORDS = {"a", "button", "summary", "legend", "th", "caption", "label"} | HEADINGS


_linted: set[str] = set()


def text_of(element: Tag) -> str:
    """What is to be read in it, in one line; words of different blocks are apart."""
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Tag) -> Iterator[str]:
    for child in element.contents:
        if isinstance(child, Tag):
            apart = "" if child.name in IN_WORDS or child.get("class") == "tag__type" else " "
            yield apart
            yield from _pieces(child)
            yield apart
        elif isinstance(child, NavigableString) and not isinstance(child, PreformattedString):
            yield child


class _Nesting(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, *_: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, *_: object) -> None:
        """It is closed already."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], f"</{tag}> in line {self.getpos()[0]} closes {self.open}"
        self.open.pop()


def check_nesting(html: str) -> None:
    """Refuse tags that are not closed in order, which BeautifulSoup would repair silently."""
    nesting = _Nesting()
    nesting.feed(html)
    nesting.close()
    assert not nesting.open, f"{nesting.open} are not closed"


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
    def soup(self) -> BeautifulSoup:
        """All of it; each attribute is one string, even ``class``."""
        check_nesting(self.text)
        return BeautifulSoup(self.text, "html.parser", multi_valued_attributes=None)

    @property
    def title(self) -> str:
        return text_of(self.soup.find_all("title")[0])

    @property
    def h1(self) -> str:
        return text_of(self.soup.find_all("h1")[0])

    @property
    def words(self) -> str:
        """All that is to be read, in one line."""
        return text_of(self.soup.find_all("body")[0])

    @property
    def messages(self) -> list[str]:
        """What the page tells by itself."""
        found = [text_of(e) for e in self.soup.find_all(role=["alert", "status"])]
        return [text for text in found if text]

    @property
    def errors(self) -> list[str]:
        """The lines of the summary on top."""
        if self.status in REDIRECTS:
            return []
        return [text_of(item) for item in self.soup.select(".summary li")]

    @property
    def links(self) -> dict[str, str]:
        return {text_of(e): str(e["href"]) for e in self.soup.find_all("a")}

    def has(self, text: str) -> bool:
        return text in self.words

    def form(self, which: int | str = 0) -> Tag:
        """A form of the content: by its number, or by the end of its action or a button of it.

        Switches and stars, which are forms of one button, are not counted.
        """
        if isinstance(which, int):
            forms = self.soup.find_all("main")[0].find_all("form")
            alone = '[role="switch"], .star'
            return [form for form in forms if form.select_one(alone) is None][which]
        for form in self.soup.find_all("form"):
            buttons = {text_of(button) for button in form.find_all("button")}
            if str(form.get("action", self.path)).endswith(which) or which in buttons:
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
        action = str(element.get("action", page.path))
        buttons = [b for b in element.find_all("button") if button is None or text_of(b) == button]
        assert buttons, f"no button {button!r}"
        if "name" in buttons[0].attrs and button is not None:
            sent.add(str(buttons[0]["name"]), str(buttons[0].get("value", "")))
        action = urljoin(page.path, str(buttons[0].get("formaction", action)))
        if buttons[0].get("formmethod", element.get("method")) == "post":
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
    soup, elements = page.soup, page.soup.find_all(True)
    where = f"{page.path} ({page.status})"
    headers = page.answer.headers
    assert "default-src 'none'" in headers["Content-Security-Policy"], where
    assert headers["Cache-Control"] == "no-store", where
    assert soup.find_all("html")[0]["lang"] == "en", where
    h1s = soup.find_all("h1")
    assert len(h1s) == 1, f"{where}: {h1s}"
    assert page.title.removesuffix("· Flagstaff").strip(), f"{where}: no title"
    ids = [str(e["id"]) for e in elements if "id" in e.attrs]
    known = set(ids)
    assert len(ids) == len(known), f"{where}: ids twice: {sorted(ids)}"
    labelled = {str(e["for"]) for e in soup.find_all("label") if "for" in e.attrs and text_of(e)}
    for element in elements:
        try:
            _lint_element(element, known, labelled)
        except AssertionError as wrong:
            raise AssertionError(f"{where}: <{element.name} {element.attrs}> {wrong}") from None
    levels = [int(e.name[1]) for e in elements if e.name in HEADINGS]
    for before, after in zip([0, *levels], levels, strict=False):
        assert after <= before + 1, f"{where}: a heading h{after} after h{before}"


def _lint_element(element: Tag, known: set[str], labelled: set[str]) -> None:
    tag, attrs = element.name, element.attrs
    assert tag not in {"style", "iframe", "img"}, "is refused by the browser"
    for name, value in attrs.items():
        _lint_attribute(tag, name, str(value), known)
    if tag == "script":
        assert "src" in attrs, "has no src"
        assert not text_of(element), "has code"
    if tag in CONTROLS and attrs.get("type") not in {"hidden", "submit", "button"}:
        assert _is_labelled(element, labelled), "has no label"
    if tag in WITH_WORDS:
        assert text_of(element) or "aria-label" in attrs or element.find("input"), "is empty"
    if tag == "table":
        assert element.find("caption"), "has no caption"
    if tag == "th":
        assert "scope" in attrs, "has no scope"
    if tag == "form" and attrs.get("method") == "post":
        tokens = element.find_all("input", attrs={"name": "csrf_token"})
        assert len(tokens) == 1, f"has {len(tokens)} CSRF tokens"
    if tag == "select" and "required" in attrs:
        assert element.find_all("option")[0].get("value") == "", "has no empty option"
    if tag == "button" and attrs.get("type") != "button":
        assert "form" in attrs or element.find_parent("form"), "is in no form"


def _lint_attribute(tag: str, name: str, value: str, known: set[str]) -> None:
    assert name != "style", "has a style"
    assert not name.startswith("on"), "has a handler"
    assert value != "None", f"has nothing in {name}"
    if name in REFERENCES:
        assert known.issuperset(value.split()), f"{name} points to nothing"
    elif name in ADDRESSES:
        is_own = re.match(r"(/(?!/)|#|\?|[\w.-]+$|$)", value) is not None
        assert is_own or SIGN_OUT_THERE in value, f"{name} leads elsewhere"
        if tag == "a" and value.startswith("#"):
            assert value[1:] in known, f"{name} leads nowhere"


def _is_labelled(element: Tag, labelled: set[str]) -> bool:
    if element.get("aria-label") or element.get("aria-labelledby"):
        return True
    label = element.find_parent("label")
    return element.get("id") in labelled or (label is not None and text_of(label) != "")


def sent_by(form: Tag) -> MultiDict[str, str]:
    """What a browser would send of the form now, without a button."""
    sent: MultiDict[str, str] = MultiDict()
    for control in form.find_all(CONTROLS):
        name, kind = str(control.get("name", "")), control.get("type")
        if not name or "disabled" in control.attrs:
            continue
        if control.name == "textarea":
            sent.add(name, control.get_text().replace("\r\n", "\n").removeprefix("\n"))
        elif control.name == "select":
            options = control.find_all("option")
            for option in [o for o in options if "selected" in o.attrs] or options[:1]:
                sent.add(name, str(option.get("value", text_of(option))))
        elif kind not in {"checkbox", "radio"} or "checked" in control.attrs:
            sent.add(name, str(control.get("value", "on" if kind == "checkbox" else "")))
    return sent
