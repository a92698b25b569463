"""Context fields: built in ones, legal values, and what a name can be used for."""

import pytest

from tests.support.clients import error_of, problems_of

PATH = "/context"
PLAN = {
    "name": "plan",
    "description": "What they pay for",
    "stickiness": False,
    "sortOrder": 7,
    "legalValues": [
        {"value": "free", "description": None},
        {"value": "gold", "description": "Monthly"},
    ],
}


@pytest.fixture
def plan(editor):
    body = {key: value for key, value in PLAN.items() if key != "sortOrder"}
    return editor.ok("POST", PATH, body)


def fields(client):
    return {row["name"]: row for row in client.ok("GET", PATH)}


def recorded(client, type):
    events = client.ok("GET", f"/events?type={type}")["events"]
    return [(event["preData"], event["data"]) for event in events]


def test_a_new_instance_has_the_fields_that_every_sdk_sends(viewer):
    found = viewer.ok("GET", PATH)
    assert [(row["name"], row["stickiness"]) for row in found] == [
        ("userId", True),
        ("sessionId", True),
        ("appName", False),
        ("environment", False),
        ("remoteAddress", False),
        ("currentTime", False),
    ]
    assert list(found[0]) == [
        "name",
        "description",
        "stickiness",
        "sortOrder",
        "legalValues",
        "createdAt",
    ]


def test_a_new_field_comes_last_and_is_recorded(editor, plan):
    created_at = plan["createdAt"]
    free, gold = PLAN["legalValues"]
    shown = {"legalValues": [free | {"description": ""}, gold], "createdAt": created_at}
    assert plan == PLAN | shown
    assert list(fields(editor))[-1] == "plan"
    assert editor.ok("GET", f"{PATH}/plan") == plan
    assert recorded(editor, "context-field-created") == [(None, PLAN)]


def test_a_name_is_enough_and_is_used_once(editor):
    made = editor.ok("POST", PATH, {"name": "country"})
    assert (made["description"], made["stickiness"], made["legalValues"]) == (None, False, [])
    assert error_of(editor.post(PATH, {"name": "country"})) == (409, "NameExistsError")


def test_a_name_can_be_tried_before(editor, plan):
    assert editor.post(f"{PATH}?dryRun=true", {"name": "country"}).status_code == 201
    assert error_of(editor.post(f"{PATH}?dryRun=true", {"name": "plan"}))[0] == 409
    assert "country" not in fields(editor)


def test_a_field_that_is_not_valid_is_refused(editor, subtests):
    for bad, path in (
        ({"name": 'a"b'}, "/name"),
        ({"name": ""}, "/name"),
        ({"stickiness": "yes"}, "/stickiness"),
        ({"sortOrder": -1}, "/sortOrder"),
        ({"legalValues": [{"value": ""}]}, "/legalValues/0/value"),
        ({"legalValues": [{"value": "x" * 101}]}, "/legalValues/0/value"),
        ({"legalValues": [{"value": "a"}, {"value": "a"}]}, "/legalValues/1/value"),
        ({"legalValues": [{"value": str(n)} for n in range(251)]}, "/legalValues"),
        ({"legalValues": ["a"]}, "/legalValues/0"),
        ({"usedInFeatures": 3}, "/usedInFeatures"),
    ):
        with subtests.test(bad=bad, path=path):
            answer = editor.post(PATH, PLAN | bad)
            assert list(problems_of(answer)) == [path]
            assert "plan" not in fields(editor)


def test_only_what_is_sent_changes(editor, plan):
    answer = editor.put(f"{PATH}/plan", {"stickiness": True})
    assert (answer.status_code, answer.data) == (200, b"")
    assert fields(editor)["plan"] == plan | {"stickiness": True}
    assert recorded(editor, "context-field-updated") == [(PLAN, PLAN | {"stickiness": True})]


def test_what_was_read_can_be_sent_back_and_is_not_recorded(editor, plan):
    editor.ok("PUT", f"{PATH}/plan", plan)
    assert recorded(editor, "context-field-updated") == []


def test_legal_values_are_added_described_and_removed_one_by_one(editor, plan):
    path = f"{PATH}/plan/legal-values"
    editor.ok("POST", path, {"value": "a/b"})
    editor.ok("POST", path, {"value": "free", "description": "Pays nothing"})
    values = [("free", "Pays nothing"), ("gold", "Monthly"), ("a/b", "")]
    found = fields(editor)["plan"]["legalValues"]
    assert [(legal["value"], legal["description"]) for legal in found] == values
    editor.ok("DELETE", f"{path}/a/b")
    assert len(fields(editor)["plan"]["legalValues"]) == 2
    assert error_of(editor.delete(f"{path}/a/b")) == (404, "NotFoundError")
    assert len(recorded(editor, "context-field-updated")) == 3


def test_there_are_at_most_250_legal_values(editor):
    many = [{"value": str(n)} for n in range(250)]
    editor.ok("POST", PATH, {"name": "shop", "legalValues": many})
    assert list(problems_of(editor.post(f"{PATH}/shop/legal-values", {"value": "x"}))) == ["/value"]
    editor.ok("POST", f"{PATH}/shop/legal-values", {"value": "7", "description": "Seven"})


def test_a_field_is_deleted_and_its_name_is_free_again(editor, plan):
    answer = editor.delete(f"{PATH}/plan")
    assert (answer.status_code, answer.data) == (200, b"")
    assert recorded(editor, "context-field-deleted") == [(PLAN, None)]
    assert error_of(editor.get(f"{PATH}/plan")) == (404, "NotFoundError")
    editor.ok("POST", PATH, {"name": "plan"})


def test_a_built_in_field_is_changed_but_not_deleted(editor):
    editor.ok("PUT", f"{PATH}/appName", {"legalValues": [{"value": "web"}]})
    refused = editor.delete(f"{PATH}/appName")
    assert error_of(refused) == (409, "ConflictError")
    assert refused.json["message"].endswith("SDKs send it by themselves.")
    assert fields(editor)["appName"]["legalValues"] == [{"value": "web", "description": ""}]


PLACE = "/projects/default/features/cart/environments/production/strategies"


@pytest.fixture
def used(admin, plan):
    """A strategy that compares the field with one of its values."""
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    constraint = {"contextName": "plan", "operator": "IN", "values": ["gold"]}
    body = {"name": "default", "constraints": [constraint]}
    return admin.ok("POST", PLACE, body)["id"]


def test_a_field_that_strategies_use_is_not_deleted(admin, editor, used):
    refused = editor.delete(f"{PATH}/plan")
    assert error_of(refused) == (409, "ConflictError")
    assert "1 strategy of 1 feature uses it." in refused.json["message"]
    admin.ok("DELETE", f"{PLACE}/{used}")
    editor.ok("DELETE", f"{PATH}/plan")


def test_a_legal_value_that_strategies_use_is_not_taken_away(editor, used):
    for answer in (
        editor.delete(f"{PATH}/plan/legal-values/gold"),
        editor.put(f"{PATH}/plan", {"legalValues": [{"value": "free"}]}),
    ):
        assert error_of(answer) == (409, "ConflictError")
        assert "Strategies or segments use these values of plan: gold." in answer.json["message"]
    editor.ok("DELETE", f"{PATH}/plan/legal-values/free")
    editor.ok("PUT", f"{PATH}/plan", {"legalValues": []})
    assert editor.put(f"{PATH}/plan", {"legalValues": [{"value": "plus"}]}).status_code == 409


def test_stickiness_that_strategies_go_by_is_not_taken_away(admin, editor, plan):
    editor.ok("PUT", f"{PATH}/plan", {"stickiness": True})
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    body = {"name": "flexibleRollout", "parameters": {"stickiness": "plan"}}
    admin.ok("POST", PLACE, body)
    refused = editor.put(f"{PATH}/plan", {"stickiness": False})
    assert error_of(refused) == (409, "ConflictError")
    assert "1 strategy goes by plan for stickiness." in refused.json["message"]
    assert editor.delete(f"{PATH}/plan").status_code == 409


def test_viewers_read_only(viewer, plan):
    assert "plan" in fields(viewer)
    for answer in (
        viewer.post(PATH, {"name": "new"}),
        viewer.put(f"{PATH}/plan", {"stickiness": True}),
        viewer.delete(f"{PATH}/plan"),
        viewer.post(f"{PATH}/plan/legal-values", {"value": "x"}),
        viewer.delete(f"{PATH}/plan/legal-values/free"),
    ):
        assert error_of(answer) == (403, "NoAccessError")
