"""Who can create, change and delete segments: less is needed for those of a single project."""

import pytest

from tests.support.browser import Browser
from tests.support.clients import error_of

PATH = "/segments"


@pytest.fixture
def shop(admin):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop", "mode": "private"})


def body(name, project=None):
    return {"name": name, "project": project, "constraints": []}


def test_editors_manage_segments_of_all_projects_and_viewers_none(editor, viewer):
    made = editor.ok("POST", PATH, body("Staff"))
    assert editor.put(f"{PATH}/{made['id']}", {"name": "Employees"}).status_code == 204
    for refused in (
        viewer.post(PATH, body("Other")),
        viewer.put(f"{PATH}/{made['id']}", {"name": "Mine"}),
        viewer.delete(f"{PATH}/{made['id']}"),
    ):
        assert error_of(refused) == (403, "NoAccessError")
    assert editor.delete(f"{PATH}/{made['id']}").status_code == 204


def test_members_manage_the_segments_of_their_project(admin, editor, people, shop):
    member = people.member("mia", "shop")
    made = member.ok("POST", PATH, body("Shoppers", "shop"))
    assert member.put(f"{PATH}/{made['id']}", {"description": "Ours"}).status_code == 204
    assert error_of(member.post(PATH, body("Everyone"))) == (403, "NoAccessError")
    assert error_of(member.put(f"{PATH}/{made['id']}", {"project": None}))[0] == 403
    assert error_of(editor.get(f"{PATH}/{made['id']}"))[0] == 404
    assert editor.ok("GET", PATH)["total"] == 0
    assert admin.ok("GET", PATH)["total"] == 1
    assert member.delete(f"{PATH}/{made['id']}").status_code == 204


def test_uses_in_private_projects_are_counted_and_not_named(admin, editor, shop):
    made = editor.ok("POST", PATH, body("Staff") | {"constraints": [ON_USER]})
    admin.ok("POST", "/projects/shop/features", {"name": "secret"})
    place = "/projects/shop/features/secret/environments/production"
    strategy = {"name": "flexibleRollout", "segments": [made["id"]]}
    admin.ok("POST", f"{place}/strategies", strategy)
    assert editor.ok("GET", f"{PATH}/{made['id']}")["usedInStrategies"] == 1
    assert editor.ok("GET", f"{PATH}/{made['id']}/strategies") == {"strategies": []}
    refused = editor.delete(f"{PATH}/{made['id']}")
    assert error_of(refused)[0] == 409
    assert "secret" not in refused.text
    assert "shop" not in refused.text


def test_a_guarded_private_project_is_not_named_to_outsiders(app, people, admin, editor, shop):
    made = editor.ok("POST", PATH, body("Staff") | {"constraints": [ON_USER]})
    admin.ok("POST", "/projects/shop/features", {"name": "secret"})
    place = "/projects/shop/features/secret/environments/production"
    strategy = {"name": "flexibleRollout", "segments": [made["id"]]}
    admin.ok("POST", f"{place}/strategies", strategy)
    admin.ok("POST", f"{place}/on")
    rules = [{"name": "production", "requiredApprovals": 2}]
    rules = {"environments": ["production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/shop/environments", rules)
    change = {"constraints": [ON_USER | {"values": ["2"]}]}
    refused = editor.put(f"{PATH}/{made['id']}", change)
    assert error_of(refused) == (403, "NoAccessError")
    assert "shop" not in refused.text
    people.person("edith", role="Editor")
    browser = Browser(app).sign_in("edith")
    page = browser.get(f"{PATH}/{made['id']}")
    review = browser.submit(page, {"constraint-0-values": "2"})
    assert review.has("Changes in projects that you can’t see need approvals.")
    assert "shop" not in review.words


def test_a_segment_of_an_archived_project_stays_as_it_is(admin, shop):
    made = admin.ok("POST", PATH, body("Shoppers", "shop"))
    admin.ok("DELETE", "/projects/shop")
    for refused in (
        admin.put(f"{PATH}/{made['id']}", {"name": "Other"}),
        admin.delete(f"{PATH}/{made['id']}"),
        admin.post(PATH, body("Another", "shop")),
    ):
        assert refused.status_code in {400, 409}


def test_a_segment_that_leaves_a_private_project_does_not_name_it(admin, editor, shop):
    made = admin.ok("POST", PATH, body("Shoppers", "shop"))
    assert admin.put(f"{PATH}/{made['id']}", {"project": None}).status_code == 204
    assert editor.ok("GET", f"{PATH}/{made['id']}")["project"] is None
    assert editor.ok("GET", "/events?type=segment-updated")["events"] == []


ON_USER = {"contextName": "userId", "operator": "IN", "values": ["1"]}
