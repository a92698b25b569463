"""The pages of projects, without JavaScript."""

import pytest
from flask import Flask

from tests.support.browser import Browser, Page, text_of
from tests.support.clients import REASON, ApiClient
from tests.support.people import People

LAST_OWNER = "Project shop needs at least one Owner. Make someone else an Owner first."
NEW = {"name": "Web shop", "mode": "open", "environments": ["development", "production"]}


@pytest.fixture
def shop(browser: Browser) -> None:
    """A project created on the page. The person who is signed in is its Owner."""
    assert browser.post("/new-project", {**NEW, "id": "shop"}).status == 303


def needs(environment: str, approvals: str) -> dict[str, str]:
    """The inputs of an environment that needs this many approvals."""
    return {f"needs-approvals-{environment}": "y", f"approvals-{environment}": approvals}


def ask_for(admin: ApiClient, **approvals: int) -> None:
    rules = [{"name": name, "requiredApprovals": most} for name, most in approvals.items()]
    body = {"environments": ["development", "production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/shop/environments", body)


@pytest.fixture
def owner(app: Flask, people: People, shop: None) -> Browser:
    """A browser in which an Owner of the shop is signed in, who is no Admin."""
    people.member("olga", "shop", "Owner")
    return Browser(app).sign_in("olga")


def rows(page: Page) -> list[str]:
    return [text_of(row.css_first("th a")) for row in page.select("tbody")[0].css("tr")]


def settings(admin: ApiClient, id: str = "shop") -> dict[str, object]:
    return admin.ok("GET", f"/projects/{id}")


def test_projects_are_listed_with_their_figures(browser: Browser, admin, shop):
    for name in ("cart", "card"):
        admin.ok("POST", "/projects/shop/features", {"name": name})
    admin.ok("POST", "/projects/shop/features/cart/environments/production/on")
    admin.ok("POST", "/projects/shop/features/card/environments/development/on")
    page = browser.get("/projects")
    assert rows(page) == ["Default", "Web shop"]
    default, line = map(text_of, page.select("tbody tr"))
    assert default.startswith("Default default Open 0 None")
    assert line == "Web shop shop Open 2 1 of 2 1 B just now"


def test_projects_are_found_and_sorted_on_both_faces(browser, people, shop, subtests):
    boss = ApiClient(browser.app, people.token(1))
    for query, found in (
        ("?text=SHOP", ["Web shop"]),
        ("?mode=private", []),
        ("?membership=mine", ["Web shop"]),
        ("?membership=ownerless", ["Default"]),
        ("?sort=-name", ["Web shop", "Default"]),
        ("?sort=changedAt", ["Web shop", "Default"]),
    ):
        with subtests.test(query=query, found=found):
            page = browser.get(f"/projects{query}")
            assert (rows(page) if found else []) == found
            assert found or page.has("No project matches")
            listed = boss.ok("GET", f"/projects{query}")["projects"]
            assert [row["name"] for row in listed] == found


def test_a_private_project_is_shown_to_its_members_and_admins_only(app, people, admin):
    admin.ok("POST", "/projects", json={"id": "secret", "name": "Secret", "mode": "private"})
    people.person("looker")
    people.join(people.person("member"), "secret")
    assert rows(Browser(app).sign_in("looker").get("/projects")) == ["Default"]
    assert rows(Browser(app).sign_in("member").get("/projects")) == ["Default", "Secret"]


def test_the_id_is_made_from_the_name_unless_it_is_given(browser, admin):
    page = browser.get("/new-project")
    page = browser.submit(page, {"name": "Web Shop (EU)!"}, button="Create project")
    assert page.location == "/projects/web-shop-eu"
    assert browser.follow(page).messages == ["Project Web Shop (EU)! created. You are its Owner."]
    page = browser.submit(browser.get("/new-project"), {"name": "Other", "id": "x.Y_1"})
    assert page.location == "/projects/x.Y_1"


def test_the_modes_say_what_they_mean_in_numbers(browser, people):
    for name in ("a", "b", "c"):
        people.person(name)
    page = browser.get("/new-project")
    assert page.has("Today, 4 accounts can sign in or use the API.")
    choices = [text_of(e) for e in page.select("label.choice")]
    assert choices[0].endswith("4 see it 4 propose 1 change it")
    assert choices[1].endswith("4 see it 1 propose 1 change it")
    assert choices[2].startswith(
        "Private Only members and Admins know that it exists. Hidden from 3 accounts."
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


def test_form_and_json_refuse_a_new_project_in_the_same_words(browser, admin, subtests):
    for bad in BAD:
        with subtests.test(bad=bad):
            body = {"id": "ok", "environments": ["production"], **bad}
            refusal = admin.post("/projects", json=body)
            typed = {"mode": "open", "default_stickiness": "default", **body}
            typed["default_stickiness"] = typed.pop("defaultStickiness", "default")
            page = browser.post("/new-project", typed)
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
        "needs-approvals-production": "y",
        "approvals-production": "2",
        "default_stickiness": "userId",
    }
    page = browser.post("/new-project", typed)
    assert page.status == 400
    assert page.errors == [
        "Project id: A project with the id 'default' already exists (it may be archived)."
    ]
    fields = page.fields()
    assert {name: fields[name] for name in typed} == typed
    assert "needs-approvals-development" not in fields
    id = page.select('input[name="id"]')[0].attributes
    assert id["aria-invalid"] == "true"
    assert id["aria-describedby"] == "id-help id-error"


@pytest.mark.parametrize("typed", ["many", "1.5", "-", "٣", ""])
def test_approvals_that_are_not_a_number_are_an_error_at_their_environment(browser, typed):
    page = browser.post("/new-project", NEW | needs("production", typed))
    assert page.status == 400
    assert page.errors == ["Approvals in production: Enter a whole number from 1 to 10"]
    assert page.fields()["approvals-production"] == typed


@pytest.mark.parametrize(
    ("typed", "saved", "words"),
    [
        ("12", 10, "Approvals in production were capped at 10 (you entered 12)."),
        ("-3", 1, "Approvals in production were raised to 1 (you entered -3)."),
        ("0", 1, "Approvals in production were raised to 1 (you entered 0)."),
        ("7", 7, ""),
    ],
)
def test_approvals_out_of_range_are_clamped_and_the_page_says_so(
    browser, admin, typed, saved, words
):
    page = browser.post("/new-project", {**NEW, "id": "shop"} | needs("production", typed))
    [message] = browser.follow(page).messages
    assert message == f"Project Web shop created. You are its Owner. {words}".strip()
    rules = settings(admin)["changeRequestEnvironments"]
    assert rules == [{"name": "production", "requiredApprovals": saved}]


def test_a_number_of_approvals_counts_only_with_the_switch_on(browser, admin):
    browser.post("/new-project", {**NEW, "id": "shop", "approvals-production": "3"})
    assert settings(admin)["changeRequestEnvironments"] == []


def test_only_edited_approvals_say_what_they_were(browser, admin, shop):
    ask_for(admin, production=3)
    page = browser.get("/projects/shop/settings")
    assert not page.has("Was ")
    page = browser.submit(page, {"name": "", "approvals-production": "4"})
    assert page.has("Was 3 approvals.")
    page = browser.submit(page, {"name": "", "needs-approvals-production": None})
    assert page.has("Was 3 approvals.")


def test_settings_are_saved_with_their_reason(browser, admin, people, shop):
    for name in ("kim", "finn"):
        people.person(name, role="admin")
    page = browser.get("/projects/shop/settings")
    typed = {
        "name": "Shop",
        "description": "All of it",
        "mode": "protected",
        "environments": ["production"],
        "needs-approvals-production": "y",
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
    assert page.errors == ["Name: Enter 1 to 255 characters."]
    assert settings(admin)["name"] == "Web shop"


def test_a_narrower_mode_is_reviewed_first_with_its_numbers(browser, admin, people, shop):
    people.person("looker")
    page = browser.submit(browser.get("/projects/shop/settings"), {"mode": "private"})
    assert page.status == 200
    assert page.has("1 account will no longer see the project. 2 will: its members and all Admins.")
    assert settings(admin)["mode"] == "open"
    page = browser.submit(page, button="Save Web shop")
    assert browser.follow(page).messages == ["Project Web shop saved."]
    assert settings(admin)["mode"] == "private"


def test_an_admin_lowers_approvals_after_a_review_and_with_a_reason(browser, admin, shop):
    ask_for(admin, production=3, development=1)
    typed = {"approvals-production": "1", "needs-approvals-development": None}
    page = browser.submit(browser.get("/projects/shop/settings"), typed)
    assert page.has("Changes in production will need 1 approval instead of 3.")
    assert page.has("Changes in development will no longer need approval.")
    refused = browser.submit(page, button="Save all without approval")
    assert refused.status == 400
    page = browser.submit(page, {"reason": "The shop is down"}, button="Save all without approval")
    assert browser.follow(page).messages == ["Project Web shop saved."]
    rules = settings(admin)["changeRequestEnvironments"]
    assert rules == [{"name": "production", "requiredApprovals": 1}]


def test_an_owner_who_lowers_approvals_gets_a_request_and_the_rest_is_saved(owner, admin):
    ask_for(admin, production=1)
    typed = {"name": "Shop", "needs-approvals-production": None, "needs-approvals-development": "y"}
    page = owner.submit(owner.get("/projects/shop/settings"), typed)
    assert page.has("Changes in production need 1 approval today, and so does ending that.")
    assert not page.has("without approval")
    page = owner.follow(owner.submit(page, button="Save and propose"))
    assert page.title.startswith("Change request 1")
    assert page.has("Ask for no approvals in Shop")
    assert page.messages == [
        "Project Shop saved.",
        "Added to your draft. Send it for review when it’s complete.",
    ]
    now = settings(admin)
    assert (now["name"], now["changeRequestEnvironments"]) == (
        "Shop",
        [
            {"name": "development", "requiredApprovals": 1},
            {"name": "production", "requiredApprovals": 1},
        ],
    )


def test_an_owner_who_takes_a_guarded_environment_out_gets_a_request(owner, admin):
    ask_for(admin, production=1, development=1)
    typed = {"environments": ["development"], "needs-approvals-development": None}
    page = owner.submit(owner.get("/projects/shop/settings"), typed)
    page = owner.submit(page, button="Propose")
    page = owner.follow(page)
    assert page.messages == [
        "You have new drafts for development and production. Send each for review."
    ]
    assert page.has("Stop using this environment in shop")
    assert settings(admin)["environments"] == ["development", "production"]


def test_approvals_where_the_project_is_not_used_are_lowered_once_it_is_used_again(owner, admin):
    rules = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["development"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/shop/environments", body, headers=REASON)
    typed = {"needs-approvals-production": None}
    page = owner.submit(owner.get("/projects/shop/settings"), typed)
    refused = owner.submit(page, button="Save Web shop")
    assert "Add the environment first" in refused.errors[0]
    assert settings(admin)["changeRequestEnvironments"] == rules


def test_who_asks_for_more_approvals_than_people_can_give_reads_that_first(browser, admin, shop):
    typed = needs("production", "2")
    page = browser.submit(browser.get("/projects/shop/settings"), typed)
    assert page.has("Changes in production will need 2 approvals, and 2 people can approve.")
    assert page.has("only an Admin will be able to change anything there, or to lower this again.")
    assert settings(admin)["changeRequestEnvironments"] == []
    browser.follow(browser.submit(page, button="Save Web shop"))
    assert settings(admin)["changeRequestEnvironments"]


def test_archiving_a_guarded_project_is_proposed_or_done_by_an_admin_with_a_reason(
    browser, owner, admin
):
    ask_for(admin, production=1)
    page = owner.get("/projects/shop/settings")
    page = owner.follow(owner.submit(page, form="/settings/propose/archive"))
    assert page.has("Archive project Web shop")
    page = browser.get("/projects/shop/settings")
    form, button = "/settings/propose/archive", "Archive Web shop without approval"
    assert browser.submit(page, form=form, button=button).status == 403
    page = browser.submit(page, {"reason": "The shop has closed"}, form=form, button=button)
    assert browser.follow(page).has("Project shop archived.")


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
    assert page.has("The effect of this change is no longer what you reviewed")
    assert page.has("2 accounts will no longer see the project.")
    assert settings(admin)["mode"] == "open"
    browser.follow(browser.submit(page, button="Save Web shop"))
    assert settings(admin)["mode"] == "private"


def test_of_two_editors_the_second_chooses_part_by_part_and_nothing_is_lost(browser, admin, shop):
    mine = browser.get("/projects/shop/settings")
    admin.ok("PUT", "/projects/shop", json={"name": "Theirs", "description": "theirs"})
    typed = {"name": "Mine", "default_stickiness": "userId"} | needs("production", "1")
    page = browser.submit(mine, typed)
    assert page.status == 409
    assert page.has("admin saved it just now")
    fields = page.fields()
    assert {name: fields[name] for name in fields if name.startswith("take-")} == {
        "take-name": "theirs",
        "take-description": "theirs",
    }
    page = browser.submit(page, {"take-name": "mine"}, button="Save these choices")
    browser.follow(page)
    now = settings(admin)
    assert (now["name"], now["description"]) == ("Mine", "theirs")
    assert now["defaultStickiness"] == "userId"
    assert now["changeRequestEnvironments"] == [{"name": "production", "requiredApprovals": 1}]


def test_changes_of_different_fields_that_agree_are_no_conflict(browser, admin, shop):
    mine = browser.get("/projects/shop/settings")
    admin.ok("PUT", "/projects/shop", json={"name": "Both"})
    page = browser.submit(mine, {"name": "Both", "mode": "protected"})
    assert browser.follow(page).messages == ["Project Both saved."]
    assert settings(admin)["mode"] == "protected"


def test_back_from_a_conflict_keeps_what_was_typed(browser, admin, shop):
    mine = browser.get("/projects/shop/settings")
    admin.ok("PUT", "/projects/shop", json={"name": "Theirs"})
    page = browser.submit(mine, {"name": "Mine", "mode": "protected"})
    page = browser.submit(page, button="Back to the form")
    assert (page.fields()["name"], page.fields()["mode"]) == ("Mine", "protected")


def test_people_who_cannot_change_a_project_see_its_settings_and_why(app, people, shop):
    people.person("looker")
    page = Browser(app).sign_in("looker").get("/projects/shop/settings")
    assert page.has("You can’t change this. Ask boss to make you an Owner of Web shop.")
    assert page.has("Default stickiness default")


def members(admin: ApiClient, id: str = "shop") -> dict[str, int]:
    found = admin.ok("GET", f"/projects/{id}/access")["members"]
    return {member["username"]: member["roleId"] for member in found}


def add(browser: Browser, name: str, role: int, id: str = "shop") -> Page:
    page = browser.get(f"/projects/{id}/members")
    return browser.submit(page, {"account": name, "role_id": str(role)}, form="/add")


@pytest.fixture
def kim(admin: ApiClient) -> int:
    body = {"username": "kim", "name": "Kim Osei", "email": "kim@example.org", "rootRole": 3}
    return admin.ok("POST", "/user-admin", json=body)["id"]


@pytest.mark.parametrize("name", ["KIM", "kim@example.org", "Kim Osei", " kim osei "])
def test_a_member_is_added_by_user_name_e_mail_or_full_name(browser, admin, shop, kim, name):
    page = browser.follow(add(browser, name, 4))
    assert page.messages == ["Kim Osei is now an Owner of Web shop."]
    assert members(admin) == {"boss": 4, "kim": 4}


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", "Enter a name, a user name or an e-mail address."),
        ("no.such", "No account matches “no.such”. Check the spelling."),
        ("osei", "No account is called “osei”. Similar: Kim Osei (kim)."),
        ("Lee Park", "2 accounts are called “Lee Park”: lee and lee2. Enter a user name."),
    ],
)
@pytest.mark.usefixtures("shop", "kim")
def test_a_name_that_does_not_mean_one_account_is_an_error(browser, admin, name, error):
    for username in ("lee", "lee2"):
        body = {"username": username, "name": "Lee Park", "rootRole": 3}
        admin.ok("POST", "/user-admin", json=body)
    page = add(browser, name, 5)
    assert page.status == 400
    assert page.errors == [f"Name, user name or e-mail: {error}"]
    assert page.fields("/add")["account"] == name
    assert members(admin) == {"boss": 4}


def test_a_deleted_account_cannot_be_added(browser, admin, shop, kim):
    admin.ok("DELETE", f"/user-admin/{kim}")
    assert add(browser, "Kim Osei", 5).status == 400


def test_a_member_is_not_added_again(browser, admin, shop, kim):
    add(browser, "kim", 5)
    before = admin.ok("GET", "/events")["total"]
    page = add(browser, "kim", 5)
    assert page.errors == [
        "Name, user name or e-mail: Kim Osei is already a Member of this project."
    ]
    assert admin.ok("GET", "/events")["total"] == before


def test_adding_a_member_with_another_role_asks_first(browser, admin, shop, kim):
    add(browser, "kim", 5)
    page = add(browser, "Kim Osei", 4)
    assert page.status == 409
    assert page.has("Kim Osei is already a Member")
    assert members(admin)["kim"] == 5
    page = browser.submit(page, form="/add", button="Make Kim Osei an Owner")
    assert browser.follow(page).messages == ["Kim Osei is now an Owner of Web shop."]
    assert members(admin)["kim"] == 4


def test_the_last_owner_is_not_demoted_by_adding_them(browser, admin, shop):
    page = browser.submit(add(browser, "boss", 5), form="/add", button="Make boss a Member")
    assert page.errors == [LAST_OWNER]
    assert members(admin) == {"boss": 4}


def test_roles_change_and_members_are_removed(browser, admin, people, shop):
    people.join(kim := people.person("kim"), "shop")
    people.join(vic := people.person("vic"), "shop")
    page = browser.get("/projects/shop/members")
    changes = {f"role-{kim}": "4", f"role-{vic}": "remove", "reason": "moved"}
    page = browser.follow(browser.submit(page, changes, form="Save members"))
    assert page.messages == ["Members saved."]
    assert members(admin) == {"boss": 4, "kim": 4}
    assert admin.ok("GET", "/events?project=shop")["events"][0]["reason"] == "moved"


def test_nothing_is_called_saved_when_nothing_changed(browser, admin, shop):
    before = admin.ok("GET", "/events")["total"]
    for path, form in (("members", "Save members"), ("settings", "Save")):
        page = browser.submit(browser.get(f"/projects/shop/{path}"), form=form)
        assert browser.follow(page).messages == ["Nothing changed."]
    assert admin.ok("GET", "/events")["total"] == before


def test_the_last_owner_is_kept(browser, admin, people, shop):
    page = browser.get("/projects/shop/members")
    [role] = [name for name in page.fields("Save members") if name.startswith("role-")]
    page = browser.submit(page, {role: "remove"}, form="Save members")
    assert page.status == 400
    assert page.errors == [LAST_OWNER]
    assert members(admin) == {"boss": 4}


def test_a_role_that_does_not_exist_is_refused(browser, admin, shop):
    page = browser.get("/projects/shop/members")
    [role] = [name for name in page.fields("Save members") if name.startswith("role-")]
    assert browser.submit(page, {role: "9"}, form="Save members").status == 400
    assert browser.submit(page, {role: "x"}, form="Save members").status == 400


def test_of_two_who_change_the_same_role_the_second_sees_what_changed(browser, admin, people, shop):
    people.join(kim := people.person("kim"), "shop")
    mine = browser.get("/projects/shop/members")
    admin.ok("POST", "/projects/shop/access", json={"id": kim, "roleId": 4})
    page = browser.submit(mine, {f"role-{kim}": "remove"}, form="Save members")
    assert page.status == 409
    assert page.has("now an Owner, was a Member")
    assert page.fields("Save members")[f"role-{kim}"] == "remove"
    browser.follow(browser.submit(page, form="Save members"))
    assert members(admin) == {"boss": 4}


def test_a_change_of_one_role_leaves_what_others_changed(browser, admin, people, shop):
    people.join(kim := people.person("kim"), "shop")
    people.join(vic := people.person("vic"), "shop")
    mine = browser.get("/projects/shop/members")
    admin.ok("DELETE", f"/projects/shop/access/{vic}")
    admin.ok("POST", "/projects/shop/access", json={"id": people.person("lee"), "roleId": 5})
    browser.follow(browser.submit(mine, {f"role-{kim}": "4"}, form="Save members"))
    assert members(admin) == {"boss": 4, "kim": 4, "lee": 5}


def test_an_empty_project_is_archived_and_revived(browser, admin, shop):
    page = browser.get("/projects/shop/settings")
    page = browser.follow(browser.submit(page, form="Archive Web shop"))
    assert page.messages == ["Project shop archived. Its id stays taken. You can revive it."]
    assert "shop" not in [row["id"] for row in admin.ok("GET", "/projects")["projects"]]
    assert rows(browser.get("/projects?archived=true")) == ["Web shop"]
    assert browser.get("/projects/shop").has("This project is archived")
    page = browser.follow(browser.submit(page, form="Revive Web shop"))
    assert page.messages == ["Project Web shop revived."]


def test_a_project_with_features_says_why_it_can_not_be_archived(browser, admin, shop):
    admin.ok("POST", "/projects/shop/features", json={"name": "a"})
    page = browser.get("/projects/shop/settings")
    assert page.has("It has 1 active feature. You can archive it once all of them are archived.")
    assert browser.post("/projects/shop/settings/archive").status == 409


def test_people_who_cannot_create_projects_see_whom_to_ask(app: Flask, people: People):
    people.person("looker")
    page = Browser(app).sign_in("looker").get("/projects")
    assert page.has("You can’t change this. Ask an Admin to make you an Editor.")
    assert "New project" not in page.links
