"""The pages of projects, in a browser without a script."""

import pytest
from flask import Flask

from tests.browser import Browser, Page
from tests.clients import ApiClient
from tests.people import People

NEW = {"name": "Web shop", "mode": "open", "environments": ["development", "production"]}


@pytest.fixture
def shop(browser: Browser) -> None:
    """A project made on the page; its Owner is the one who is signed in."""
    assert browser.post("/projects/new", {**NEW, "id": "shop"}).status == 303


def rows(page: Page) -> list[str]:
    return [row.all("th")[0].all("a")[0].text for row in page.root.all("tbody")[0].all("tr")]


def settings(admin: ApiClient, id: str = "shop") -> dict[str, object]:
    return admin.ok("GET", f"/projects/{id}")


def test_projects_are_listed_with_their_figures(browser: Browser, shop):
    page = browser.get("/projects")
    assert rows(page) == ["Default", "Web shop"]
    line = page.root.all("tbody")[0].all("tr")[1].text
    assert line == "Web shop shop Open 0 1 B just now"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?text=SHOP", ["Web shop"]),
        ("?mode=private", []),
        ("?membership=mine", ["Web shop"]),
        ("?membership=ownerless", ["Default"]),
        ("?sort=-name", ["Web shop", "Default"]),
        ("?sort=changedAt", ["Web shop", "Default"]),
    ],
)
def test_projects_are_found_and_sorted_on_both_faces(browser, people, shop, query, found):
    page = browser.get(f"/projects{query}")
    assert (rows(page) if found else []) == found
    assert found or page.has("No project matches")
    boss = ApiClient(browser.app, people.token(1))
    listed = boss.ok("GET", f"/projects{query}")["projects"]
    assert [row["name"] for row in listed] == found


def test_a_private_project_is_shown_to_its_members_and_admins_only(app, people, admin):
    admin.ok("POST", "/projects", json={"id": "secret", "name": "Secret", "mode": "private"})
    people.person("looker")
    people.join(people.person("member"), "secret")
    assert rows(Browser(app).sign_in("looker").get("/projects")) == ["Default"]
    assert rows(Browser(app).sign_in("member").get("/projects")) == ["Default", "Secret"]


def test_the_id_is_made_from_the_name_unless_it_is_given(browser, admin):
    page = browser.get("/projects/new")
    page = browser.submit(page, {"name": "Web Shop (EU)!"}, button="Create the project")
    assert page.location == "/projects/web-shop-eu"
    assert browser.follow(page).messages == ["Project Web Shop (EU)! created; you are its Owner."]
    page = browser.submit(browser.get("/projects/new"), {"name": "Other", "id": "x.Y_1"})
    assert page.location == "/projects/x.Y_1"


def test_the_modes_say_what_they_mean_in_numbers(browser, people):
    for name in ("a", "b", "c"):
        people.person(name)
    page = browser.get("/projects/new")
    assert page.has("4 accounts can sign in or call the API here")
    choices = [e.text for e in page.root.all("label") if e.attrs.get("class") == "choice"]
    assert choices[0].endswith("4 see it 1 change it")
    assert choices[2].startswith(
        "Private Only its members and Admins know that it exists. The other 3 will not see it."
    )


BAD = [
    {"name": ""},
    {"name": "  "},
    {"name": "x" * 256},
    {"name": "a\x07b"},
    {"name": "ok", "id": "a b"},
    {"name": "ok", "id": ".."},
    {"name": "ok", "id": "x" * 101},
    {"name": "ok", "mode": "nonsense"},
    {"name": "ok", "defaultStickiness": ""},
    {"name": "ok", "defaultStickiness": "x" * 101},
    {"name": "ok", "description": "x" * 5_001},
    {"name": "ok", "environments": []},
    {"name": "ok", "environments": ["no-such"]},
    {"name": "", "id": "a b", "mode": "nonsense"},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_form_and_json_refuse_a_new_project_in_the_same_words(browser, admin, bad):
    body = {"id": "ok", "environments": ["production"], **bad}
    refusal = admin.post("/projects", json=body)
    typed = {"mode": "open", "default_stickiness": "default", **body}
    typed["default_stickiness"] = typed.pop("defaultStickiness", "default")
    page = browser.post("/projects/new", typed)
    assert (refusal.status_code, page.status) == (400, 400)
    assert page.title.startswith("Error:")
    for detail in refusal.json["details"]:
        assert any(detail["message"] in error for error in page.errors), detail
    assert len(page.errors) == len(refusal.json["details"])


def test_a_refused_form_keeps_all_that_was_typed_and_leads_to_what_is_wrong(browser):
    typed = {
        **NEW,
        "id": "default",
        "description": "Baskets\nand carts",
        "mode": "private",
        "environments": "production",
        "approvals-production": "2",
        "default_stickiness": "userId",
    }
    page = browser.post("/projects/new", typed)
    assert page.status == 400
    assert page.errors == [
        "Project id: A project with the id 'default' already exists (it may be archived)."
    ]
    fields = page.fields()
    assert {name: fields[name] for name in typed} == typed
    assert fields["approvals-development"] == "off"
    id = next(e for e in page.root.all("input") if e.attrs.get("name") == "id")
    assert id.attrs["aria-invalid"] == "true"
    assert id.attrs["aria-describedby"] == "id-help id-error"


@pytest.mark.parametrize("typed", ["many", "1.5", "-", "٣"])
def test_approvals_that_are_no_number_are_told_at_their_environment(browser, typed):
    page = browser.post("/projects/new", {**NEW, "approvals-production": typed})
    assert page.status == 400
    assert page.errors == ["Approvals in production: Enter a number from 1 to 10, or “off”."]
    assert page.fields()["approvals-production"] == typed


@pytest.mark.parametrize(("typed", "taken"), [("12", 10), ("-3", 1), ("7", 7), ("OFF", 0), ("", 0)])
def test_approvals_out_of_range_are_taken_for_the_nearest_and_it_is_said(
    browser, admin, typed, taken
):
    page = browser.post("/projects/new", {**NEW, "id": "shop", "approvals-production": typed})
    [words] = browser.follow(page).messages
    assert ("were taken for" in words) is (typed in {"12", "-3"})
    rules = settings(admin)["changeRequestEnvironments"]
    expected = [{"name": "production", "requiredApprovals": taken}] if taken else []
    assert rules == expected


def test_settings_are_saved_with_their_reason(browser, admin, shop):
    page = browser.get("/projects/shop/settings")
    typed = {
        "name": "Shop",
        "description": "All of it",
        "mode": "protected",
        "environments": ["production"],
        "approvals-production": "2",
        "reason": "new rules",
    }
    page = browser.submit(page, typed)
    assert browser.follow(page).messages == ["Project Shop saved."]
    assert settings(admin) == {
        "id": "shop",
        "name": "Shop",
        "description": "All of it",
        "featureLimit": None,
        "mode": "protected",
        "defaultStickiness": "default",
        "environments": ["production"],
        "changeRequestEnvironments": [{"name": "production", "requiredApprovals": 2}],
    }
    events = admin.ok("GET", "/events?project=shop")["events"][:2]
    assert {event["reason"] for event in events} == {"new rules"}


def test_a_blank_name_is_refused_and_not_taken_for_no_change(browser, admin, shop):
    page = browser.submit(browser.get("/projects/shop/settings"), {"name": " "})
    assert page.status == 400
    assert page.errors == ["Name: Must have 1 to 255 characters."]
    assert settings(admin)["name"] == "Web shop"


def test_a_narrower_mode_is_reviewed_first_with_its_numbers(browser, admin, people, shop):
    people.person("looker")
    page = browser.submit(browser.get("/projects/shop/settings"), {"mode": "private"})
    assert page.status == 200
    assert page.has("1 account will not see the project any more; 2 will: its members, and Admins.")
    assert settings(admin)["mode"] == "open"
    page = browser.submit(page, button="Save Web shop")
    assert browser.follow(page).messages == ["Project Web shop saved."]
    assert settings(admin)["mode"] == "private"


def test_falling_approvals_are_reviewed_first(browser, admin, shop):
    typed = {"approvals-production": "3", "approvals-development": "1"}
    browser.submit(browser.get("/projects/shop/settings"), typed)
    typed = {"approvals-production": "1", "approvals-development": "off"}
    page = browser.submit(browser.get("/projects/shop/settings"), typed)
    assert page.has("Approvals that changes in production need: 1 instead of 3.")
    assert page.has("Approvals that changes in development need: none any more.")
    browser.follow(browser.submit(page, button="Save Web shop"))
    rules = settings(admin)["changeRequestEnvironments"]
    assert rules == [{"name": "production", "requiredApprovals": 1}]


def test_back_from_the_review_keeps_what_was_typed(browser, admin, people, shop):
    people.person("looker")
    typed = {"mode": "private", "name": "Mine", "description": "typed"}
    page = browser.submit(browser.get("/projects/shop/settings"), typed)
    page = browser.submit(page, button="Back")
    assert {name: page.fields()[name] for name in typed} == typed
    assert settings(admin)["name"] == "Web shop"


def test_a_review_whose_numbers_changed_is_shown_again(browser, admin, people, shop):
    people.person("looker")
    page = browser.submit(browser.get("/projects/shop/settings"), {"mode": "private"})
    people.person("another")
    page = browser.submit(page, button="Save Web shop")
    assert page.has("What this would do has changed since you saw it")
    assert page.has("2 accounts will not see the project any more")
    assert settings(admin)["mode"] == "open"
    browser.follow(browser.submit(page, button="Save Web shop"))
    assert settings(admin)["mode"] == "private"


def test_of_two_editors_the_second_chooses_part_by_part_and_nothing_is_lost(browser, admin, shop):
    mine = browser.get("/projects/shop/settings")
    admin.ok("PUT", "/projects/shop", json={"name": "Theirs", "description": "theirs"})
    typed = {"name": "Mine", "default_stickiness": "userId", "approvals-production": "2"}
    page = browser.submit(mine, typed)
    assert page.status == 409
    assert page.has("admin saved it just now")
    fields = page.fields()
    assert (fields["take-name"], fields["take-description"]) == ("mine", "theirs")
    page = browser.submit(page, {"take-name": "theirs"}, button="Save what is chosen")
    browser.follow(page)
    now = settings(admin)
    assert (now["name"], now["description"]) == ("Theirs", "theirs")
    assert now["defaultStickiness"] == "userId"
    assert now["changeRequestEnvironments"] == [{"name": "production", "requiredApprovals": 2}]


def test_back_from_a_conflict_keeps_what_was_typed(browser, admin, shop):
    mine = browser.get("/projects/shop/settings")
    admin.ok("PUT", "/projects/shop", json={"name": "Theirs"})
    page = browser.submit(mine, {"name": "Mine", "mode": "protected"})
    page = browser.submit(page, button="Back to the form")
    assert (page.fields()["name"], page.fields()["mode"]) == ("Mine", "protected")


def test_who_may_not_change_a_project_sees_its_settings_and_why(app, people, shop):
    people.person("looker")
    page = Browser(app).sign_in("looker").get("/projects/shop/settings")
    assert page.has(
        "Needs UPDATE_PROJECT in shop; an Admin, or an Owner of project shop (boss), can grant it."
    )
    assert page.has("Default stickiness default")


def members(admin: ApiClient, id: str = "shop") -> dict[str, int]:
    found = admin.ok("GET", f"/projects/{id}/access")["members"]
    return {member["username"]: member["roleId"] for member in found}


def test_a_member_is_added_by_user_name_or_e_mail(browser, admin, shop):
    for n, (name, email) in enumerate((("kim", None), (None, "vic@example.org"))):
        body = {"username": name, "email": email, "name": f"N {n}", "rootRole": 3}
        admin.ok("POST", "/user-admin", json={k: v for k, v in body.items() if v})
    page = browser.get("/projects/shop/members")
    page = browser.submit(page, {"add": "KIM", "add_role": "4"})
    page = browser.follow(page)
    assert page.messages == ["Members saved."]
    browser.follow(browser.submit(page, {"add": "vic@example.org", "add_role": "5"}))
    assert members(admin) == {"boss": 4, "kim": 4, None: 5}


def test_somebody_unknown_is_told_at_the_field_and_nothing_is_lost(browser, admin, people, shop):
    people.join(people.person("kim"), "shop")
    page = browser.get("/projects/shop/members")
    kim = next(name for name, value in page.fields().items() if value == "5" and "role-" in name)
    page = browser.submit(page, {"add": "nobody", kim: "4"})
    assert page.status == 400
    assert page.errors == [
        "User name or e-mail: Nobody here is called 'nobody'; check the spelling."
    ]
    assert page.fields()[kim] == "4"
    assert members(admin)["kim"] == 5


def test_roles_change_and_members_go(browser, admin, people, shop):
    people.join(kim := people.person("kim"), "shop")
    people.join(vic := people.person("vic"), "shop")
    page = browser.get("/projects/shop/members")
    changes = {f"role-{kim}": "4", f"role-{vic}": "remove", "reason": "moved"}
    browser.follow(browser.submit(page, changes))
    assert members(admin) == {"boss": 4, "kim": 4}
    assert admin.ok("GET", "/events?project=shop")["events"][0]["reason"] == "moved"


def test_the_last_owner_is_kept(browser, admin, people, shop):
    page = browser.get("/projects/shop/members")
    [role] = [name for name in page.fields() if name.startswith("role-")]
    page = browser.submit(page, {role: "remove"})
    assert page.status == 400
    assert page.errors == ["Project shop must keep at least one Owner."]
    assert members(admin) == {"boss": 4}


def test_of_two_who_change_members_the_second_sees_what_changed(browser, admin, people, shop):
    people.join(kim := people.person("kim"), "shop")
    mine = browser.get("/projects/shop/members")
    boss = next(m["id"] for m in admin.ok("GET", "/projects/shop/access")["members"])
    body = {"members": [{"id": boss, "roleId": 4}, {"id": kim, "roleId": 4}]}
    admin.ok("PUT", "/projects/shop/access", json=body)
    page = browser.submit(mine, {f"role-{kim}": "remove"})
    assert page.status == 409
    assert page.has("now Owner, was another role")
    assert page.fields()[f"role-{kim}"] == "remove"
    browser.follow(browser.submit(page))
    assert members(admin) == {"boss": 4}


def test_an_empty_project_is_archived_and_revived(browser, admin, shop):
    page = browser.get("/projects/shop/settings")
    page = browser.follow(browser.submit(page, form="Archive Web shop"))
    assert page.has("Project shop is archived.")
    assert "shop" not in [row["id"] for row in admin.ok("GET", "/projects")["projects"]]
    assert rows(browser.get("/projects?archived=true")) == ["Web shop"]
    assert browser.get("/projects/shop").has("This project is archived")
    page = browser.follow(browser.submit(page, form="Revive Web shop"))
    assert page.messages == ["Project Web shop is back."]


def test_a_project_with_features_says_why_it_can_not_be_archived(browser, admin, shop):
    admin.ok("POST", "/projects/shop/features", json={"name": "a"})
    page = browser.get("/projects/shop/settings")
    assert page.has("Possible when it has no active feature. It has 1.")
    assert browser.post("/projects/shop/put-away").status == 409


def test_who_may_not_create_projects_is_told_from_whom_to_get_it(app: Flask, people: People):
    people.person("looker")
    page = Browser(app).sign_in("looker").get("/projects")
    assert page.has("To create a project you need CREATE_PROJECT; an Admin can grant it.")
    assert "New project" not in page.links
