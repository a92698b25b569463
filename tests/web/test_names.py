"""Names that could be mistaken for an address of the portal, or for part of a template."""

import pytest

NAMES = [
    "new",
    "new-project",
    "new-feature",
    "archive",
    "tags",
    "settings",
    "static",
    "api",
    "keys",
]


@pytest.mark.parametrize("name", NAMES)
def test_whatever_its_name_everything_has_its_page(admin, browser, name):
    admin.ok("POST", "/environments", {"name": name, "type": "test"})
    admin.ok("POST", "/projects", {"id": name, "name": "A project", "environments": [name]})
    admin.ok("POST", f"/projects/{name}/features", {"name": name})
    admin.ok("POST", "/tag-types", {"name": name})
    assert browser.get(f"/projects/{name}").h1 == "A project"
    for path in (
        f"/projects/{name}/features/{name}",
        f"/environments/{name}",
        f"/tags/types/{name}",
    ):
        page = browser.get(path)
        assert page.status == 200
        assert name in page.h1
