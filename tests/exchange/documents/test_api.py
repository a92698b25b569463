"""A document over HTTP: read it, plan what it changes, and apply exactly that or nothing."""

import pytest

from app.exchange.documents.documents import Kind
from app.exchange.documents.schemas_api import ConfigurationDocument
from tests.support.clients import error_of, problems_of
from tests.support.people import People

HERE = "/configuration"
ON = {"enabled": True, "strategies": [{"name": "default"}]}
SHOP = {"id": "shop", "name": "Shop", "environments": ["development", "production"]}
BASKET = {"name": "basket", "project": "shop", "environments": {"production": ON}}


def document(**things):
    return {"version": 1, **things}


def feature_names(client):
    return [each["name"] for each in client.ok("GET", "/features")["features"]]


def test_a_document_has_all_kinds_of_things_but_sdk_tokens():
    known = {field.attribute for field in ConfigurationDocument().fields.values()}
    assert known - {None} == {*Kind} - {Kind.SDK_TOKENS}


def test_a_plan_changes_nothing_and_its_digest_applies_exactly_that(admin):
    wanted = document(projects=[SHOP], features=[BASKET])
    plan = admin.ok("POST", f"{HERE}/plan", wanted)
    assert plan["lines"] == ["+ project shop", "+ feature basket in shop"]
    assert plan["summary"][0] == "2 to create, 0 to change. 0 are the same."
    assert feature_names(admin) == []
    done = admin.ok("POST", f"{HERE}/apply?plan={plan['digest']}", wanted)
    assert {key: done[key] for key in ("digest", "counts", "entries")} == {
        key: plan[key] for key in ("digest", "counts", "entries")
    }
    assert done["changeRequests"] == []
    events = admin.ok("GET", f"/events?batch={done['batchId']}")["events"]
    assert {event["type"] for event in events} >= {"project-created", "feature-created"}
    assert feature_names(admin) == ["basket"]


def test_a_plan_names_each_value_that_differs(admin):
    admin.ok("POST", f"{HERE}/apply", document(projects=[SHOP], features=[BASKET]))
    changed = BASKET | {"stale": True, "environments": {}}
    [entry] = admin.ok("POST", f"{HERE}/plan", document(features=[changed]))["entries"]
    assert (entry["kind"], entry["status"]) == ("features", "different")
    assert {"path": "stale", "here": False, "there": True} in entry["differences"]


def test_what_is_the_same_already_is_not_applied(admin):
    admin.ok("POST", f"{HERE}/apply", document(projects=[SHOP]))
    last = admin.ok("GET", "/events")["events"][0]["id"]
    done = admin.ok("POST", f"{HERE}/apply", document(projects=[SHOP]))
    assert (done["entries"], done["batchId"]) == ([], None)
    assert admin.ok("GET", "/events")["events"][0]["id"] == last


def test_another_plan_than_the_one_that_was_read_is_not_applied(admin):
    wanted = document(projects=[SHOP], features=[BASKET])
    digest = admin.ok("POST", f"{HERE}/plan", wanted)["digest"]
    admin.ok("POST", "/projects", {"id": "shop", "name": "Another"})
    refused = admin.post(f"{HERE}/apply?plan={digest}", wanted)
    assert error_of(refused) == (409, "ConflictError")
    assert feature_names(admin) == []


@pytest.mark.parametrize("way", ["plan", "apply"])
def test_every_mistake_in_a_document_is_named(admin, way):
    features = [{"name": "a"}, {"name": "b", "project": "default", "typ": "x"}]
    wanted = document(features=features, colours=[], users={})
    refused = admin.post(f"{HERE}/{way}", wanted)
    assert problems_of(refused).keys() == {"/colours", "/users"}
    refused = admin.post(f"{HERE}/{way}", document(features=features))
    assert problems_of(refused) == {
        "/features/0/project": "(a) This field is required.",
        "/features/1/typ": "(b) Unknown field.",
    }


def test_every_thing_that_can_not_be_done_is_named_and_then_nothing_is(admin):
    wrong = [BASKET | {"name": name, "project": "nowhere"} for name in ("a", "b")]
    wanted = document(projects=[SHOP], features=[BASKET, *wrong])
    entries = admin.ok("POST", f"{HERE}/plan", wanted)["entries"]
    assert [entry["name"] for entry in entries if entry["faults"]] == ["a", "b"]
    refused = admin.post(f"{HERE}/apply", wanted)
    assert error_of(refused) == (400, "ValidationError")
    assert problems_of(refused).keys() == {
        f"/features/{place}/{path}"
        for place in (1, 2)
        for path in ("project", "environments/production")
    }
    assert feature_names(admin) == []


def test_what_is_refused_in_the_middle_undoes_what_came_before_it(admin):
    wanted = document(
        environments=[{"name": "early", "type": "test"}],
        users=[{"username": "admin", "rootRole": "Viewer"}],
    )
    refused = admin.post(f"{HERE}/apply", wanted)
    assert error_of(refused) == (409, "ConflictError")
    assert "early" not in str(admin.ok("GET", "/environments"))


def test_guarded_environments_get_one_change_request_of_the_caller(admin):
    rules = SHOP | {"approvals": {"production": 1}}
    wanted = document(projects=[rules], features=[BASKET])
    admin.ok("POST", f"{HERE}/apply", document(projects=[rules]))
    [entry] = admin.ok("POST", f"{HERE}/plan", wanted)["entries"]
    assert entry["needsApprovalIn"] == ["production"]
    [number] = admin.ok("POST", f"{HERE}/apply", wanted)["changeRequests"]
    state = admin.ok("GET", "/projects/shop/features/basket")["environments"]
    assert not any(each["enabled"] for each in state)
    path = f"/projects/shop/change-requests/{number}"
    assert admin.ok("GET", path)["createdBy"]["username"] == "admin"
    assert admin.put(f"{path}/state", {"state": "Approved"}).status_code == 403
    # Until it is approved, a pipeline that applies the same file again opens no other.
    assert admin.ok("POST", f"{HERE}/apply", wanted)["changeRequests"] == [number]
    more = BASKET | {
        "environments": {"production": ON | {"strategies": [{"name": "flexibleRollout"}]}}
    }
    [other] = admin.ok("POST", f"{HERE}/apply", document(features=[more]))["changeRequests"]
    assert other != number


def test_a_reason_is_in_the_event_log_and_does_not_bypass_approvals(admin):
    rules = SHOP | {"approvals": {"production": 1}}
    admin.ok("POST", f"{HERE}/apply", document(projects=[rules]))
    why = {"X-Reason": "Release 7"}
    done = admin.ok("POST", f"{HERE}/apply", document(features=[BASKET]), headers=why)
    assert len(done["changeRequests"]) == 1
    events = admin.ok("GET", f"/events?batch={done['batchId']}")["events"]
    assert {event["reason"] for event in events} == {"Release 7"}


def test_a_new_project_has_the_members_that_it_names_and_not_the_caller(admin, people: People):
    people.person("ada")
    named = SHOP | {"id": "named", "members": {"ada": "Owner"}}
    admin.ok("POST", f"{HERE}/apply", document(projects=[SHOP, named]))
    for id, members in (("shop", []), ("named", ["ada"])):
        found = admin.ok("GET", f"/projects/{id}/access")["members"]
        assert [member["username"] for member in found] == members


@pytest.mark.parametrize("role", ["Editor", "Viewer", "Owner", "Member"])
def test_only_admins_read_plan_and_apply_documents(admin, people: People, role):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    client = people.client("kim", role="Viewer" if role in {"Owner", "Member"} else role)
    if role in {"Owner", "Member"}:
        people.join(people.named("kim"), "shop", role)
    stronger = document(users=[{"username": "kim", "rootRole": "Admin"}])
    own = document(features=[BASKET])
    for answer in (
        client.get(f"{HERE}?project=shop"),
        *(
            client.post(f"{HERE}/{way}", sent)
            for way in ("plan", "apply")
            for sent in (own, stronger)
        ),
    ):
        assert error_of(answer) == (403, "NoAccessError")
        assert "ADMIN" in answer.json["message"]
    assert client.ok("GET", "/user")["permissions"] != [{"permission": "ADMIN"}]
    assert feature_names(admin) == []


def test_the_document_is_read_as_json_or_yaml(admin):
    admin.ok("POST", f"{HERE}/apply", document(projects=[SHOP], features=[BASKET]))
    found = admin.ok("GET", f"{HERE}?project=shop")
    assert [each["name"] for each in found["features"]] == ["basket"]
    text = admin.get(HERE, headers={"Accept": "application/yaml"})
    assert text.content_type == "application/yaml; charset=utf-8"
    assert text.text.startswith("version: 1\n")
    assert "- name: basket\n  project: shop\n" in text.text
    assert error_of(admin.get(f"{HERE}?project=nowhere")) == (404, "NotFoundError")
    assert error_of(admin.get(f"{HERE}?projct=shop")) == (400, "ValidationError")


def test_links_come_and_go_with_a_file_and_stay_the_same_as_long_as_they_do_there(admin):
    def links(**changes):
        wanted = BASKET | {"links": [{"url": "https://wiki.example"}]} | changes
        admin.ok("POST", f"{HERE}/apply", document(projects=[SHOP], features=[wanted]))
        return admin.ok("GET", "/projects/shop/features/basket")["links"]

    [link] = links()
    assert (link["url"], link["title"]) == ("https://wiki.example", None)
    assert links(description="Changed") == [link]
    two = [{"url": "https://wiki.example", "title": "Wiki"}, {"url": "https://b.example"}]
    assert [each["title"] for each in links(links=two)] == ["Wiki", None]
    assert links(links=[]) == []
    wrong = BASKET | {"links": [{"url": "javascript:alert(1)"}]}
    refused = admin.post(f"{HERE}/plan", json=document(features=[wrong]))
    assert [*problems_of(refused)] == ["/features/0/links/0/url"]
