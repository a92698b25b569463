"""On a sub-path every address that a page names is below it."""

import re
from urllib.parse import urlsplit

import pytest

from tests.support.browser import Browser

ADDRESS = re.compile(r'(?:href|src|action|formaction)="(/[^"]*)"')
PAGES = (
    "/projects",
    "/new-project",
    "/projects/web",
    "/projects/web?archived=true",
    "/projects/web/paste",
    "/projects/web/members",
    "/projects/web/settings",
    "/projects/web/new-feature",
    "/projects/web/features/search",
    "/account",
    "/account/permissions",
    "/account/security",
    "/account/second-step",
    "/tags",
    "/environments",
    "/users",
    "/users/1",
    "/users/inactive",
    "/service-accounts",
    "/sdk-tokens",
    "/browser-origins",
    "/webhooks",
    "/new-webhook",
    "/connect",
    "/service-accounts/2",
    "/events",
    "/help",
    "/help/api",
    "/api/",
    "/nowhere",
)


@pytest.fixture
def furnished(admin, people, browser) -> Browser:
    people.service_account("robot")
    admin.ok("POST", "/projects", {"id": "web", "name": "Web"})
    admin.ok("POST", "/projects/web/features", {"name": "search"})
    return browser


def test_no_page_names_an_address_outside(furnished):
    for path in PAGES:
        page = furnished.client.get(path, environ_overrides={"SCRIPT_NAME": "/flags"})
        found = ADDRESS.findall(page.text)
        assert found, path
        assert [one for one in found if not one.startswith("/flags/")] == [], path


@pytest.mark.parametrize(
    ("method", "old", "new"),
    [
        (
            "GET",
            "/projects/web/tags/take-back?batch=b1&of=2",
            "/projects/web/tags/undo?batch=b1&of=2",
        ),
        ("POST", "/projects/web/tags/take-back?batch=b1", "/projects/web/tags/undo?batch=b1"),
        ("POST", "/projects/web/put-away", "/projects/web/settings/archive"),
        ("POST", "/projects/web/bring-back", "/projects/web/settings/revive"),
    ],
)
def test_an_address_of_an_earlier_version_redirects_with_method_and_query(app, method, old, new):
    answer = app.test_client().open(old, method=method)
    assert (answer.status_code, urlsplit(answer.location)[2:4]) == (308, urlsplit(new)[2:4])
