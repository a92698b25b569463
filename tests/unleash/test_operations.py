"""Scripts and clients made for Unleash 8.2 get the answers that they expect."""

import re

import pytest

from app.core.events.event_types import EventType
from app.portal.event_log.unleash import nearest_in_unleash
from tests.support.clients import ApiClient, error_of
from tests.unleash import facts
from tests.unleash.table import DOCUMENT, FEATURE, FEATURES, STRATEGIES, instead, written
from tests.unleash.walk import walk

FAULTS = {
    "GET /api/admin/user": "/user/isAPI: is unknown there",
    f"GET {STRATEGIES}": ": not an object",
    f"POST {FEATURES}": "answers 201",
    f"POST {FEATURE}/clone": "answers 201",
}


HERE = [operation for operation in facts.operations() if instead(operation) is None]
ELSEWHERE = [operation for operation in facts.operations() if instead(operation) is not None]


def test_every_operation_has_the_documented_statuses_and_exactly_its_fields(admin):
    faults = walk(admin).faults
    assert [str(operation) for operation in HERE if operation not in faults] == []
    assert {str(operation): fault for operation, fault in faults.items() if fault} == FAULTS


def test_what_is_not_here_says_what_to_use_instead(stranger, subtests):
    for operation in ELSEWHERE:
        with subtests.test(operation=str(operation)):
            path = re.sub(r"{\w+}", "1", operation.path)
            answer = stranger.request(operation.method, f"http://localhost{path}")
            assert error_of(answer) == (404, "NotFoundError")
            assert answer.json["message"] == instead(operation)


def test_every_field_of_a_request_is_taken(stranger, subtests):
    document = stranger.ok("GET", "/api/openapi.json")
    taken = {
        (method.upper(), re.sub(r"{\w+}", "{}", path)): _names(document, operation["requestBody"])
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }
    for operation in HERE:
        if operation.request and operation.path.startswith("/api/admin"):
            with subtests.test(operation=str(operation)):
                mine = taken[operation.method, re.sub(r"{\w+}", "{}", operation.path)]
                assert facts.field_names(operation.request) - mine <= {"…", "*"}


def _names(document, body):
    schema = body["content"]["application/json"]["schema"]
    while "properties" not in schema and ("$ref" in schema or "items" in schema):
        name = schema.get("$ref", "").rpartition("/")[2]
        schema = document["components"]["schemas"][name] if name else schema["items"]
    return set(schema.get("properties", ()))


@pytest.mark.parametrize("type", EventType)
def test_each_type_of_event_has_a_name_in_unleash(type):
    event = {"id": 1, "createdAt": "2026-11-28T09:30:00.000Z", "createdBy": "ada"}
    assert facts.problem("#event", event | {"type": nearest_in_unleash(type)}) is None


def test_the_table_in_the_docs_has_every_operation():
    assert DOCUMENT.read_text("utf-8") == written(), "Write it with: python -m tests.unleash"


def test_fields_that_only_flagstaff_has_have_to_be_asked_for(admin):
    exact = ApiClient(admin.app, admin.token, client_of_unleash=True)
    asked = admin.get("/environments/production?extended=true")
    short = exact.get("/environments/production")
    assert asked.json.keys() - short.json.keys() == {"deprecated"}
    assert asked.headers["ETag"] == short.headers["ETag"]
    refused = exact.get("/environments/production?extended=yes")
    assert error_of(refused) == (400, "ValidationError")


@pytest.mark.parametrize(
    "path",
    [
        *("/projects/", "/projects/default/features/", "/user/", "/tags/simple/a/b/"),
        *("/api-tokens/reader/", "/sdk-tokens/1/", "/metrics/applications/shop/"),
        "/metrics/applications/shop/overview/",
        "/metrics/instances/shop/environment/production/",
    ],
)
def test_an_address_may_end_with_a_slash(admin, path):
    _things_with_names(admin)
    assert admin.ok("GET", path) == admin.ok("GET", path.rstrip("/"))


def test_what_an_address_with_a_slash_at_its_end_names_is_changed(admin):
    _things_with_names(admin)
    admin.ok("DELETE", "/features/one/tags/simple/a/b/")
    assert admin.ok("GET", "/features/one/tags")["tags"] == []
    admin.ok("POST", "/metrics/applications/shop/", {})
    assert len(admin.ok("GET", "/metrics/applications")["applications"]) == 1
    admin.ok("DELETE", "/api-tokens/1/")
    assert admin.ok("GET", "/api-tokens")["tokens"] == []


def _things_with_names(admin):
    tag = {"type": "simple", "value": "a/b"}
    admin.ok("POST", "/projects/default/features", {"name": "one", "tags": [tag]})
    token = {"tokenName": "reader", "type": "client", "environment": "production"}
    admin.ok("POST", "/api-tokens", token)
    admin.ok("POST", "/metrics/applications/shop", {})


@pytest.mark.parametrize("path", ["//api/admin/projects", "/api//admin//projects"])
def test_an_address_may_begin_with_doubled_slashes(admin, path):
    raw = {"PATH_INFO": path}  # a client would take the first part for the name of a host
    assert admin.get("/projects", environ_overrides=raw).json == admin.ok("GET", "/projects")
