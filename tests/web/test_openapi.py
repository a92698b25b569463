"""The API description is valid, complete, and what the server really does."""

import re

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from app.delivery.sdk.api_openapi import FOR_BROWSERS, FOR_CLIENTS, FOR_SDKS
from tests.support.clients import ApiClient
from tests.support.machines import Machine
from tests.support.promises import MEMBER, check_promises

pytestmark = pytest.mark.slow

EXAMPLES = 4
"""Random requests an operation. ``make soak`` makes many more, and systematic ones."""
SEED = 20_261_123
"""The same requests each time, so that only a change of the code makes a test fail."""


@pytest.fixture
def document(stranger: ApiClient) -> dict:
    return stranger.ok("GET", "/api/openapi.json")


def test_the_description_is_valid_openapi(document):
    assert document["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(document).validate()


def test_every_operation_says_what_it_does_and_what_it_needs(document):
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method != "parameters":
                assert operation["summary"], path
                assert operation["x-needs"], path


def test_every_body_has_an_example_that_the_server_would_take(document, admin):
    tokens = _sdk_tokens(admin)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if "requestBody" in operation:
                example = operation["requestBody"]["content"]["application/json"]["example"]
                concrete = re.sub(r"{(account_id|token_id|ref)}", "999", path)
                concrete = re.sub(r"{\w+}", "default", concrete)
                headers = {"Authorization": tokens.get(operation["x-needs"], admin.token)}
                address = f"http://localhost{concrete}?dryRun=true"
                answer = admin.request(method.upper(), address, json=example, headers=headers)
                assert answer.status_code in {200, 201, 202, 204, 404, 409}, (path, answer.text)


def _sdk_tokens(admin: ApiClient) -> dict[str, str]:
    """By what an operation needs."""
    types = {FOR_CLIENTS: "client", FOR_BROWSERS: "frontend", FOR_SDKS: "client"}
    body = {"environment": "production"}
    return {
        needs: admin.ok("POST", "/api-tokens", body | {"tokenName": needs, "type": type})["secret"]
        for needs, type in types.items()
    }


def test_the_page_shows_every_operation(document, stranger):
    page = stranger.get("/api/")
    assert page.status_code == 200
    for path in document["paths"]:
        assert path in page.text


@pytest.mark.one_in(2)
@pytest.mark.parametrize("role", ["Admin", MEMBER])
def test_the_server_keeps_every_promise_of_its_description(role, larkspur: Machine):
    check_promises(role, larkspur, "--phases=fuzzing", f"--seed={SEED}", examples=EXAMPLES)
