"""Many clients at the same moment: nothing is lost, nothing is made twice, nothing breaks."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.connections import Begin, beginning
from app.core.db import db
from app.core.events.verification import Evidence, verify
from tests.support.browser import Browser
from tests.support.dependencies import parents, parents_in
from tests.support.races import (
    CROWD,
    FEATURES,
    add_tags,
    at_once,
    crowd,
    make_features,
    statuses,
    tag_randomly,
    tags_as_they_are,
    tags_as_told,
)

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]


@contextmanager
def nothing_can_be_recorded(app: Flask) -> Iterator[None]:
    """The event log is somewhere else for a while."""

    def rename(old: str, new: str) -> None:
        with app.app_context(), beginning(Begin.AS_WRITER), db.engine.begin() as connection:
            connection.execute(sa.text(f"ALTER TABLE {old} RENAME TO {new}"))

    rename("events", "elsewhere")
    try:
        yield
    finally:
        rename("elsewhere", "events")


def test_one_project_id_is_given_once(admin):
    bodies = [{"id": "shop", "name": f"Shop {number}"} for number in range(CROWD)]
    answers = crowd(admin, "/projects", bodies)
    assert statuses(answers) == {201: 1, 409: CROWD - 1}
    assert {a.json["name"] for a in answers if a.status_code == 409} == {"NameExistsError"}
    [created] = [answer.json for answer in answers if answer.status_code == 201]
    assert admin.ok("GET", "/projects/shop") == created
    assert admin.ok("GET", "/events?type=project-created")["total"] == 1


def test_one_feature_name_is_given_once(admin):
    answers = crowd(admin, FEATURES, [{"name": "checkout"}] * CROWD)
    assert statuses(answers) == {201: 1, 409: CROWD - 1}


def test_one_username_is_given_once_whatever_its_case(admin):
    bodies = [
        {"username": ("build", "Build")[number % 2], "rootRole": 3} for number in range(CROWD)
    ]
    answers = crowd(admin, "/service-account", bodies)
    assert statuses(answers) == {201: 1, 409: CROWD - 1}
    assert admin.ok("GET", "/events?type=service-account-created")["total"] == 1


def test_accounts_with_one_name_get_different_usernames(admin):
    answers = crowd(admin, "/service-account", [{"name": "Build", "rootRole": 3}] * CROWD)
    assert statuses(answers) == {201: CROWD}
    numbered = {f"service-build-{number}" for number in range(2, CROWD + 1)}
    assert {answer.json["username"] for answer in answers} == {"service-build"} | numbered


def test_a_user_and_a_service_account_never_share_a_username(admin):
    body = {"username": "build", "rootRole": 3}
    paths = ["/user-admin", "/service-account"] * 8
    answers = at_once(lambda path=path: admin.post(path, body) for path in paths)
    assert statuses(answers) == {201: 1, 409: 15}


def test_tagging_the_same_features_in_any_order_never_breaks(admin):
    names = [f"f{number}" for number in range(30)]
    make_features(admin, *names)
    chance = random.Random(20_260_101)
    for _ in range(4):
        answers = at_once(tag_randomly(admin, names, chance.random()) for _ in range(16))
        assert statuses(answers) == {200: 16}, [a.text for a in answers if a.status_code != 200]
    assert tags_as_told(admin) == tags_as_they_are(admin)


def test_new_tags_in_any_order_are_created_once(admin):
    names = [f"f{number}" for number in range(16)]
    make_features(admin, *names)
    chance = random.Random(20_260_102)
    for letter in "abcd":
        values = [f"{letter}{number}" for number in range(40)]
        answers = at_once(add_tags(admin, name, chance.sample(values, 40)) for name in names)
        assert statuses(answers) == {200: 16}, [a.text for a in answers if a.status_code != 200]
    tags = admin.ok("GET", "/tags?limit=1000")["tags"]
    assert [tag["used"] for tag in tags] == [16] * 160


def depend(client, child, parent):
    return lambda: client.post(f"{FEATURES}/{child}/dependencies", {"feature": parent})


def test_two_dependencies_never_make_a_circle(admin):
    for number in range(20):
        a, b = f"a{number}", f"b{number}"
        make_features(admin, a, b)
        answers = at_once([depend(admin, a, b), depend(admin, b, a)])
        assert statuses(answers) == {200: 1, 409: 1}
        found = [parents(admin, f"{FEATURES}/{name}") for name in (a, b)]
        assert sorted(found) in ([[], [a]], [[], [b]])


def test_dependencies_at_once_stay_one_level_deep(admin):
    for number in range(10):
        names = [f"{letter}{number}" for letter in "abc"]
        make_features(admin, *names)
        a, b, c = names
        at_once([depend(admin, a, b), depend(admin, b, c), depend(admin, c, a)])
        rows = [admin.ok("GET", f"{FEATURES}/{name}") for name in names]
        assert sum(len(parents_in(row)) for row in rows) == 1


def test_a_child_has_one_parent_whichever_request_comes_last(admin):
    names = [f"p{number}" for number in range(8)]
    make_features(admin, "child", *names)
    answers = at_once(depend(admin, "child", name) for name in names)
    assert statuses(answers) == {200: 8}
    [parent] = parents(admin, f"{FEATURES}/child")
    assert parent in names


def test_a_parent_is_not_archived_while_it_gets_a_child(admin):
    for number in range(10):
        child, parent = f"c{number}", f"p{number}"
        make_features(admin, child, parent)

        def archive(parent=parent):
            return admin.post("/projects/default/archive", {"features": [parent]})

        tied, archived = at_once([depend(admin, child, parent), archive])
        assert sorted([tied.status_code < 300, archived.status_code < 300]) == [False, True]
        assert {tied.status_code, archived.status_code} <= {200, 202, 409}


def test_two_updates_leave_the_whole_of_one(admin):
    bodies = [{"name": f"N{n}", "description": f"D{n}"} for n in range(16)]
    answers = at_once(lambda body=body: admin.put("/projects/default", body) for body in bodies)
    assert statuses(answers) == {200: 16}
    project = admin.ok("GET", "/projects/default")
    assert {"name": project["name"], "description": project["description"]} in bodies
    events = admin.ok("GET", "/events?type=project-updated")["events"]
    told = [(event["preData"], event["data"]) for event in reversed(events)]
    assert [before for before, _ in told[1:]] == [after for _, after in told[:-1]]


def test_no_feature_is_created_in_a_project_that_is_archived_at_the_same_time(admin):
    for number in range(10):
        project = f"shop{number}"
        admin.ok("POST", "/projects", {"id": project, "name": "Shop"})
        made, archived = at_once(
            [
                lambda project=project, number=number: admin.post(
                    f"/projects/{project}/features", {"name": f"f{number}"}
                ),
                lambda project=project: admin.delete(f"/projects/{project}"),
            ]
        )
        assert sorted([made.status_code < 300, archived.status_code < 300]) == [False, True]
        assert max(made.status_code, archived.status_code) == 409


def test_inactive_users_are_deleted_once(admin, people):
    ids = [people.person(f"p{number}", away_days=200) for number in range(20)]
    body = {"ids": ids}
    answers = crowd(admin, "/user-admin/inactive/delete", [body] * 16)
    assert statuses(answers) == {200: 16}
    deleted = admin.ok("GET", "/events?type=user-deleted")["events"]
    assert sorted(event["preData"]["id"] for event in deleted) == ids


def test_a_tag_type_and_an_environment_are_made_once(admin):
    for path, body in (("/tag-types", {"name": "team"}), ("/environments", {"name": "qa"})):
        full = body if path == "/tag-types" else body | {"type": "test"}
        assert statuses(crowd(admin, path, [full] * CROWD)) == {201: 1, 409: CROWD - 1}


def test_one_e_mail_address_is_given_once_whatever_its_case(admin):
    spellings = ("zoe@example.org", "Zoe@Example.ORG")
    bodies = [{"email": spellings[number % 2], "rootRole": 3} for number in range(CROWD)]
    assert statuses(crowd(admin, "/user-admin", bodies)) == {201: 1, 409: CROWD - 1}
    users = admin.ok("GET", "/user-admin")["users"]
    assert len([user for user in users if user.get("email")]) == 1


def test_a_token_is_revoked_once(admin):
    made = admin.ok("POST", "/user/tokens", {"description": "deploy"})
    path = f"/user/tokens/{made['id']}"
    answers = at_once(lambda: admin.delete(path) for _ in range(16))
    assert statuses(answers) == {200: 1, 404: 15}
    assert admin.ok("GET", "/events?type=token-revoked")["total"] == 1


def test_a_token_is_rotated_once(admin, people):
    path = f"/service-account/{people.service_account('robot')}/token"
    made = admin.ok("POST", path, {"description": "deploy"})
    answers = crowd(admin, f"{path}/{made['id']}/rotate", [{"overlapHours": 0}] * 16)
    assert statuses(answers) == {201: 1, 404: 15}
    assert admin.ok("GET", "/events?type=token-rotated")["total"] == 1


def test_no_one_writes_into_a_project_that_they_were_removed_from(admin, people):
    for number in range(6):
        project = f"shop{number}"
        admin.ok("POST", "/projects", {"id": project, "name": "Shop"})
        access = {"members": admin.ok("GET", f"/projects/{project}/access")["members"]}
        access["members"] = [{"id": m["id"], "roleId": m["roleId"]} for m in access["members"]]
        member = people.member(f"kim{number}", project)
        path = f"/projects/{project}/features"

        leave = partial(admin.put, f"/projects/{project}/access", access)
        bodies = [{"name": f"f{number}-{turn}"} for turn in range(8)]
        left, *answers = at_once([leave, *(partial(member.post, path, body) for body in bodies)])
        assert left.status_code == 200, left.text
        assert set(statuses(answers)) <= {201, 403}
        made = {answer.json["name"] for answer in answers if answer.status_code == 201}
        assert {row["name"] for row in admin.ok("GET", path)["features"]} == made
        assert member.post(path, {"name": "late"}).status_code == 403


def test_members_that_are_added_at_once_are_all_members(admin, people):
    ids = [people.person(f"p{number}") for number in range(CROWD)]
    path = "/projects/default/access"
    answers = crowd(admin, path, [{"id": id, "roleId": 5} for id in ids])
    assert statuses(answers) == {200: CROWD}
    assert [member["id"] for member in admin.ok("GET", path)["members"]] == ids
    assert admin.ok("GET", "/events?type=project-access-updated")["total"] == CROWD
    assert statuses(at_once(partial(admin.delete, f"{path}/{id}") for id in ids)) == {200: CROWD}
    assert admin.ok("GET", path)["members"] == []


def test_replacing_the_members_undoes_no_addition_that_was_not_seen(admin, people):
    """A script that reads the members, adds one, and sends them all back with the ETag."""
    ids = [people.person(f"p{number}") for number in range(CROWD)]
    path = "/projects/default/access"

    def add(id):
        read = admin.get(path)
        members = [*read.json["members"], {"id": id, "roleId": 5}]
        etag = {"If-Match": read.headers["ETag"]}
        return admin.put(path, {"members": members}, headers=etag)

    answers = at_once(partial(add, id) for id in ids)
    assert set(statuses(answers)) <= {200, 412}
    added = {id for id, answer in zip(ids, answers, strict=True) if answer.status_code == 200}
    assert {member["id"] for member in admin.ok("GET", path)["members"]} == added


def test_a_second_step_that_is_begun_several_times_at_once_is_begun_once(app, people):
    people.person("ada")
    browsers = [Browser(app).sign_in("ada") for _ in range(8)]
    forms = [{"csrf_token": browser.csrf_token()} for browser in browsers]
    begun = at_once(
        partial(browser.client.post, "/account/second-step", data=form)
        for browser, form in zip(browsers, forms, strict=True)
    )
    assert statuses(begun) == {303: 8}


def test_after_all_the_races_the_log_has_each_change_once_and_no_gap(app, admin):
    made = crowd(admin, FEATURES, [{"name": f"f{number % 40}"} for number in range(80)])
    tagged = at_once(
        add_tags(admin, f"f{number % 40}", ["a", f"b{number % 3}"]) for number in range(40)
    )
    assert statuses(made) == {201: 40, 409: 40}
    assert statuses(tagged) == {200: 40}
    assert admin.ok("GET", "/events?type=feature-created")["total"] == 40
    assert admin.ok("GET", "/events?type=feature-tags-changed")["total"] == 40
    with app.app_context():
        verdict = verify(Evidence())
    assert (verdict.problems, verdict.count) == ([], verdict.last_id)


def test_a_change_that_can_not_be_recorded_is_not_made(app, admin):
    make_features(admin, "f")
    before = admin.ok("GET", FEATURES), admin.ok("GET", "/events")
    with nothing_can_be_recorded(app):
        answers = [
            admin.post(FEATURES, {"name": "g"}),
            admin.post("/projects", {"id": "shop", "name": "Shop"}),
            add_tags(admin, "f", ["a"])(),
            admin.put("/projects/default", {"name": "Other"}),
            admin.post("/service-account", {"name": "CI", "rootRole": 3}),
        ]
    assert statuses(answers) == {500: 5}
    assert (admin.ok("GET", FEATURES), admin.ok("GET", "/events")) == before
    assert admin.ok("GET", "/projects")["total"] == 1
    assert admin.ok("GET", "/projects/default")["name"] != "Other"
    assert admin.ok("GET", "/service-account")["total"] == 0
