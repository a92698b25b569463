"""A tag type is renamed with its tags on all features."""

import pytest

from tests.support.clients import error_of

FEATURES = "/projects/default/features"


@pytest.fixture(autouse=True)
def card(admin):
    """Two features with tags of the type ``team``."""
    admin.ok("POST", "/tag-types", {"name": "team", "hue": 3, "description": "Who owns it"})
    for name in ("basket", "card"):
        admin.ok("POST", FEATURES, {"name": name})
    tags = {"addedTags": [{"type": "team", "value": "web"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", {"features": ["basket", "card"], "tags": tags})


def rename(client, type="team", to="squad"):
    return client.post("/tags/rename-type", {"type": type, "to": to})


def tags_of(client, name):
    tags = client.ok("GET", f"{FEATURES}/{name}")["tags"]
    return [f"{tag['type']}:{tag['value']}" for tag in tags]


def test_the_type_keeps_its_settings_and_every_feature_its_tags(admin):
    assert rename(admin).json == {"name": "squad", "description": "Who owns it", "hue": 3}
    assert tags_of(admin, "card") == tags_of(admin, "basket") == ["squad:web"]
    assert error_of(admin.get("/tag-types/team")) == (404, "NotFoundError")


def test_the_log_has_the_type_and_each_feature_in_one_batch(admin):
    rename(admin)
    events = admin.ok("GET", "/events", query_string={"limit": 3})["events"]
    types = [event["type"] for event in events]
    assert types == ["feature-tags-changed", "feature-tags-changed", "tag-type-renamed"]
    assert len({event["batchId"] for event in events}) == 1
    assert events[0]["data"] == {
        "added": [{"type": "squad", "value": "web"}],
        "removed": [{"type": "team", "value": "web"}],
    }


def test_what_can_not_be_is_refused_and_changes_nothing(admin, subtests):
    for type, to, status in (
        ("simple", "plain", 409),
        ("team", "simple", 409),
        ("team", "team", 400),
        ("team", "Squad", 400),
        ("team", "", 400),
        ("none", "squad", 404),
    ):
        with subtests.test(type=type, to=to, status=status):
            assert error_of(rename(admin, type, to))[0] == status
            assert tags_of(admin, "card") == ["team:web"]


def test_it_takes_the_permission_for_every_project_with_such_a_tag(admin, editor):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "till"})
    tags = {"addedTags": [{"type": "team", "value": "till"}], "removedTags": []}
    admin.ok("PUT", "/projects/shop/tags", {"features": ["till"], "tags": tags})
    assert error_of(rename(editor)) == (403, "NoAccessError")
    assert tags_of(admin, "card") == ["team:web"]


def test_the_page_shows_what_changes_first_and_offers_to_undo_it(admin, browser):
    page = browser.get("/tags/types/team/rename")
    assert "1 tag of this type will have the new name, on 2 features in 1 project" in page.words
    refused = browser.submit(page, {"to": "simple"})
    assert refused.status == 400
    assert "New name: A tag type named 'simple' already exists." in refused.errors
    page = browser.follow(browser.submit(page, {"to": "squad"}))
    assert page.messages == ["Tag type team renamed to squad."]
    assert tags_of(admin, "card") == ["squad:web"]
    page = browser.follow(browser.submit(page, form="Undo renaming team"))
    assert page.messages == ["Tag type squad is named team again."]
    assert tags_of(admin, "card") == ["team:web"]


def test_the_default_type_has_no_way_to_be_renamed(browser):
    assert "Rename this tag type" not in browser.get("/tags/types/simple").words
