"""Lists in requests: how long they can be, and that each item is checked."""

import pytest

from tests.support.clients import ApiClient, problems_of

pytestmark = pytest.mark.slow

MOST = 50_000
PROJECT = "/projects/default"
TAGS = {"addedTags": [{"value": "beta"}], "removedTags": []}
LISTS = [
    ("POST", f"{PROJECT}/archive", "features", {}),
    ("POST", f"{PROJECT}/archive/plan", "features", {}),
    ("POST", f"{PROJECT}/archive/validate", "features", {}),
    ("POST", f"{PROJECT}/revive-features", "features", {}),
    ("PUT", f"{PROJECT}/tags", "features", {"tags": TAGS}),
    ("POST", "/user-admin/inactive/delete", "ids", {}),
    ("POST", "/user-admin/deactivate", "ids", {}),
    ("POST", "/user-admin/reactivate", "ids", {}),
]


def items(name: str, number: int) -> list[int | str]:
    return [n if name == "ids" else f"f{n}" for n in range(1, number + 1)]


@pytest.mark.parametrize(("method", "path", "name", "rest"), LISTS)
def test_a_list_with_more_than_50_000_items_is_refused_at_its_path(
    admin: ApiClient, method, path, name, rest
):
    body = {name: items(name, MOST + 1)} | rest
    answer = admin.request(method, path, json=body)
    assert problems_of(answer) == {
        f"/{name}": "Must have at most 50,000 items; split the request into several."
    }


def test_a_list_of_50_000_items_is_read(admin: ApiClient):
    body = {"features": items("features", MOST)}
    assert admin.request("POST", f"{PROJECT}/archive/validate", json=body).status_code == 200


@pytest.mark.parametrize("wrong", ["", ".", "..", "a b", "a\nb", "a\n", "é", "x" * 101, 7, None])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_item_that_is_no_name_is_found_wherever_it_is(admin: ApiClient, wrong, place):
    names = ["a", "b"]
    names.insert(place, wrong)
    answer = admin.request("POST", f"{PROJECT}/archive/validate", json={"features": names})
    assert list(problems_of(answer)) == [f"/features/{place}"]


def test_the_limit_is_documented(admin: ApiClient):
    schemas = admin.ok("GET", "/api/openapi.json")["components"]["schemas"]
    assert schemas["FeatureNames"]["properties"]["features"]["maxItems"] == MOST
