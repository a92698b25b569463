"""The code that the help shows for React and Next.js, run with their SDKs."""

import os
import re
import subprocess

import pytest
from playwright.sync_api import expect
from selectolax.lexbor import LexborHTMLParser

from tests.support.programs import SDKS
from tests.support.servers import until

pytestmark = pytest.mark.one_in(2)

NEW = {"tokenName": "shop", "environment": "production"}
ESBUILD = (SDKS / "node_modules/.bin/esbuild", "--bundle", "--jsx=automatic", "--loader=tsx")
RENDER = """
import { renderToStaticMarkup } from "react-dom/server";
Page().then((page) => console.log(renderToStaticMarkup(page)));
"""


@pytest.fixture
def server(start):
    """A server on which my-feature is on in production."""
    server = start()
    server.call("POST", "/api/admin/projects/default/features", {"name": "my-feature"})
    path = "/api/admin/projects/default/features/my-feature/environments/production/on"
    assert server.call("POST", path).status == 200
    return server


def token(server, type):
    return server.call("POST", "/api/admin/api-tokens", NEW | {"type": type}).json["secret"]


def code(server, language):
    page = LexborHTMLParser(server.call("GET", "/help/connect", token=None).data)
    figures = {
        figure.css_first("figcaption").text().split()[0]: figure.css_first("pre").text()
        for figure in page.css("figure.code")
    }
    return figures[language]


def bundled(source, *options):
    return subprocess.run(
        [*ESBUILD, *options],
        input=source,
        cwd=SDKS,  # where the packages are
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def wait_until_it_is_seen(server):
    path = "/api/admin/client-metrics/features/my-feature"
    until(lambda: server.call("GET", path).json["seenApplications"] == ["my-application"])


def test_the_code_for_react_shows_a_feature(sdks, server, chromium_browser):
    source = code(server, "React").replace("YOUR_BROWSER_TOKEN", token(server, "frontend"))
    with chromium_browser.new_context() as context:
        page = context.new_page()
        html = f"<!doctype html><div id=root></div><script>{bundled(source)}</script>"
        page.route("**/shop", lambda route: route.fulfill(body=html, content_type="text/html"))
        page.goto(f"{server.address}/shop")
        expect(page.get_by_text("On", exact=True)).to_be_visible()


def test_the_code_for_next_js_renders_a_feature_and_reports_its_use(sdks, server):
    source = code(server, "Next.js").replace("YOUR_SERVER_TOKEN", token(server, "client"))
    done = subprocess.run(
        ["node", "-"],
        input=bundled(source + RENDER, "--platform=node"),
        env=os.environ | dict(re.findall(r"(UNLEASH_\w+)=(\S+)", source)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("<p>On</p>\n", "")
    wait_until_it_is_seen(server)
