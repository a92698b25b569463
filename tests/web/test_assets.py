"""Style sheets and scripts: kept by browsers as long as they stay the same, and small."""

import gzip
import re

import pytest
from werkzeug.test import TestResponse

from app.core.files import STATIC
from app.web.assets import asset
from tests.support.browser import Browser

ZIPPED = {"Accept-Encoding": "gzip"}
FIRST_VISIT, LATER_VISITS = 60_000, 20_000
"""Bytes that a page may weigh with all that it needs."""


def get(browser: Browser, path: str, headers: dict[str, str] | None = None) -> TestResponse:
    return browser.client.get(path, headers=headers or {}, buffered=True)


def assets_of(text: str) -> list[str]:
    return sorted(set(re.findall(r'"(/static/[^"#]+)', text)))


def test_an_asset_is_kept_for_a_year_under_its_own_address(visitor: Browser):
    page = visitor.get("/sign-in")
    assert len(assets_of(page.text)) > 5
    for address in assets_of(page.text):
        answer = get(visitor, address)
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, immutable, max-age=31536000"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_an_address_without_its_version_is_not_kept(visitor: Browser):
    answer = get(visitor, "/static/css/base.css")
    assert "max-age" not in answer.headers["Cache-Control"]


def test_another_content_has_another_address(app, monkeypatch, tmp_path):
    monkeypatch.setattr("app.web.assets.STATIC", tmp_path)
    file = tmp_path / "x.css"
    with app.test_request_context():
        file.write_text("a {}")
        before = asset("x.css")
        file.write_text("b {}")
        assert asset("x.css") != before


@pytest.mark.parametrize("path", ["/sign-in", "/static/css/components.css", "/static/icons.svg"])
def test_responses_are_compressed_for_clients_that_accept_it(visitor, path):
    plain, zipped = get(visitor, path), get(visitor, path, ZIPPED)
    assert "Content-Encoding" not in plain.headers
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in zipped.headers["Vary"]
    assert len(zipped.data) < len(plain.data) / 2
    refusing = get(visitor, path, {"Accept-Encoding": "gzip;q=0, identity"})
    assert "Content-Encoding" not in refusing.headers
    if path != "/sign-in":  # whose CSRF token is another each time
        assert gzip.decompress(zipped.data) == plain.data == refusing.data


def test_a_browser_that_has_an_asset_is_not_sent_it_again(visitor: Browser):
    for headers in ({}, ZIPPED):
        first = get(visitor, "/static/css/base.css", headers)
        known = headers | {"If-None-Match": first.headers["ETag"]}
        again = get(visitor, "/static/css/base.css", known)
        assert (again.status_code, again.data) == (304, b"")


def test_a_full_list_weighs_little(browser: Browser, admin):
    for number in range(50):
        name = f"checkout.basket.step-{number}"
        body = {"name": name, "description": f"What step {number} of the basket does, in words"}
        admin.ok("POST", "/projects/default/features", json=body)
        tags = [{"value": f"tag-{n}"} for n in range(number % 4)]
        body = {"features": [name], "tags": {"addedTags": tags, "removedTags": []}}
        admin.ok("PUT", "/projects/default/tags", json=body)
    text = browser.get("/projects/default").text
    page = len(get(browser, "/projects/default", ZIPPED).data)
    files = sum(len(get(browser, a, ZIPPED).data) for a in assets_of(text))
    assert page <= LATER_VISITS
    assert page + files <= FIRST_VISIT


def test_a_list_of_fifty_projects_weighs_little(browser: Browser, admin):
    for number in range(50):
        name = f"Checkout, step {number}"
        body = {"id": f"step-{number}", "name": name, "description": f"What {name} does, in words"}
        admin.ok("POST", "/projects", {**body, "mode": ("open", "private")[number % 2]})
    text = browser.get("/projects").text
    assert text.count("</tr>") == 51
    page = len(get(browser, "/projects", ZIPPED).data)
    files = sum(len(get(browser, a, ZIPPED).data) for a in assets_of(text))
    assert page <= LATER_VISITS
    assert page + files <= FIRST_VISIT


def test_the_scripts_are_small_modules_and_the_styles_bounded():
    lengths = {path.name: len(path.read_text().splitlines()) for path in STATIC.glob("js/*.js")}
    assert max(lengths.values()) <= 100, lengths
    assert sum(len(path.read_text().splitlines()) for path in STATIC.glob("css/*.css")) <= 1_270
