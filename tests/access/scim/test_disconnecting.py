"""An organisation gives up its directory, and Admins manage what it managed."""

import pytest

from tests.access.scim.conftest import USER, issue
from tests.support.browser import Browser
from tests.support.clients import error_of


@pytest.fixture
def ids(directory, admin):
    """A user of the directory, one whom it deactivated, and its group, which makes Editors."""
    grace, kim = directory.user("grace"), directory.user("kim", active=False)
    devs = directory.group("Devs", grace["id"])
    admin.ok("PUT", f"/groups/{devs['id']}", {"rootRole": 2})
    return {"grace": grace["id"], "kim": kim["id"], "devs": devs["id"]}


def test_tokens_end_and_users_and_groups_are_managed_by_hand(directory, admin, ids):
    ended = admin.ok("POST", "/scim-tokens/disconnect")
    assert ended == {"tokens": 1, "users": 2, "deactivated": 1, "groups": 1}
    assert directory.send("GET", "/Users").status_code == 401
    admin.ok("PUT", f"/user-admin/{ids['grace']}", {"username": "hopper"})
    changed = admin.ok("GET", f"/user-admin/{ids['grace']}")
    assert (changed["username"], changed["rootRole"]) == ("hopper", 2)
    admin.ok("PUT", f"/groups/{ids['devs']}", {"name": "Developers"})
    admin.ok("DELETE", f"/user-admin/{ids['grace']}")
    events = admin.ok("GET", "/events?limit=20")["events"]
    [event] = [each for each in events if each["type"] == "scim-disconnected"]
    assert event["data"] == {"tokens": 1, "users": 2, "groups": 1}
    [revoked] = [each for each in events if each["type"] == "scim-token-revoked"]
    assert revoked["batchId"] == event["batchId"]


def test_who_was_deactivated_stays_so_until_an_admin_activates_them(admin, ids, people, browser):
    path = f"/user-admin/{ids['kim']}/reactivate"
    assert "is managed by your directory" in admin.post(path).json["message"]
    admin.ok("POST", "/scim-tokens/disconnect")
    place = f"/users/{ids['kim']}"
    page = browser.get(place)
    assert page.has("Deactivated just now")
    page = browser.follow(browser.submit(page, {}, form=f"{place}/reactivate"))
    assert page.has("kim can sign in again.")
    assert not page.has("Deactivated")
    assert error_of(admin.post(path)) == (409, "ConflictError")
    assert people.token(int(ids["kim"]))


def test_a_directory_that_comes_back_manages_from_its_first_write(app, directory, admin, ids):
    admin.ok("POST", "/scim-tokens/disconnect")
    directory.token = issue(app)
    path = f"/Users/{ids['grace']}"
    directory.ok("PUT", path, {"schemas": [USER], "userName": "grace", "active": True})
    answer = admin.put(f"/user-admin/{ids['grace']}", {"username": "hopper"})
    assert error_of(answer) == (409, "ConflictError")
    admin.ok("PUT", f"/user-admin/{ids['kim']}", {"username": "kim.lee"})


@pytest.mark.usefixtures("ids")
def test_the_page_says_what_changes_before_it_does(browser, admin):
    page = browser.get(browser.get("/scim-tokens").links["Disconnect…"])
    assert page.has("Admins will manage 2 users and 1 group by hand.")
    assert page.has("1 of these users is deactivated")
    page = browser.follow(browser.submit(page, {"reason": "We left Okta"}))
    assert page.has("Directory disconnected.")
    assert "Disconnect…" not in page.links
    event = admin.ok("GET", "/events?type=scim-disconnected")["events"][0]
    assert event["reason"] == "We left Okta"


def test_a_leaked_token_of_a_directory_is_recognized(app, directory, browser: Browser):
    path = "/service-accounts/find-token"
    page = browser.submit(browser.get(path), {"secret": directory.token}, form=path)
    assert page.has("This is SCIM token")
    assert browser.get(page.links["Revoke…"]).h1.startswith("Revoke ")
    assert browser.get("/security-log").has("SCIM token 1")
