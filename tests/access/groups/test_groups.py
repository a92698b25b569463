"""Groups and what they give: by API and by page."""

import pytest

from tests.access.scim.conftest import Directory, issue
from tests.support.browser import Browser, text_of
from tests.support.clients import ApiClient

DEVS = {"name": "Devs", "rootRole": 2, "projects": [{"id": "default", "roleId": 5}]}


@pytest.fixture
def grace(app, admin: ApiClient, ada: int) -> int:
    """Someone in the group devs."""
    directory = Directory(app, issue(app))
    made = directory.user("grace")
    directory.group("devs", made["id"])
    return int(made["id"])


def role(admin: ApiClient, id: int) -> int:
    return int(admin.ok("GET", f"/user-admin/{id}")["rootRole"])


def members(admin: ApiClient) -> dict[int, int]:
    found = admin.ok("GET", "/projects/default/access")["members"]
    return {member["id"]: member["roleId"] for member in found}


def test_a_group_is_created_read_changed_and_deleted(admin):
    made = admin.post("/groups", DEVS)
    path = made.headers["Location"].removeprefix("/api/admin")
    assert admin.ok("GET", path) == made.get_json()
    admin.ok("PUT", path, {"rootRole": None, "projects": []})
    assert admin.ok("GET", path)["projects"] == []
    assert admin.ok("GET", "/groups?text=ev")["groups"][0]["memberCount"] == 0
    admin.ok("DELETE", path)
    assert admin.get(path).status_code == 404
    types = [event["type"] for event in admin.ok("GET", "/events")["events"][:3]]
    assert types == ["group-deleted", "group-updated", "group-created"]


def test_a_group_is_not_given_the_name_of_another(admin):
    made = [admin.ok("POST", "/groups", {"name": name}) for name in ("one", "two")]
    body = {"name": "ONE", **{key: DEVS[key] for key in ("rootRole", "projects")}}
    answer = admin.put(f"/groups/{made[1]['id']}", body)
    assert (answer.status_code, answer.get_json()["name"]) == (409, "NameExistsError")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "DEVS"}, 409),
        ({"name": "x", "projects": [{"id": "none", "roleId": 5}]}, 400),
        ({"name": "x", "projects": [{"id": "default", "roleId": 1}]}, 400),
        ({"name": "x", "projects": [{"id": "default", "roleId": n} for n in (4, 5)]}, 400),
        ({"name": "x", "rootRole": 4}, 400),
        ({"rootRole": 1}, 400),
    ],
)
def test_what_no_group_can_be_is_refused(admin, body, status):
    admin.ok("POST", "/groups", DEVS)
    assert admin.post("/groups", body).status_code == status


def test_members_get_and_lose_roles_at_once_and_each_change_says_why(admin, grace):
    [group] = admin.ok("GET", "/groups")["groups"]
    admin.ok("PUT", f"/groups/{group['id']}", {k: DEVS[k] for k in ("rootRole", "projects")})
    assert (role(admin, grace), members(admin)[grace]) == (2, 5)
    newest = admin.ok("GET", "/events")["events"][:2]
    assert {event["reason"] for event in newest} == {"group devs"}
    admin.ok("DELETE", f"/groups/{group['id']}")
    assert role(admin, grace) == 3
    assert grace not in members(admin)


def test_the_stronger_role_counts_and_the_own_one_comes_back(admin, grace):
    [group] = admin.ok("GET", "/groups")["groups"]
    path = f"/groups/{group['id']}"
    admin.ok("PUT", f"/user-admin/{grace}", {"rootRole": 2})
    admin.ok("POST", "/projects/default/access", {"id": grace, "roleId": 5})
    admin.ok("PUT", path, {"rootRole": 1, "projects": [{"id": "default", "roleId": 4}]})
    assert (role(admin, grace), members(admin)[grace]) == (1, 4)
    refused = admin.put(f"/user-admin/{grace}", {"rootRole": 3})
    assert refused.status_code == 409
    assert "A group gives the role Admin" in refused.get_json()["message"]
    admin.ok("PUT", path, {"rootRole": None, "projects": []})
    assert (role(admin, grace), members(admin)[grace]) == (2, 5)


def test_reading_and_writing_back_the_members_makes_no_own_roles_of_those_by_group(admin, grace):
    [group] = admin.ok("GET", "/groups")["groups"]
    path = f"/groups/{group['id']}"
    admin.ok("PUT", path, {"projects": [{"id": "default", "roleId": 5}]})
    access = admin.ok("GET", "/projects/default/access")
    body = {"members": [{"id": m["id"], "roleId": m["roleId"]} for m in access["members"]]}
    admin.ok("PUT", "/projects/default/access", body)
    admin.ok("PUT", path, {"projects": []})
    assert grace not in members(admin)


def test_the_last_admin_is_not_lost_by_a_group(app, admin, people):
    directory = Directory(app, issue(app))
    made = directory.user("boss")
    group = directory.group("admins", made["id"])
    admin.ok("PUT", f"/groups/{group['id']}", {"rootRole": 1})
    people.give_password(int(made["id"]))
    assert admin.put(f"/groups/{group['id']}", {"rootRole": 2}).status_code == 409
    assert admin.delete(f"/groups/{group['id']}").status_code == 409
    assert role(admin, int(made["id"])) == 1


def test_a_group_is_made_and_changed_on_pages(browser: Browser, admin):
    page = browser.get("/new-group")
    offered = [text_of(option) for option in page.select("select#project option")]
    assert offered == ["None", "Default"]
    typed = {"name": "devs", "root_role": "2", "project": "default", "project_role": "5"}
    page = browser.follow(browser.submit(page, typed))
    assert "Group devs created." in page.messages
    assert "Member of default" in page.words
    page = browser.get(page.links["devs"])
    assert page.fields()["role-default"] == "5"
    assert page.select("select#project")[0].css("option[value=default]") == []
    refused = browser.submit(page, {"project": "default"})
    assert refused.errors == ["Name 'default' once."]
    page = browser.follow(browser.submit(page, {"role-default": "remove", "root_role": ""}))
    assert "Group devs saved." in page.messages
    [group] = admin.ok("GET", "/groups")["groups"]
    assert (group["rootRole"], group["projects"]) == (None, [])
    page = browser.get(page.links["Delete…"])
    assert "0 people lose what this group gives" in page.words
    page = browser.follow(browser.submit(page))
    assert "No groups yet" in page.words


def test_a_project_without_a_role_is_refused_on_the_page(browser: Browser):
    answer = browser.post("/new-group", {"name": "devs", "project": "default"})
    assert answer.status == 400
    assert answer.errors == ["Role there: Not a valid choice."]


def test_two_who_edit_one_group_see_what_the_other_changed(browser: Browser, admin):
    made = admin.ok("POST", "/groups", DEVS)
    page = browser.get(f"/groups/{made['id']}")
    admin.ok("PUT", f"/groups/{made['id']}", {"rootRole": 3})
    page = browser.submit(page, {"root_role": "1"})
    assert page.status == 409
    assert "Role everywhere from “Editor” to “Viewer”" in page.words


def test_the_page_of_a_user_says_where_each_role_comes_from(browser: Browser, admin, grace):
    [group] = admin.ok("GET", "/groups")["groups"]
    admin.ok("PUT", f"/groups/{group['id']}", {"projects": [{"id": "default", "roleId": 5}]})
    words = browser.get(f"/users/{grace}").words
    assert "Viewer Given by SCIM (directory) on" in words
    assert "Default (Member, through the group devs)" in words
    assert "Groups devs" in words
    assert "Through the group devs" in browser.get("/projects/default/members").words
