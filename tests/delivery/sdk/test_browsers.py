"""Pages of another site read features in a real browser, with the SDKs that people use."""

import http.server
import json
import subprocess
import threading
import time

import pytest

from tests.support.programs import SDKS

pytestmark = pytest.mark.one_in(2)

FEATURES = "/api/admin/projects/default/features"
CART = f"{FEATURES}/cart/environments/production"
POLL_SECONDS = 1
READ_WITH_OPEN_FEATURE = "([u, t, c, w]) => readWithOpenFeature(u, t, c, w)"
BLUE = {"name": "blue", "weight": 1000, "payload": {"type": "string", "value": "#00f"}}


@pytest.fixture(scope="session")
def script(sdks, tmp_path_factory):
    """What pages load: the SDKs in one file."""
    made = tmp_path_factory.mktemp("page") / "page.js"
    esbuild = SDKS / "node_modules/.bin/esbuild"
    command = [esbuild, SDKS / "browser.mjs", "--bundle", "--format=iife", f"--outfile={made}"]
    subprocess.run([*command, "--log-level=error"], check=True)
    return made.read_bytes()


@pytest.fixture
def site(script):
    """The origin of a site of someone else."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            is_script = self.path == "/page.js"
            body = script if is_script else b"<!doctype html><script src=/page.js></script>"
            self.send_response(200)
            kind = "text/javascript" if is_script else "text/html; charset=utf-8"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def server(start):
    server = start()
    server.call("POST", FEATURES, {"name": "cart", "impressionData": True})
    strategy = {"name": "flexibleRollout", "variants": [BLUE]}
    server.call("POST", f"{CART}/strategies", strategy)
    return server


@pytest.fixture
def token(server):
    body = {"tokenName": "page", "type": "frontend", "environment": "production"}
    return server.call("POST", "/api/admin/api-tokens", body).json["secret"]


@pytest.fixture
def page(chromium_browser, site):
    with chromium_browser.new_context() as context:
        page = context.new_page()
        page.goto(site)
        yield page


def wait_for(page, is_it, seconds=15):
    """After how many seconds the page has said something; else what it said."""
    start = time.monotonic()
    while time.monotonic() < start + seconds:
        if any(is_it(line) for line in page.evaluate("window.said")):
            return time.monotonic() - start
        page.wait_for_timeout(20)
    pytest.fail(json.dumps(page.evaluate("window.said")))


def forget(page):
    page.evaluate("window.said.length = 0")


def switch(server, way):
    assert server.call("POST", f"{CART}/{way}").status == 200


def test_the_sdk_for_browsers_sees_changes_within_a_poll_and_reports(server, token, page):
    answers = []
    page.on("response", lambda answer: answers.append((answer.request.method, answer.status)))
    context = {"userId": "1", "properties": {"country": "NO"}}
    page.evaluate("([u, t, c]) => readWithUnleash(u, t, c)", [server.address, token, context])
    wait_for(page, lambda line: line.get("on") is False)
    for way in ("on", "off", "on"):
        forget(page)
        switch(server, way)
        is_on = way == "on"
        assert wait_for(page, lambda line, on=is_on: line.get("on") is on) < POLL_SECONDS + 1
    [seen] = [line["variant"] for line in page.evaluate("window.said") if line.get("on")][-1:]
    assert (seen["name"], seen["payload"]["value"]) == ("blue", "#00f")
    wait_for(page, lambda line: line.get("impression") == "cart")
    deadline = time.monotonic() + 15
    while "page" not in seen_applications(server):
        assert time.monotonic() < deadline
        page.wait_for_timeout(200)
    page.wait_for_timeout(2_500)
    assert ("GET", 304) in answers
    assert {status for _, status in answers} <= {200, 204, 304}
    assert not [line for line in page.evaluate("window.said") if "error" in line]


def seen_applications(server):
    found = server.call("GET", "/api/admin/client-metrics/features/cart").json
    return found["seenApplications"]


def test_open_feature_on_the_web_sees_changes_within_a_poll(server, token, page):
    answers = []
    page.on("response", lambda answer: answers.append((answer.request.method, answer.status)))
    switch(server, "on")
    sent = [server.address, token, {"targetingKey": "1"}, "polling"]
    page.evaluate(READ_WITH_OPEN_FEATURE, sent)
    on = {"value": "#00f", "variant": "blue", "reason": "STATIC"}
    wait_for(page, lambda line: line == on)
    for way in ("off", "on"):
        forget(page)
        switch(server, way)
        wanted = "#00f" if way == "on" else "the default"
        assert wait_for(page, lambda line, w=wanted: line["value"] == w) < POLL_SECONDS + 1
    page.wait_for_timeout(2_500)
    assert ("POST", 304) in answers
    assert {status for _, status in answers} <= {200, 204, 304}


def test_open_feature_on_the_web_hears_of_changes_and_does_not_poll(server, token, page, start):
    asked = []
    page.on("request", lambda sent: asked.append(sent.url) if sent.method == "POST" else None)
    sent = [server.address, token, {"targetingKey": "1"}, "sse"]
    page.evaluate(READ_WITH_OPEN_FEATURE, sent)
    wait_for(page, lambda line: line["value"] == "the default")
    page.wait_for_timeout(2_500)
    before = len(asked)
    page.wait_for_timeout(2_500)
    assert len(asked) == before
    for way in ("on", "off"):
        forget(page)
        switch(server, way)
        wanted = "#00f" if way == "on" else "the default"
        wait_for(page, lambda line, w=wanted: line["value"] == w)
    server.end()
    server = start(PORT=str(server.port))
    forget(page)
    switch(server, "on")
    wait_for(page, lambda line: line["value"] == "#00f")


def test_a_site_that_is_not_in_the_list_reads_nothing(server, token, page, site):
    origins = {"frontendApiOrigins": ["https://shop.example.com"]}
    server.call("POST", "/api/admin/ui-config/cors", origins)
    page.evaluate("([u, t]) => readWithUnleash(u, t, {})", [server.address, token])
    wait_for(page, lambda line: "error" in line)
    server.call("POST", "/api/admin/ui-config/cors", {"frontendApiOrigins": [site]})
    page.reload()
    page.evaluate("([u, t]) => readWithUnleash(u, t, {})", [server.address, token])
    wait_for(page, lambda line: line.get("on") is False)
