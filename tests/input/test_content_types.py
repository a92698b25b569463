"""A body is JSON and says so, on every route; a refusal has one form, whatever is refused."""

from itertools import product

import pytest

from tests.clients import ApiClient, error_of
from tests.core.test_rehearsal import rows
from tests.input.test_json import ROUTES

JSON = [
    *("application/json", "application/json; charset=utf-8", "APPLICATION/JSON"),
    *('application/json;charset="UTF-8"', "application/json; x=y"),
]
OTHERS = [
    *("text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data"),
    *("application/vnd.x+json", "application/problem+json", "application/jsonp", "application/*"),
    *("application/json-seq", "application/xml", "application/octet-stream", "*/*", "json", ""),
    *("application/json; charset=utf-16", "application/json; charset=latin-1", "text/html"),
    *("application/json, text/plain", "application /json", "application/json\u00a0"),
]
EVERY_NTH = 7
"""Of all pairs of route and type; the others are for the soak tests."""
TOO_LARGE = b" " * 3_000_000
PATHS = ["/api/", "/api/openapi.json", "/api/admin/projects", "/api/admin/user"]


def send(client: ApiClient, method: str, path: str, data: bytes, type: str | None):
    headers = {} if type is None else {"Content-Type": type}
    return client.request(method, path, data=data, headers=headers)


def check_types(root: ApiClient, world: dict[str, int], every: int = 1) -> None:
    for (method, path, _), type in list(product(ROUTES, [*OTHERS, None]))[::every]:
        answer = send(root, method, path.format_map(world), b"{}", type)
        assert error_of(answer) == (415, "ContentTypeerror"), (method, path, type)
    for (method, path, _), type in list(product(ROUTES, JSON))[::every]:
        answer = send(root, method, f"{path.format_map(world)}?dryRun=true", b"{}", type)
        assert answer.status_code in {200, 201, 202, 400}, (method, path, type)


def test_only_json_is_taken_for_json(app, root, world):
    root.ok("GET", "/user")
    before = rows(app)
    check_types(root, world, EVERY_NTH)
    assert rows(app) == before


def test_without_a_body_that_is_needed_the_header_decides(root, world):
    for method, path, body in ROUTES:
        if body is not None:
            where = path.format_map(world)
            assert error_of(send(root, method, where, b"", None))[0] == 415
            assert error_of(send(root, method, where, b"", "application/json"))[0] == 400


def test_what_is_wrong_is_told_in_one_order(root, viewer, stranger, world):
    for method, path, body in ROUTES[::EVERY_NTH]:
        where = path.format_map(world)
        assert error_of(send(stranger, method, where, TOO_LARGE, "text/plain"))[0] == 401
        is_for_all = path.startswith(("/user/", "/feedback", "/splash"))
        lacking = send(viewer, method, where, TOO_LARGE, "text/plain")
        assert error_of(lacking)[0] == (415 if is_for_all else 403), path
        assert error_of(send(root, method, where, TOO_LARGE, "text/plain"))[0] == 415
        if body is not None:
            assert error_of(send(root, method, where, TOO_LARGE, "application/json"))[0] == 413


@pytest.mark.parametrize("path", PATHS)
def test_a_method_that_is_not_there_is_told_with_those_that_are(admin, path):
    for method in ("PATCH", "OPTIONS", "TRACE", "PROPFIND", "CONNECT", "x"):
        answer = admin.request(method, f"http://localhost{path}")
        assert error_of(answer) == (405, "MethodNotAllowedError")
        assert "GET" in answer.headers["Allow"]


@pytest.mark.parametrize("path", ["/api/x", "/api/admin/", "/api/admin/x", "/api/admin/user/x/y"])
def test_what_is_not_there_is_told_in_json(admin, stranger, path):
    for client in (admin, stranger):
        assert error_of(client.get(path)) == (404, "NotFoundError")
        assert error_of(client.post(path, {})) == (404, "NotFoundError")
