"""What a page says after Save."""

import pytest

from tests.support.browser import Browser
from tests.support.clients import ApiClient

FEATURES = "/projects/default/features"


@pytest.mark.parametrize("kind", ["user", "service account", "feature", "feature with a parent"])
def test_nothing_is_called_saved_when_nothing_changed(
    browser: Browser, admin: ApiClient, people, kind: str
):
    if kind.startswith("feature"):
        for name in ("base", "child"):
            admin.ok("POST", FEATURES, {"name": name})
        if kind == "feature with a parent":
            admin.ok("POST", f"{FEATURES}/child/dependencies", {"feature": "base"})
        path = f"{FEATURES}/child/{'tags' if 'parent' in kind else 'settings'}"
    elif kind == "user":
        path = f"/users/{people.person('ann')}"
    else:
        path = f"/service-accounts/{people.service_account('deploy')}"
    before = admin.ok("GET", "/events")["total"]
    page = browser.submit(browser.get(path), form="Save", button="Save")
    assert browser.follow(page).messages == ["Nothing changed."]
    assert admin.ok("GET", "/events")["total"] == before
