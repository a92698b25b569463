"""Environments: created, put in order, deprecated."""

import pytest

from tests.support.clients import error_of, problems_of

PATH = "/environments"
STAGING = {"name": "staging", "type": "preproduction"}


def rows(client):
    return client.ok("GET", PATH)["environments"]


def names(client):
    return [row["name"] for row in rows(client)]


def recorded(client, type):
    events = client.ok("GET", f"/events?type={type}")["events"]
    return [(event["preData"], event["data"]) for event in events]


def test_a_new_one_comes_last_and_is_recorded(admin):
    answer = admin.post(PATH, STAGING)
    made = STAGING | {"sortOrder": 3, "deprecated": False}
    shown = made | {"enabled": True, "protected": False}
    assert (answer.status_code, answer.json) == (201, shown)
    assert rows(admin)[-1] == shown
    assert recorded(admin, "environment-created") == [(None, made)]


def test_a_new_one_can_come_first(admin):
    admin.ok("POST", PATH, STAGING | {"sortOrder": 0})
    assert names(admin) == ["staging", "development", "production"]


@pytest.mark.parametrize("type", ["development", "test", "preproduction", "production"])
def test_each_type_is_accepted(admin, type):
    assert admin.ok("POST", PATH, STAGING | {"type": type})["type"] == type


def test_a_name_is_used_once(admin):
    answer = admin.post(PATH, {"name": "production", "type": "test"})
    assert error_of(answer) == (409, "NameExistsError")
    assert {row["name"]: row["type"] for row in rows(admin)}["production"] == "production"


def test_an_environment_that_is_not_valid_is_refused(admin, subtests):
    for bad in (
        {"name": "a b"},
        {"name": ""},
        {"name": ".."},
        {"name": "n" * 101},
        {"type": "x"},
        {"type": None},
        {"sortOrder": -1},
        {"sortOrder": 10_000},
        {"sortOrder": "1"},
        {"color": "red"},
    ):
        with subtests.test(bad=bad):
            answer = admin.post(PATH, STAGING | bad)
            assert list(problems_of(answer)) == [f"/{field}" for field in bad]
            assert len(rows(admin)) == 2


@pytest.mark.parametrize("change", [{"type": "test"}, {"sortOrder": 7}, {"deprecated": True}])
def test_only_fields_that_are_sent_change(admin, change):
    before = rows(admin)[-1]
    answer = admin.put(f"{PATH}/production", change)
    assert (answer.status_code, answer.data) == (200, b"")
    after = before | change | {"enabled": not change.get("deprecated")}
    assert rows(admin)[-1] == after
    shown = {"enabled", "protected"}
    [(was, became)] = recorded(admin, "environment-updated")
    assert (was, became) == ({k: before[k] for k in was}, {k: after[k] for k in became})
    assert was.keys() == became.keys() == before.keys() - shown


def test_what_was_read_can_be_sent_back_and_is_not_recorded(admin):
    admin.ok("PUT", f"{PATH}/production", rows(admin)[-1])
    assert recorded(admin, "environment-updated") == []


def test_a_new_order_is_the_order_of_the_list(admin):
    admin.ok("PUT", f"{PATH}/production", {"sortOrder": 0})
    assert names(admin) == ["production", "development"]


def test_new_projects_use_deprecated_ones_only_by_name(admin):
    before = admin.ok("GET", "/projects/default")["environments"]
    admin.ok("PUT", f"{PATH}/production", {"deprecated": True})
    made = admin.ok("POST", "/projects", {"id": "one", "name": "One"})
    assert made["environments"] == ["development"]
    body = {"id": "two", "name": "Two", "environments": ["production"]}
    assert admin.ok("POST", "/projects", body)["environments"] == ["production"]
    assert admin.ok("GET", "/projects/default")["environments"] == before


def test_new_projects_use_one_that_is_no_longer_deprecated(admin):
    for deprecated in (True, False):
        admin.ok("PUT", f"{PATH}/production", {"deprecated": deprecated})
    made = admin.ok("POST", "/projects", {"id": "one", "name": "One"})
    assert made["environments"] == ["development", "production"]


@pytest.mark.parametrize("bad", [{"deprecated": "true"}, {"sortOrder": 1.5}, {"type": "x"}])
def test_a_change_that_is_not_valid_is_refused(admin, bad):
    before = rows(admin)
    answer = admin.put(f"{PATH}/production", bad)
    assert list(problems_of(answer)) == [f"/{field}" for field in bad]
    assert rows(admin) == before


def test_the_position_that_was_read_can_be_sent_back(admin):
    admin.ok("PUT", f"{PATH}/production", {"sortOrder": 9_999})
    made = admin.ok("POST", PATH, STAGING)
    admin.ok("PUT", f"{PATH}/staging", made)
    assert names(admin)[0] == "development"


def test_an_unknown_one_is_not_found(admin):
    assert error_of(admin.put(f"{PATH}/nope", {"sortOrder": 1})) == (404, "NotFoundError")


def test_only_admins_change_them(editor):
    for answer in (editor.post(PATH, STAGING), editor.put(f"{PATH}/production", {"sortOrder": 5})):
        assert error_of(answer) == (403, "NoAccessError")
