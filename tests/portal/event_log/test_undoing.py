"""Undoing what the event log recorded: from the message, from the history, and by the API."""

import pytest

from tests.support.browser import text_of
from tests.support.clients import ApiClient, error_of

FEATURE = "/projects/shop/features/cart"
PLACE = f"{FEATURE}/environments/production"
USER = {"contextName": "userId", "operator": "IN", "values": ["1"]}


@pytest.fixture(autouse=True)
def shop(admin):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "cart", "description": "Old"})


def newest(client: ApiClient, query: str = "") -> int:
    id: int = client.ok("GET", f"/events?limit=1&{query}")["events"][0]["id"]
    return id


def undo(client: ApiClient, id: int) -> dict[str, object]:
    found: dict[str, object] = client.ok("POST", f"/events/{id}/undo")
    return found


def of_feature(admin):
    found = admin.ok("GET", FEATURE)
    return {key: found[key] for key in ("type", "description", "stale", "impressionData", "tags")}


def change_tags(admin):
    tags = {"addedTags": [{"value": "red"}], "removedTags": [{"value": "blue"}]}
    admin.ok("PUT", "/projects/shop/tags", {"features": ["cart"], "tags": tags})


def links(admin):
    return [(link["url"], link["title"]) for link in admin.ok("GET", FEATURE)["links"]]


def link_path(admin):
    return f"{FEATURE}/link/{admin.ok('GET', FEATURE)['links'][0]['id']}"


def of_segment(admin):
    found = admin.ok("GET", "/segments")["segments"][0]
    return {key: found[key] for key in ("name", "description", "constraints", "project")}


def settings(admin):
    found = admin.ok("GET", "/projects/shop")
    keys = ("name", "mode", "defaultStickiness", "environments")
    return {key: found[key] for key in keys}


def roles(admin):
    members = admin.ok("GET", "/projects/shop/access")["members"]
    return {member["id"]: member["roleId"] for member in members}


def of_grace(admin):
    users = admin.ok("GET", "/user-admin")["users"]
    [grace] = [each for each in users if each["username"] in {"grace", "gracie"}]
    return {key: grace[key] for key in ("username", "rootRole")}


def of_plan(admin):
    return admin.ok("GET", "/context/plan")


CASES = {
    "type and description": (
        of_feature,
        lambda admin, _: admin.ok("PUT", FEATURE, {"type": "permission", "description": None}),
    ),
    "tags": (of_feature, lambda admin, _: change_tags(admin)),
    "a new link": (
        links,
        lambda admin, _: admin.ok("POST", f"{FEATURE}/link", {"url": "https://wiki.example/new"}),
    ),
    "a link": (
        links,
        lambda admin, _: admin.ok("PUT", link_path(admin), {"url": "https://b.example"}),
    ),
    "a removed link": (links, lambda admin, _: admin.ok("DELETE", link_path(admin))),
    "a segment": (
        of_segment,
        lambda admin, ids: admin.ok(
            "PUT",
            f"/segments/{ids['segment']}",
            {"name": "Staff", "constraints": [USER], "project": "shop"},
        ),
    ),
    "settings of a project": (
        settings,
        lambda admin, _: admin.ok("PUT", "/projects/shop", {"name": "Store", "mode": "private"}),
    ),
    "members": (
        roles,
        lambda admin, ids: admin.ok(
            "POST", "/projects/shop/access", {"id": ids["grace"], "roleId": 4}
        ),
    ),
    "a context field": (
        of_plan,
        lambda admin, _: admin.ok("PUT", "/context/plan", {"legalValues": [{"value": "team"}]}),
    ),
    "a person": (
        of_grace,
        lambda admin, ids: admin.ok(
            "PUT", f"/user-admin/{ids['grace']}", {"username": "gracie", "rootRole": 2}
        ),
    ),
}


@pytest.fixture
def ids(admin, people):
    tags = {"addedTags": [{"value": "blue"}], "removedTags": []}
    admin.ok("PUT", "/projects/shop/tags", {"features": ["cart"], "tags": tags})
    admin.ok("POST", f"{FEATURE}/link", {"url": "https://a.example", "title": "Ticket"})
    admin.ok("POST", "/context", {"name": "plan", "legalValues": [{"value": "free"}]})
    segment = admin.ok("POST", "/segments", {"name": "Team", "constraints": [USER]})
    grace = people.person("grace", role="Viewer")
    admin.ok("POST", "/projects/shop/access", {"id": grace, "roleId": 5})
    return {"segment": segment["id"], "grace": grace}


@pytest.mark.parametrize("case", CASES)
def test_what_was_changed_is_as_it_was_and_undoing_can_be_undone(admin, ids, case):
    read, change = CASES[case]
    before = read(admin)
    change(admin, ids)
    after = read(admin)
    assert after != before
    undone = undo(admin, newest(admin))
    assert read(admin) == before
    redone = admin.ok("GET", f"/events?batch={undone['batchId']}")["events"]
    undo(admin, redone[0]["id"])
    assert read(admin) == after


@pytest.mark.parametrize(
    ("path", "first", "then", "field"),
    [
        (FEATURE, {"description": "New"}, {"description": "Newer"}, "description"),
        ("/projects/shop", {"name": "Store", "mode": "open"}, {"name": "Shed"}, "name"),
    ],
)
def test_what_someone_changed_since_stays(admin, path, first, then, field):
    admin.ok("PUT", path, first)
    id = newest(admin)
    admin.ok("PUT", path, first | then)
    refused = admin.post(f"/events/{id}/undo")
    assert error_of(refused) == (409, "ConflictError")
    assert f"Someone changed {field} since" in refused.text
    assert admin.ok("GET", path)[field] == then[field]


def test_another_field_that_was_changed_since_is_no_obstacle(admin):
    admin.ok("PUT", FEATURE, {"description": "New"})
    id = newest(admin)
    admin.ok("PUT", FEATURE, {"stale": True})
    undo(admin, id)
    assert (of_feature(admin)["description"], of_feature(admin)["stale"]) == ("Old", True)


def test_a_batch_is_undone_as_one_or_not_at_all(admin):
    names = [f"f{number}" for number in range(5)]
    for name in names:
        admin.ok("POST", "/projects/shop/features", {"name": name})
    path = "/projects/shop/bulk_features/environments/production/on"
    admin.ok("POST", path, {"features": names})
    id = newest(admin)
    admin.ok("POST", "/projects/shop/features/f3/environments/production/off")
    refused = admin.post(f"/events/{id}/undo")
    assert refused.status_code == 409
    states = [admin.ok("GET", f"/projects/shop/features/{name}") for name in names]
    on = [one["name"] for one in states if one["environments"][-1]["enabled"]]
    assert len(on) == 4
    admin.ok("POST", "/projects/shop/features/f3/environments/production/on")
    assert len(undo(admin, id)["undone"]) == 10  # with the strategies that they got


def test_what_has_no_inverse_says_so(admin):
    refused = admin.post(f"/events/{newest(admin, 'type=feature-created')}/undo")
    assert error_of(refused) == (409, "ConflictError")
    assert "feature-created can’t be undone" in refused.text
    assert admin.post("/events/999999/undo").status_code == 404


def test_undoing_takes_the_permission_to_make_the_change(app, admin, people):
    admin.ok("PUT", FEATURE, {"description": "New"})
    id = newest(admin)
    viewer = people.client("vera", role="Viewer")
    assert viewer.post(f"/events/{id}/undo").status_code == 404
    editor = people.client("edith", role="Editor")
    refused = editor.post(f"/events/{id}/undo")
    assert "You need the permission UPDATE_FEATURE in project shop" in refused.text
    assert of_feature(admin)["description"] == "New"


def test_no_one_is_made_an_admin_by_undoing(admin, people):
    people.give_password(people.person("boss", role="Admin"))
    grace = people.person("grace", role="Admin")
    admin.ok("PUT", f"/user-admin/{grace}", {"rootRole": 3})
    refused = admin.post(f"/events/{newest(admin)}/undo")
    assert "takes your password" in refused.text
    assert of_grace(admin)["rootRole"] == 3


def test_a_reason_that_approvals_ask_for_is_asked_for_here_too(admin):
    admin.ok("POST", f"{PLACE}/on")
    id = newest(admin)
    rules = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/shop/environments", body)
    refused = admin.post(f"/events/{id}/undo")
    assert "need 1 approval in production" in refused.text
    admin.ok("POST", f"/events/{id}/undo", headers={"X-Reason": "The shop is down"})


# In the browser


def test_the_history_of_a_feature_undoes_and_returns_to_it(browser, admin):
    admin.ok("PUT", FEATURE, {"description": "New"})
    page = browser.get(f"{FEATURE}/history")
    assert page.has("Description Old → New")
    done = browser.follow(browser.submit(page, form=f"Undo this : event {newest(admin)}"))
    assert done.path == f"{FEATURE}/history"
    assert done.messages == ["Undone. admin had changed feature cart: description Old → New."]
    assert of_feature(admin)["description"] == "Old"
    [created] = [row for row in done.select(".event") if "created feature" in text_of(row)]
    assert "Undo this" not in text_of(created)


def test_settings_members_segments_and_people_are_undone_from_the_message(browser, admin, ids):
    pages = {
        "/projects/shop/settings": ({"name": "Store"}, settings),
        f"/segments/{ids['segment']}": ({"name": "Staff"}, of_segment),
        f"{FEATURE}/settings": ({"description": "New"}, of_feature),
        f"/users/{ids['grace']}": ({"username": "gracie"}, of_grace),
        "/context-fields/plan": ({"description": "What they pay"}, of_plan),
        "/projects/shop/members": ({f"role-{ids['grace']}": "4"}, roles),
    }
    for path, (typed, read) in pages.items():
        before = read(admin)
        page = browser.get(path)
        [save, *_] = [b for b in map(text_of, page.select("main button")) if b.startswith("Save")]
        done = browser.follow(browser.submit(page, typed, form=save))
        assert read(admin) != before, path
        browser.follow(browser.submit(done, form="Undo saving it"))
        assert read(admin) == before, path
