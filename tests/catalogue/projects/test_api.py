from dataclasses import replace

import pytest

from app.catalogue.environments import service as environments
from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.projects import service as projects
from app.core.actor import COMMAND_LINE
from app.core.db import db, unit_of_work
from tests.support.clients import error_of, problems_of

PATH = "/projects"
PROJECT_FIELDS = [
    "id",
    "name",
    "description",
    "featureLimit",
    "mode",
    "defaultStickiness",
    "environments",
    "changeRequestEnvironments",
]
SHOP = {"id": "shop", "name": "Web shop"}


@pytest.fixture
def shop(admin):
    """A project in which every field differs from its default."""
    return admin.ok(
        "POST",
        PATH,
        SHOP
        | {
            "description": "Sells things",
            "mode": "protected",
            "defaultStickiness": "userId",
            "environments": ["production"],
            "changeRequestEnvironments": [{"name": "production", "requiredApprovals": 2}],
        },
    )


@pytest.fixture
def staging(app):
    """A deprecated environment."""
    with app.app_context(), unit_of_work(writes=True):
        environments.create(COMMAND_LINE, name="staging", type=EnvironmentType.PREPRODUCTION)
        db.session.get_one(Environment, "staging").deprecated = True
    return "staging"


def archive(app, project_id):
    with app.app_context(), unit_of_work(writes=True):
        actor = replace(COMMAND_LINE, reason="The shop has closed")
        projects.archive(actor, projects.get_for_change(actor, project_id))


def events_of(client, type):
    return client.ok("GET", f"/events?type={type}")["events"]


# Creating


def test_a_new_project_has_all_documented_fields_in_order(admin):
    answer = admin.post(PATH, SHOP)
    assert answer.status_code == 201
    assert answer.headers["Location"] == "/api/admin/projects/shop"
    assert list(answer.json) == PROJECT_FIELDS
    assert answer.json == {
        "id": "shop",
        "name": "Web shop",
        "description": None,
        "featureLimit": None,
        "mode": "open",
        "defaultStickiness": "default",
        "environments": ["development", "production"],
        "changeRequestEnvironments": [],
    }


def test_all_fields_are_stored_as_sent(shop):
    assert shop == {
        "id": "shop",
        "name": "Web shop",
        "description": "Sells things",
        "featureLimit": None,
        "mode": "protected",
        "defaultStickiness": "userId",
        "environments": ["production"],
        "changeRequestEnvironments": [{"name": "production", "requiredApprovals": 2}],
    }


def test_creating_a_project_is_recorded(admin, shop):
    [event] = events_of(admin, "project-created")
    assert (event["project"], event["createdBy"]) == ("shop", "admin")
    assert event["data"]["name"] == "Web shop"


def test_an_id_can_have_these_characters(admin, subtests):
    for id in ("a", "...", "-", "_~.-", "A1", "x" * 100):
        with subtests.test(id=id):
            answer = admin.post(PATH, {"id": id, "name": "x"})
            assert answer.json["id"] == id
            assert admin.ok("GET", answer.headers["Location"])["id"] == id


def test_other_ids_are_refused(admin, subtests):
    for bad in ("", ".", "..", "a b", " a", "a\n", "a/b", "é", "٣", "x" * 101, 5, None, ["a"]):
        with subtests.test(bad=bad):
            assert list(problems_of(admin.post(PATH, {"id": bad, "name": "x"}))) == ["/id"]


@pytest.mark.parametrize("field", ["id", "name"])
def test_id_and_name_are_required(admin, field):
    body = {key: value for key, value in SHOP.items() if key != field}
    assert list(problems_of(admin.post(PATH, body))) == [f"/{field}"]


def test_ids_differ_by_case(admin):
    admin.ok("POST", PATH, SHOP)
    admin.ok("POST", PATH, SHOP | {"id": "Shop"})
    assert admin.ok("GET", f"{PATH}/shop") != admin.ok("GET", f"{PATH}/Shop")


def test_an_id_is_used_once(admin, shop):
    assert error_of(admin.post(PATH, SHOP)) == (409, "NameExistsError")
    assert admin.ok("GET", f"{PATH}/shop") == shop
    assert len(events_of(admin, "project-created")) == 1


def test_an_archived_project_keeps_its_id(admin, app, shop):
    archive(app, "shop")
    assert error_of(admin.post(PATH, SHOP)) == (409, "NameExistsError")


@pytest.mark.parametrize(
    ("field", "longest"), [("name", 255), ("description", 5_000), ("defaultStickiness", 100)]
)
def test_texts_have_a_maximum_length_after_trimming(admin, field, longest):
    text = "é" * longest
    assert admin.ok("POST", PATH, SHOP | {field: f" {text} "})[field] == text
    answer = admin.post(PATH, SHOP | {"id": "other", field: f"{text}é"})
    assert list(problems_of(answer)) == [f"/{field}"]


def test_some_texts_must_not_be_empty(admin, subtests):
    for field in ("name", "defaultStickiness"):
        for bad in ("", " \t ", None, 5):
            with subtests.test(field=field, bad=bad):
                assert list(problems_of(admin.post(PATH, SHOP | {field: bad}))) == [f"/{field}"]


def test_the_description_can_be_null_or_have_several_lines(admin):
    assert admin.ok("POST", PATH, SHOP | {"description": None})["description"] is None
    text = "one\ntwo"
    other = {"id": "other", "name": "x", "description": text}
    assert admin.ok("POST", PATH, other)["description"] == text


@pytest.mark.parametrize("bad", ["", "OPEN", "public", None, 1])
def test_a_mode_is_one_of_three(admin, bad):
    assert list(problems_of(admin.post(PATH, SHOP | {"mode": bad}))) == ["/mode"]


@pytest.mark.parametrize("mode", ["open", "protected", "private"])
def test_each_mode_is_accepted(admin, mode):
    assert admin.ok("POST", PATH, SHOP | {"mode": mode})["mode"] == mode


def test_a_feature_limit_is_ignored_and_an_unknown_field_refused(admin):
    assert list(problems_of(admin.post(PATH, SHOP | {"color": 1}))) == ["/color"]
    assert admin.ok("POST", PATH, SHOP | {"featureLimit": 5})["featureLimit"] is None


def test_without_environments_all_that_are_not_deprecated_are_enabled(admin, staging):
    assert admin.ok("POST", PATH, SHOP)["environments"] == ["development", "production"]


def test_a_deprecated_environment_can_be_named(admin, staging):
    assert admin.ok("POST", PATH, SHOP | {"environments": [staging]})["environments"] == [staging]


def test_an_empty_list_of_environments_is_refused(admin):
    answer = admin.post(PATH, SHOP | {"environments": []})
    assert list(problems_of(answer)) == ["/environments"]


def test_environments_given_twice_collapse(admin):
    body = SHOP | {"environments": ["production", "production"]}
    assert admin.ok("POST", PATH, body)["environments"] == ["production"]


def test_the_order_of_environments_does_not_matter(admin):
    names = ["production", "development"]
    rules = [{"name": name, "requiredApprovals": 2} for name in names]
    body = SHOP | {"environments": names, "changeRequestEnvironments": rules}
    created = admin.ok("POST", PATH, body)
    assert created["environments"] == sorted(names)
    assert admin.ok("GET", f"{PATH}/shop") == created


def test_each_unknown_environment_is_named_and_nothing_is_created(admin):
    answer = admin.post(PATH, SHOP | {"environments": ["mars", "production", "venus"]})
    problems = problems_of(answer)
    assert set(problems) == {"/environments/0", "/environments/2"}
    assert "mars" in problems["/environments/0"]
    assert error_of(admin.get(f"{PATH}/shop")) == (404, "NotFoundError")


@pytest.mark.parametrize(
    ("sent", "kept"), [(-5, 1), (0, 1), (1, 1), (10, 10), (11, 10), (2**53 - 1, 10), (3.0, 3)]
)
def test_approvals_are_clamped(admin, sent, kept):
    rule = {"name": "production", "requiredApprovals": sent}
    created = admin.ok("POST", PATH, SHOP | {"changeRequestEnvironments": [rule]})
    assert created["changeRequestEnvironments"] == [
        {"name": "production", "requiredApprovals": kept}
    ]


def test_the_default_is_one_approval(admin):
    created = admin.ok("POST", PATH, SHOP | {"changeRequestEnvironments": [{"name": "production"}]})
    assert created["changeRequestEnvironments"] == [{"name": "production", "requiredApprovals": 1}]


@pytest.mark.parametrize("bad", ["2", 2.5, True, None])
def test_approvals_must_be_a_whole_number(admin, bad):
    rule = {"name": "production", "requiredApprovals": bad}
    answer = admin.post(PATH, SHOP | {"changeRequestEnvironments": [rule]})
    assert list(problems_of(answer)) == ["/changeRequestEnvironments/0/requiredApprovals"]


def test_approvals_can_name_an_environment_that_the_project_does_not_use(admin):
    body = {"environments": ["development"], "changeRequestEnvironments": [{"name": "production"}]}
    created = admin.ok("POST", PATH, SHOP | body)
    assert created["environments"] == ["development"]
    assert [rule["name"] for rule in created["changeRequestEnvironments"]] == ["production"]


def test_approvals_for_an_unknown_environment_are_refused(admin):
    rules = [{"name": "production"}, {"name": "mars"}]
    answer = admin.post(PATH, SHOP | {"changeRequestEnvironments": rules})
    assert list(problems_of(answer)) == ["/changeRequestEnvironments/1/name"]


def test_approvals_for_one_environment_twice_are_refused(admin):
    rules = [{"name": "production"}, {"name": " production", "requiredApprovals": 2}]
    answer = admin.post(PATH, SHOP | {"changeRequestEnvironments": rules})
    assert list(problems_of(answer)) == ["/changeRequestEnvironments/1/name"]


def test_the_creator_becomes_owner(editor):
    editor.ok("POST", PATH, SHOP | {"mode": "private"})
    held = editor.ok("GET", "/user")["permissions"]
    assert {"permission": "PROJECT_USER_ACCESS_WRITE", "project": "shop"} in held
    editor.ok("PUT", f"{PATH}/shop", {"name": "Mine"})


def test_viewers_and_owners_of_other_projects_cannot_create_one(people, viewer):
    for client in (viewer, people.member("olga", "default", "Owner")):
        refusal = client.post(PATH, SHOP)
        assert error_of(refusal) == (403, "NoAccessError")
        assert "CREATE_PROJECT" in refusal.json["message"]


def test_callers_without_a_token_cannot_create_one(stranger):
    assert error_of(stranger.post(PATH, SHOP)) == (401, "AuthenticationRequired")


# Updating


def test_the_response_to_an_update_has_no_body(admin, shop):
    answer = admin.put(f"{PATH}/shop", {"name": "Shop"})
    assert (answer.status_code, answer.data) == (200, b"")


def test_fields_left_out_stay_as_they_are(admin, shop):
    admin.ok("PUT", f"{PATH}/shop", {"name": "Shop"})
    assert admin.ok("GET", f"{PATH}/shop") == shop | {"name": "Shop"}


@pytest.mark.parametrize(
    "change", [{"description": "New"}, {"mode": "private"}, {"defaultStickiness": "random"}]
)
def test_only_fields_that_are_sent_change(admin, shop, change):
    admin.ok("PUT", f"{PATH}/shop", {"name": shop["name"]} | change)
    assert admin.ok("GET", f"{PATH}/shop") == shop | change


def test_null_clears_the_description(admin, shop):
    admin.ok("PUT", f"{PATH}/shop", {"name": shop["name"], "description": None})
    assert admin.ok("GET", f"{PATH}/shop") == shop | {"description": None}


@pytest.mark.parametrize("bad", [{}, {"name": ""}, {"name": "  "}, {"name": None}])
def test_a_name_is_required_and_not_empty(admin, shop, bad):
    assert list(problems_of(admin.put(f"{PATH}/shop", bad))) == ["/name"]


@pytest.mark.parametrize("bad", [{"mode": "x"}, {"mode": None}, {"defaultStickiness": ""}])
def test_updating_refuses_what_creating_refuses(admin, shop, bad):
    answer = admin.put(f"{PATH}/shop", {"name": "Shop"} | bad)
    assert list(problems_of(answer)) == [f"/{field}" for field in bad]
    assert admin.ok("GET", f"{PATH}/shop") == shop


def test_an_update_is_recorded_with_before_and_after(admin, shop):
    admin.ok("PUT", f"{PATH}/shop", {"name": "Shop"})
    [event] = events_of(admin, "project-updated")
    assert (event["project"], event["createdBy"]) == ("shop", "admin")
    assert (event["preData"]["name"], event["data"]["name"]) == ("Web shop", "Shop")


@pytest.mark.parametrize(
    "same", [{"name": "Web shop"}, {"name": " Web shop ", "mode": "protected"}]
)
def test_an_update_that_changes_nothing_is_not_recorded(admin, shop, same):
    admin.ok("PUT", f"{PATH}/shop", same)
    assert events_of(admin, "project-updated") == []


def test_what_was_read_can_be_sent_back(admin, shop):
    [row] = [r for r in admin.ok("GET", PATH)["projects"] if r["id"] == "shop"]
    for read in (shop, row):
        admin.ok("PUT", f"{PATH}/shop", read)
    assert admin.ok("GET", f"{PATH}/shop") == shop
    assert events_of(admin, "project-updated") == []


def test_fields_that_an_update_cannot_change_are_ignored(admin, shop):
    ignored = {"featureLimit": 9, "environments": [], "changeRequestEnvironments": None}
    admin.ok("PUT", f"{PATH}/shop", {"name": "Web shop", "id": "shop"} | ignored)
    assert admin.ok("GET", f"{PATH}/shop") == shop


def test_an_id_that_differs_from_the_path_is_refused(admin, shop):
    answer = admin.put(f"{PATH}/shop", {"name": "Shop", "id": "Shop"})
    assert list(problems_of(answer)) == ["/id"]


def test_an_unknown_field_is_refused(admin, shop):
    assert list(problems_of(admin.put(f"{PATH}/shop", {"name": "x", "color": 1}))) == ["/color"]


def test_every_representation_carries_the_same_etag_until_it_changes(admin):
    etags = [admin.post(PATH, SHOP).headers["ETag"]]
    etags += [admin.get(f"{PATH}/shop").headers["ETag"] for _ in range(2)]
    assert len(set(etags)) == 1
    admin.ok("PUT", f"{PATH}/shop", {"name": "Shop"})
    assert admin.get(f"{PATH}/shop").headers["ETag"] not in etags


def test_an_update_with_the_current_etag_is_made(admin, shop):
    match = {"If-Match": admin.get(f"{PATH}/shop").headers["ETag"]}
    assert admin.put(f"{PATH}/shop", {"name": "Shop"}, headers=match).status_code == 200


def test_an_update_with_an_old_etag_is_refused_and_changes_nothing(admin, shop):
    match = {"If-Match": admin.get(f"{PATH}/shop").headers["ETag"]}
    admin.ok("PUT", f"{PATH}/shop", {"name": "First"})
    answer = admin.put(f"{PATH}/shop", {"name": "Second"}, headers=match)
    assert error_of(answer) == (412, "PreconditionFailedError")
    assert admin.ok("GET", f"{PATH}/shop") == shop | {"name": "First"}
    assert len(events_of(admin, "project-updated")) == 1


def test_an_etag_of_another_project_does_not_match(admin, shop):
    match = {"If-Match": admin.get(f"{PATH}/default").headers["ETag"]}
    answer = admin.put(f"{PATH}/shop", {"name": "Shop"}, headers=match)
    assert error_of(answer) == (412, "PreconditionFailedError")


def test_an_archived_project_can_be_read_but_not_updated(admin, app, shop):
    archive(app, "shop")
    assert error_of(admin.put(f"{PATH}/shop", {"name": "x"})) == (409, "ConflictError")
    assert admin.ok("GET", f"{PATH}/shop") == shop


def test_an_unknown_project_is_not_found_by_an_admin(admin):
    assert error_of(admin.put(f"{PATH}/nowhere", {"name": "x"})) == (404, "NotFoundError")


def test_another_content_type_is_refused(admin, shop):
    answer = admin.put(f"{PATH}/shop", data="{}", content_type="text/plain")
    assert error_of(answer) == (415, "ContentTypeerror")


@pytest.mark.parametrize(("role", "status"), [("Owner", 200), ("Member", 403)])
def test_owners_can_update_and_members_cannot(people, shop, role, status):
    client = people.member("olga", "shop", role)
    assert client.put(f"{PATH}/shop", {"name": "x"}).status_code == status


def test_editors_update_the_default_project_while_it_is_open(admin, editor, shop):
    body = {"name": "Default"}
    editor.ok("PUT", f"{PATH}/default", body)
    assert error_of(editor.put(f"{PATH}/shop", body)) == (403, "NoAccessError")
    admin.ok("PUT", f"{PATH}/default", body | {"mode": "protected"})
    assert error_of(editor.put(f"{PATH}/default", body)) == (403, "NoAccessError")


def test_a_refused_update_does_not_show_what_exists(viewer, shop):
    known, unknown = (viewer.put(f"{PATH}/{id}", {"name": "x"}) for id in ("shop", "nowhere"))
    assert error_of(known) == error_of(unknown) == (403, "NoAccessError")
    assert known.json["message"].replace("shop", "nowhere") == unknown.json["message"]


# Members


@pytest.mark.parametrize("id", [999, 2**31, 2**53 - 1])
def test_a_member_must_be_an_account(admin, shop, id):
    me = admin.ok("GET", "/user")["user"]["id"]
    members = [{"id": me, "roleId": 4}, {"id": id, "roleId": 5}]
    answer = admin.put(f"{PATH}/shop/access", {"members": members})
    assert list(problems_of(answer)) == ["/members/1/id"]


# Reading


def test_only_members_and_admins_see_a_private_project(admin, editor, people, shop):
    admin.ok("PUT", f"{PATH}/shop", {"name": "Shop", "mode": "private"})
    for client in (admin, people.member("mia", "shop")):
        assert client.ok("GET", f"{PATH}/shop")["mode"] == "private"
        assert "shop" in ids_in(client.ok("GET", PATH))
    hidden, unknown = editor.get(f"{PATH}/shop"), editor.get(f"{PATH}/nowhere")
    assert error_of(hidden) == error_of(unknown) == (404, "NotFoundError")
    assert hidden.json["message"].replace("shop", "nowhere") == unknown.json["message"]
    assert ids_in(editor.ok("GET", PATH)) == ["default"]


@pytest.mark.parametrize("mode", ["open", "protected"])
def test_everyone_sees_other_projects(admin, viewer, mode):
    admin.ok("POST", PATH, SHOP | {"mode": mode})
    assert viewer.ok("GET", f"{PATH}/shop")["mode"] == mode


def test_a_row_of_the_list_counts_features_and_members(admin, people, shop):
    people.join(people.person("mia"), "shop")
    for name in ("one", "two", "gone"):
        admin.ok("POST", f"{PATH}/shop/features", {"name": name})
    admin.ok("POST", f"{PATH}/shop/archive", {"features": ["gone"]})
    [row] = [r for r in admin.ok("GET", PATH)["projects"] if r["id"] == "shop"]
    extra = ["featureCount", "memberCount", "createdAt", "archivedAt"]
    assert list(row) == PROJECT_FIELDS + extra
    assert (row["featureCount"], row["memberCount"], row["archivedAt"]) == (2, 2, None)


def test_archived_projects_are_listed_on_request(admin, app, shop):
    archive(app, "shop")
    assert ids_in(admin.ok("GET", PATH)) == ["default"]
    found = admin.ok("GET", f"{PATH}?archived=true")
    assert ids_in(found) == ["shop"]
    assert found["projects"][0]["archivedAt"] is not None


def test_a_list_has_pages_and_a_total(admin):
    for number in range(4):
        admin.ok("POST", PATH, {"id": f"p{number}", "name": f"P {number}"})
    found = admin.ok("GET", f"{PATH}?limit=2&offset=2")
    assert list(found) == ["version", "projects", "total"]
    assert (found["version"], found["total"], ids_in(found)) == (1, 5, ["p1", "p2"])


@pytest.mark.parametrize("bad", ["limit=0", "limit=50001", "offset=-1", "limit=x", "color=red"])
def test_limit_and_offset_must_be_valid(admin, bad):
    [path] = problems_of(admin.get(f"{PATH}?{bad}"))
    assert path == f"?{bad.split('=')[0]}"


def ids_in(found):
    return [row["id"] for row in found["projects"]]
