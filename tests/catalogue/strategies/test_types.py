"""Types of strategy that people create for applications that implement them."""

import pytest

from tests.support.clients import error_of, problems_of

PATH = "/strategies"
PLACE = "/projects/default/features/cart/environments/production/strategies"
REGIONS = {"name": "regions", "type": "list", "description": "By name", "required": True}
LIMIT = {"name": "limit", "type": "percentage", "description": "", "required": False}


@pytest.fixture
def by_region(editor):
    return editor.ok("POST", PATH, {"name": "by-region", "parameters": [REGIONS, LIMIT]})


@pytest.fixture
def cart(admin):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})


def test_the_list_has_the_types_of_all_sdks_first(viewer, by_region):
    found = viewer.ok("GET", PATH)["strategies"]
    assert [row["name"] for row in found[:2]] == ["flexibleRollout", "default"]
    assert not any(row["editable"] for row in found[:-1])
    assert (
        found[-1]
        == by_region
        == {
            "name": "by-region",
            "displayName": None,
            "description": None,
            "parameters": [REGIONS, LIMIT],
            "deprecated": False,
            "editable": True,
        }
    )


def test_a_type_that_makes_no_sense_is_refused(editor, subtests):
    for body, path in (
        ({}, "/name"),
        ({"name": "a b"}, "/name"),
        ({"name": "a", "parameters": [{"type": "list"}]}, "/parameters/0/name"),
        ({"name": "a", "parameters": [REGIONS | {"type": "map"}]}, "/parameters/0/type"),
        ({"name": "a", "parameters": [REGIONS, REGIONS]}, "/parameters/1/name"),
        ({"name": "a", "parameters": [REGIONS] * 51}, "/parameters"),
    ):
        with subtests.test(body=body, path=path):
            assert list(problems_of(editor.post(PATH, body))) == [path]


@pytest.mark.parametrize("name", ["by-region", "flexibleRollout"])
def test_a_name_is_used_once(editor, by_region, name):
    assert error_of(editor.post(PATH, {"name": name})) == (409, "NameExistsError")


def test_its_parameters_are_checked_in_strategies(admin, by_region, cart):
    def problems(parameters):
        body = {"name": "by-region", "parameters": parameters}
        return problems_of(admin.post(PLACE, body))

    assert list(problems({})) == ["/parameters/regions"]
    assert list(problems({"regions": "north", "limit": "101"})) == ["/parameters/limit"]
    assert problems({"regions": "north", "age": "5"}) == {
        "/parameters/age": "by-region has no parameter with this name."
    }
    made = admin.ok("POST", PLACE, {"name": "by-region", "parameters": {"regions": "north"}})
    assert made["parameters"] == {"regions": "north"}
    assert made["summary"] == "On for the people that by-region chooses"


def test_a_type_in_use_stays_with_its_parameters(admin, by_region, cart):
    admin.ok("POST", PLACE, {"name": "by-region", "parameters": {"regions": "north"}})
    deleted = admin.delete(f"{PATH}/by-region")
    assert error_of(deleted) == (409, "ConflictError")
    assert "1 strategy has the type by-region." in deleted.json["message"]
    assert error_of(admin.put(f"{PATH}/by-region", {"parameters": []}))[0] == 409
    assert admin.put(f"{PATH}/by-region", {"description": "Shops"}).status_code == 200


def test_a_type_is_deprecated_reactivated_and_deleted(admin, by_region):
    for act, deprecated in (("deprecate", True), ("reactivate", False)):
        for _ in range(2):
            admin.ok("POST", f"{PATH}/by-region/{act}")
            assert admin.ok("GET", f"{PATH}/by-region")["deprecated"] is deprecated
    admin.ok("DELETE", f"{PATH}/by-region")
    assert error_of(admin.get(f"{PATH}/by-region"))[0] == 404
    types = [event["type"] for event in admin.ok("GET", "/events?limit=4")["events"]]
    assert types == [
        "strategy-type-deleted",
        "strategy-type-updated",
        "strategy-type-updated",
        "strategy-type-created",
    ]


def test_the_types_of_all_sdks_cannot_be_changed(admin):
    for refused in (
        admin.put(f"{PATH}/default", {"description": "Mine"}),
        admin.delete(f"{PATH}/flexibleRollout"),
        admin.post(f"{PATH}/userWithId/deprecate"),
    ):
        assert error_of(refused) == (404, "NotFoundError")
        assert "Every SDK knows it" in refused.json["message"]
    assert admin.ok("GET", f"{PATH}/default")["editable"] is False
