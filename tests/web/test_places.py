"""What is in the same place on the page of every object."""

import pytest

from tests.support.browser import Browser, Element, text_of
from tests.support.clients import ApiClient
from tests.support.people import People

ENDS = ("Archive", "Delete", "Deprecate", "Revive", "Use ")
"""How the name of a button begins that ends an object, or brings it back."""


@pytest.fixture
def objects(people: People, admin: ApiClient, browser: Browser) -> dict[str, str]:
    """A page of an object of each kind."""
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "banner"})
    admin.ok("POST", "/projects", {"id": "empty", "name": "Empty"})
    admin.ok("POST", "/tag-types", {"name": "season"})
    tags = {"addedTags": [{"type": "simple", "value": "winter"}], "removedTags": []}
    admin.ok("PUT", "/projects/shop/tags", {"features": ["banner"], "tags": tags})
    tags = {"addedTags": [], "removedTags": tags["addedTags"]}
    admin.ok("PUT", "/projects/shop/tags", {"features": ["banner"], "tags": tags})
    return {
        "environment": "/environments/production",
        "feature": "/projects/shop/features/banner/settings",
        "project": "/projects/empty/settings",
        "service account": f"/service-accounts/{people.service_account('robot')}",
        "tag": browser.get("/tags").links["simple:winter"],
        "tag type": "/tags/types/season",
        "user": f"/users/{people.person('ada')}",
    }


def test_an_object_is_ended_in_the_last_section_of_its_page(
    browser: Browser, objects: dict[str, str]
):
    for kind, path in objects.items():
        [main] = browser.get(path).select("main")
        last = main.css("section")[-1]
        assert _that_end(main) == _that_end(last), kind
        assert _that_end(last), kind


def test_an_archived_object_is_revived_where_it_was_archived(
    browser: Browser, admin: ApiClient, objects: dict[str, str]
):
    admin.ok("DELETE", "/projects/empty")
    admin.ok("POST", "/projects/shop/archive", {"features": ["banner"]})
    for kind, ends in {"feature": ["Revive", "Delete…"], "project": ["Revive"]}.items():
        last = browser.get(objects[kind]).select("main section")[-len(ends) :]
        found = [text.split()[0] for section in last for text in _that_end(section)]
        assert found == ends, kind


def test_a_page_with_a_form_saves_in_one_place(browser: Browser, objects: dict[str, str]):
    for kind, path in objects.items():
        buttons = [text_of(button) for button in browser.get(path).select("button")]
        saving = "Review…" if kind == "tag" else "Save"
        assert buttons.count(saving) == 1, kind


def _that_end(part: Element) -> list[str]:
    texts = map(text_of, part.css("a, button"))
    return [text for text in texts if text.startswith(ENDS)]
