"""Forms that come back with a field missing, as no browser sends them."""

import pytest


@pytest.fixture
def web(admin):
    admin.ok("POST", "/projects", {"id": "web", "name": "Web"})
    admin.ok("POST", "/projects/web/features", {"name": "cart"})
    admin.ok("POST", "/context", {"name": "plan"})
    admin.ok("POST", "/strategies", {"name": "by-region", "parameters": [{"name": "regions"}]})


@pytest.mark.parametrize(
    "path",
    [
        "/projects/web/settings",
        "/projects/web/features/cart/settings",
        "/projects/web/new-feature",
        "/new-project",
        "/users/1",
        "/users/new",
        "/service-accounts/new",
        "/environments/production",
        "/new-environment",
        "/tags/types/simple",
        "/tags/new-type",
        "/context-fields/plan",
        "/new-context-field",
        "/strategy-types/by-region",
        "/new-strategy-type",
        "/connect",
        "/projects/web/connect",
    ],
)
def test_a_field_that_is_missing_is_an_error_in_the_form_or_none(browser, web, path):
    sent = browser.get(path).fields(0)
    sent |= {name: value or "typed" for name, value in sent.items()}
    for name in sent.keys() - {"csrf_token", "seen"}:
        rest = {key: value for key, value in sent.items() if key != name}
        answer = browser.post(path, rest | {"csrf_token": browser.csrf_token()})
        assert answer.status in {200, 303, 400, 409}, name
