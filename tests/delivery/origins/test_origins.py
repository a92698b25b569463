"""Which sites may read features: the list, and what browsers are answered."""

import pytest

from tests.support.clients import error_of, problems_of
from tests.support.machines import Machine

CORS = "/ui-config/cors"
SHOP, OTHER = "https://shop.example.com", "https://other.example.com"
PLACES = ("/api/frontend", "/ofrep/v1/evaluate/flags", "/ofrep/v1/evaluate/flags/cart")
ASKED = "authorization,unleash-appname, x-custom"


def allow(admin, *origins):
    answer = admin.post(CORS, {"frontendApiOrigins": list(origins)})
    assert (answer.status_code, answer.data) == (204, b"")


def allowed(admin):
    return admin.ok("GET", "/ui-config")["frontendApiOrigins"]


def preflight(app, place, origin=SHOP, asked=ASKED):
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": asked,
    }
    return app.test_client().options(place, headers=headers)


def test_at_first_all_sites_may_read(admin):
    found = admin.ok("GET", "/ui-config")
    version = found.pop("version")
    assert found == {
        "name": "Flagstaff",
        "unleashUrl": "http://127.0.0.1:4242",
        "baseUriPath": "",
        "frontendApiOrigins": ["*"],
        "maintenanceMode": False,
        "versionInfo": {"current": {"oss": version}, "latest": {}, "isLatest": True},
    }


@pytest.mark.parametrize("place", PLACES)
def test_a_browser_may_ask_before_it_sends_and_needs_no_token(app, admin, place):
    answer = preflight(app, place)
    assert (answer.status_code, answer.data) == (204, b"")
    found = {name: value for name, value in answer.headers if name.startswith(("Access-", "Vary"))}
    assert found == {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": "GET, HEAD, POST",
        "Access-Control-Allow-Headers": "authorization, unleash-appname, x-custom",
        "Access-Control-Expose-Headers": "ETag",
        "Access-Control-Max-Age": "86400",
        "Vary": "Origin, Accept-Encoding, Authorization",
    }


@pytest.mark.parametrize("place", PLACES)
def test_only_the_sites_in_the_list_are_let_in(app, admin, place):
    allow(admin, SHOP)
    name = "Access-Control-Allow-Origin"
    assert preflight(app, place).headers[name] == SHOP
    other = preflight(app, place, OTHER)
    assert (other.status_code, other.headers.get(name)) == (204, None)
    assert preflight(app, place, "null").headers.get(name) is None
    allow(admin)
    assert preflight(app, place).headers.get(name) is None


@pytest.mark.parametrize("place", PLACES)
def test_a_site_can_read_a_refusal_too(app, admin, place):
    allow(admin, SHOP)
    answer = app.test_client().post(place, headers={"Origin": SHOP})
    assert answer.status_code == 401
    assert answer.headers["Access-Control-Allow-Origin"] == SHOP
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_answers_and_304s_can_be_read_and_cached_by_site(app, admin, new_front):
    front = new_front()
    answer = front.ask(headers={"Origin": SHOP})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    sent = {"Origin": SHOP, "If-None-Match": answer.headers["ETag"]}
    again = front.ask(headers=sent)
    assert again.status_code == 304
    assert again.headers["Access-Control-Allow-Origin"] == "*"
    assert "Origin" in again.headers["Vary"]
    assert "Access-Control-Allow-Origin" not in front.ask().headers


def test_servers_need_no_permission_for_sites(app, admin, sdk):
    answer = sdk.get(Origin=SHOP)
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_what_a_browser_asks_for_is_cleaned_before_it_is_repeated(app, admin):
    answer = preflight(app, "/api/frontend", asked="a, b c;d, é\t(x), " + "y" * 500)
    found = answer.headers["Access-Control-Allow-Headers"]
    assert found.isascii()
    assert set(found) <= set("abcdxy, ")


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("*", "*"),
        ("https://Shop.Example.com", SHOP),
        ("https://shop.example.com:443", SHOP),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("http://[::1]:5173", "http://[::1]:5173"),
        ("capacitor://localhost", "capacitor://localhost"),
    ],
)
def test_an_origin_is_stored_as_browsers_send_it(admin, given, stored):
    allow(admin, given, given)
    assert allowed(admin) == [stored]


def test_what_is_no_origin_is_refused_with_its_place(admin, subtests):
    for bad in (
        "shop.example.com",
        "https://",
        "https://shop.example.com/",
        "https://shop.example.com/path",
        "https://*.example.com",
        "https://user@shop.example.com",
        "https://shop.example.com:99999",
        "https://shop.example.com:0",
        "https://a..b",
        "null",
        "https://a?b",
        7,
    ):
        with subtests.test(bad=bad):
            refusal = admin.post(CORS, {"frontendApiOrigins": [SHOP, bad]})
            assert list(problems_of(refusal)) == ["/frontendApiOrigins/1"]
            assert allowed(admin) == ["*"]


def test_the_list_is_needed_and_has_an_end(admin):
    assert list(problems_of(admin.post(CORS, {}))) == ["/frontendApiOrigins"]
    many = [f"https://a{number}.example" for number in range(101)]
    refusal = admin.post(CORS, {"frontendApiOrigins": many})
    assert list(problems_of(refusal)) == ["/frontendApiOrigins"]


def test_a_change_is_an_event_and_no_change_is_none(admin):
    allow(admin, SHOP)
    allow(admin, SHOP)
    found = [
        event
        for event in admin.ok("GET", "/events")["events"]
        if event["type"] == "browser-origins-updated"
    ]
    [event] = found
    assert event["preData"] == {"frontendApiOrigins": ["*"]}
    assert event["data"] == {"frontendApiOrigins": [SHOP]}


def test_only_an_admin_may_change_it_and_everyone_may_read_it(editor, viewer):
    assert error_of(editor.post(CORS, {"frontendApiOrigins": []})) == (403, "NoAccessError")
    assert allowed(viewer) == ["*"]


def test_the_page_changes_the_list_and_refuses_in_the_same_words(browser, admin):
    page = browser.get("/browser-origins")
    assert page.fields("Save")["frontend_api_origins"].strip() == "*"
    page = browser.submit(page, {"frontend_api_origins": f"{SHOP}\n\n {OTHER}/ \n"})
    refusal = admin.post(CORS, {"frontendApiOrigins": [f"{OTHER}/"]})
    assert page.status == 400
    [message] = problems_of(refusal).values()
    assert any(message in error for error in page.errors)
    browser.submit(page, {"frontend_api_origins": f"{SHOP}\n\n {OTHER} \n"})
    assert allowed(admin) == [SHOP, OTHER]


def test_two_who_edit_the_list_do_not_undo_each_other(browser, admin):
    page = browser.get("/browser-origins")
    allow(admin, SHOP)
    refused = browser.submit(page, {"frontend_api_origins": OTHER})
    assert refused.status == 409
    assert refused.has(SHOP)
    assert allowed(admin) == [SHOP]


@pytest.mark.slow
def test_the_command_lists_and_sets(machine: Machine):
    assert machine.ok("browser-origins", "list") == "*"
    assert machine.ok("browser-origins", "set", SHOP, OTHER) == f"{SHOP}\n{OTHER}"
    assert machine.ok("browser-origins", "set", "--dry-run") is not None
    assert machine.ok("browser-origins", "list") == f"{SHOP}\n{OTHER}"
    assert machine.run("browser-origins", "set", "x").returncode != 0
