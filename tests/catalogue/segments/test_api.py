"""Segments: groups of people that many strategies use."""

import pytest

from tests.support.clients import error_of, problems_of

PATH = "/segments"
FEATURES = "/projects/default/features"
NORDIC = {"contextName": "userId", "operator": "IN", "values": ["1", "2"]}
STORED = NORDIC | {"inverted": False, "caseInsensitive": False}
UNUSED = {"usedInStrategies": 0, "usedInFeatures": 0, "usedInProjects": 0}


@pytest.fixture
def nordic(editor):
    return editor.ok("POST", PATH, {"name": "Nordic", "constraints": [NORDIC]})


@pytest.fixture
def cart(admin):
    admin.ok("POST", FEATURES, {"name": "cart"})
    return f"{FEATURES}/cart/environments/production"


def use(admin, place, *ids):
    return admin.ok("POST", f"{place}/strategies", {"name": "flexibleRollout", "segments": [*ids]})


def guard(admin, *environments):
    rules = [{"name": name, "requiredApprovals": 1} for name in environments]
    body = {"environments": ["development", "production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/default/environments", body)


def recorded(client, type):
    events = client.ok("GET", f"/events?type={type}")["events"]
    return [(event["preData"], event["data"]) for event in events]


def test_a_segment_is_created_read_and_listed(editor, nordic):
    created_at, id = nordic.pop("createdAt"), nordic["id"]
    assert nordic == UNUSED | {
        "id": id,
        "name": "Nordic",
        "description": None,
        "project": None,
        "constraints": [STORED],
    }
    whole = nordic | {"createdAt": created_at}
    assert editor.ok("GET", f"{PATH}/{id}") == whole
    assert editor.ok("GET", PATH) == {"segments": [whole], "total": 1}
    event = {key: nordic[key] for key in ("id", "name", "description", "project", "constraints")}
    assert recorded(editor, "segment-created") == [(None, event)]


def test_what_sdks_would_misread_is_refused(editor, subtests):
    for body, path in (
        ({"constraints": []}, "/name"),
        ({"name": "x"}, "/constraints"),
        ({"name": "x" * 101, "constraints": []}, "/name"),
        ({"name": "x", "constraints": [NORDIC | {"values": []}]}, "/constraints/0/values"),
        (
            {"name": "x", "constraints": [NORDIC | {"contextName": "shoe"}]},
            "/constraints/0/contextName",
        ),
        ({"name": "x", "constraints": [NORDIC] * 31}, "/constraints"),
    ):
        with subtests.test(body=body, path=path):
            assert list(problems_of(editor.post(PATH, body))) == [path]


def test_a_name_is_used_once(editor, nordic):
    taken = {"name": "Nordic", "constraints": []}
    assert error_of(editor.post(PATH, taken)) == (409, "NameExistsError")
    assert error_of(editor.post(f"{PATH}/validate", {"name": "Nordic"}))[0] == 409
    assert editor.post(f"{PATH}/validate", {"name": "Other"}).status_code == 204
    other = editor.ok("POST", PATH, {"name": "Other", "constraints": []})
    assert error_of(editor.put(f"{PATH}/{other['id']}", {"name": "Nordic"}))[0] == 409


def test_the_list_is_filtered_by_name_field_value_and_project(admin, nordic):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    for name, project in (("Staff", None), ("Shoppers", "shop")):
        constraint = {"contextName": "appName", "operator": "STR_ENDS_WITH", "values": [name]}
        body = {"name": name, "project": project, "constraints": [constraint]}
        admin.ok("POST", PATH, body)

    def names(query):
        return [each["name"] for each in admin.ok("GET", f"{PATH}?{query}")["segments"]]

    assert names("text=appName") == ["Shoppers", "Staff"]
    assert names("text=inverted") == []
    assert names("text=nord") == ["Nordic"]
    assert names("project=default") == ["Nordic", "Staff"]
    assert names("project=shop&sort=-name") == ["Staff", "Shoppers", "Nordic"]


def test_a_strategy_says_its_segments_in_a_sentence(admin, nordic, cart):
    made = use(admin, cart, nordic["id"])
    assert made["segments"] == [nordic["id"]]
    assert made["summary"] == "On for everyone in segment Nordic"
    [event] = admin.ok("GET", "/events?type=feature-strategy-added")["events"]
    assert event["data"]["segments"] == [nordic["id"]]
    changed = admin.ok("PUT", f"{cart}/strategies/{made['id']}", {"segments": []})
    assert (changed["segments"], changed["summary"]) == ([], "On for everyone")


def test_a_segment_that_is_missing_empty_or_of_another_project_is_refused(admin, cart):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    empty = admin.ok("POST", PATH, {"name": "Empty", "constraints": []})["id"]
    body = {"name": "Shoppers", "project": "shop", "constraints": [NORDIC]}
    foreign = admin.ok("POST", PATH, body)["id"]
    found = problems_of(
        admin.post(
            f"{cart}/strategies",
            {"name": "flexibleRollout", "segments": [empty, foreign, 999_999]},
        )
    )
    assert found == {
        "/segments/0": "Segment Empty has no constraints, so everyone would be in it.",
        "/segments/1": f"Project default has no segment with the id {foreign}.",
        "/segments/2": "Project default has no segment with the id 999999.",
    }


def test_what_uses_a_segment_is_counted_and_listed(admin, nordic, cart):
    made = use(admin, cart, nordic["id"])
    use(admin, cart.replace("production", "development"), nordic["id"])
    segment = admin.ok("GET", f"{PATH}/{nordic['id']}")
    used = {name: segment[name] for name in UNUSED}
    assert used == {"usedInStrategies": 2, "usedInFeatures": 1, "usedInProjects": 1}
    rows = admin.ok("GET", f"{PATH}/{nordic['id']}/strategies")["strategies"]
    assert [row["environment"] for row in rows] == ["development", "production"]
    assert rows[1] == {
        "id": made["id"],
        "projectId": "default",
        "featureName": "cart",
        "environment": "production",
        "strategyName": "flexibleRollout",
    }


def test_a_segment_in_use_is_neither_deleted_nor_emptied(admin, nordic, cart):
    use(admin, cart, nordic["id"])
    path = f"{PATH}/{nordic['id']}"
    deleted = admin.delete(path)
    assert error_of(deleted) == (409, "ConflictError")
    assert "1 strategy uses it: cart." in deleted.json["message"]
    emptied = admin.put(path, {"constraints": []})
    assert error_of(emptied) == (409, "ConflictError")
    assert "everyone would be in it" in emptied.json["message"]


def test_an_unused_segment_is_deleted(admin, nordic):
    path = f"{PATH}/{nordic['id']}"
    assert admin.delete(path).status_code == 204
    assert error_of(admin.get(path)) == (404, "NotFoundError")
    assert [before["name"] for before, _ in recorded(admin, "segment-deleted")] == ["Nordic"]


def test_an_update_keeps_what_is_left_out_and_is_recorded_once(admin, nordic):
    path = f"{PATH}/{nordic['id']}"
    assert admin.put(path, {"description": "Where it snows"}).status_code == 204
    assert admin.put(path, admin.ok("GET", path)).status_code == 204
    assert admin.ok("GET", path) == nordic | {"description": "Where it snows"}
    [(before, after)] = recorded(admin, "segment-updated")
    assert (before["description"], after["description"]) == (None, "Where it snows")


def test_it_cannot_be_limited_to_a_project_while_others_use_it(admin, nordic, cart):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    use(admin, cart, nordic["id"])
    path = f"{PATH}/{nordic['id']}"
    refused = admin.put(path, {"project": "shop"})
    assert error_of(refused) == (409, "ConflictError")
    assert "in other projects" in refused.json["message"]
    assert admin.put(path, {"project": "default"}).status_code == 204


def test_a_change_that_reaches_a_guarded_environment_needs_approvals(admin, nordic, cart):
    use(admin, cart, nordic["id"])
    admin.ok("POST", f"{cart}/on")
    guard(admin, "production")
    path, body = f"{PATH}/{nordic['id']}", {"constraints": [NORDIC | {"values": ["3"]}]}
    refused = admin.put(path, body)
    assert error_of(refused) == (403, "NoAccessError")
    assert "1 approval in production" in refused.json["message"]
    assert admin.put(path, {"description": "Reaches no one"}).status_code == 204
    assert admin.put(path, body, headers={"X-Reason": "The shop is down"}).status_code == 204
    [(_, bypass)] = recorded(admin, "change-request-bypassed")
    assert bypass["environment"] == "production"


def test_an_archived_feature_does_not_guard_a_segment(admin, nordic, cart):
    use(admin, cart, nordic["id"])
    admin.ok("POST", "/projects/default/archive", {"features": ["cart"]})
    guard(admin, "production")
    body = {"constraints": [NORDIC | {"values": ["3"]}]}
    assert admin.put(f"{PATH}/{nordic['id']}", body).status_code == 204
    assert error_of(admin.delete(f"{PATH}/{nordic['id']}"))[0] == 409


def test_a_context_field_that_a_segment_uses_stays_with_its_values(admin):
    values = {"legalValues": [{"value": "free"}, {"value": "gold"}]}
    admin.ok("POST", "/context", {"name": "plan", **values})
    constraint = {"contextName": "plan", "operator": "IN", "values": ["gold"]}
    admin.ok("POST", PATH, {"name": "Paying", "constraints": [constraint]})
    refused = admin.delete("/context/plan")
    assert "1 segment uses it. Stop using it first." in refused.json["message"]
    refused = admin.put("/context/plan", {"legalValues": [{"value": "free"}]})
    assert error_of(refused) == (409, "ConflictError")
    assert "gold" in refused.json["message"]


def test_the_segments_of_a_strategy_are_chosen_together(admin, nordic, cart):
    made = use(admin, cart)
    body = {
        "projectId": "default",
        "environmentId": "production",
        "strategyId": made["id"],
        "segmentIds": [nordic["id"]],
    }
    assert admin.post(f"{PATH}/strategies", body).status_code == 201
    assert admin.ok("GET", f"{cart}/strategies/{made['id']}")["segments"] == [nordic["id"]]
    wrong = body | {"segmentIds": [999]}
    assert list(problems_of(admin.post(f"{PATH}/strategies", wrong))) == ["/segmentIds/0"]
    unknown = body | {"strategyId": "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b10"}
    assert error_of(admin.post(f"{PATH}/strategies", unknown))[0] == 404
