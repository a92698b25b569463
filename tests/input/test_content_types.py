"""A body is JSON and says so, on every route; a refusal has one form, whatever is refused."""

import pytest

from tests.input.bodies import EVERY_NTH, ROUTES, check_types, send
from tests.support.clients import error_of
from tests.support.writes import rows

pytestmark = pytest.mark.slow

TOO_LARGE = b" " * 3_000_000
PATHS = ["/api/", "/api/openapi.json", "/api/admin/projects", "/api/admin/user"]


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


FOR_ALL = (
    *("/archive/", "/features/validate"),
    *("/user/", "/feedback", "/splash", "/segments", "/projects/bank/change-requests"),
    *("/features-batch", "/events/"),
)
"""What routes of these paths need beside a token depends on more than their address."""


def test_problems_are_reported_in_one_order(root, world, viewer, stranger):
    for method, path, body in ROUTES[::EVERY_NTH]:
        where = path.format_map(world)
        assert error_of(send(stranger, method, where, TOO_LARGE, "text/plain"))[0] == 401
        is_for_all = path.startswith(FOR_ALL) or path.endswith(("/change-requests", "/favorites"))
        lacking = send(viewer, method, where, TOO_LARGE, "text/plain")
        assert error_of(lacking)[0] == (415 if is_for_all else 403), path
        assert error_of(send(root, method, where, TOO_LARGE, "text/plain"))[0] == 415
        if body is not None:
            assert error_of(send(root, method, where, TOO_LARGE, "application/json"))[0] == 413


@pytest.mark.parametrize("path", PATHS)
def test_a_refused_method_is_answered_with_the_allowed_ones(admin, path):
    for method in ("PATCH", "OPTIONS", "TRACE", "PROPFIND", "CONNECT", "x"):
        answer = admin.request(method, f"http://localhost{path}")
        assert error_of(answer) == (405, "MethodNotAllowedError")
        assert "GET" in answer.headers["Allow"]


@pytest.mark.parametrize("path", ["/api/x", "/api/admin/", "/api/admin/x", "/api/admin/user/x/y"])
def test_an_unknown_path_is_answered_in_json(admin, stranger, path):
    for client in (admin, stranger):
        assert error_of(client.get(path)) == (404, "NotFoundError")
        assert error_of(client.post(path, {})) == (404, "NotFoundError")
