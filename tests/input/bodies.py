"""Routes that read a body, sent with any content type."""

from itertools import product

from werkzeug.test import TestResponse

from tests.support.clients import ApiClient, error_of
from tests.support.writes import WRITES, World

ROUTES = [*WRITES, *(("POST", f"/projects/shop/archive/{way}", {}) for way in ("plan", "validate"))]


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


def send(client: ApiClient, method: str, path: str, data: bytes, type: str | None) -> TestResponse:
    headers = {} if type is None else {"Content-Type": type}
    return client.request(method, path, data=data, headers=headers)


def check_types(root: ApiClient, world: World, every: int = 1) -> None:
    for (method, path, _), type in list(product(ROUTES, [*OTHERS, None]))[::every]:
        answer = send(root, method, path.format_map(world), b"{}", type)
        assert error_of(answer) == (415, "ContentTypeerror"), (method, path, type)
    for (method, path, _), type in list(product(ROUTES, JSON))[::every]:
        answer = send(root, method, f"{path.format_map(world)}?dryRun=true", b"{}", type)
        assert answer.status_code in {200, 201, 202, 204, 400}, (method, path, type)
