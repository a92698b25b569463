"""The features of all projects: only those that the reader can see, on the page and in the API."""

import pytest

from tests.support.browser import Browser, text_of

PATH = "/features"


@pytest.fixture
def features(admin, people):
    """Features in an open, a private and the default project; a member of the private one."""
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects", {"id": "secret", "name": "Secret", "mode": "private"})
    for project, name, fields in (
        ("default", "login", {}),
        ("shop", "cart", {"stale": True, "description": "Baskets"}),
        ("shop", "cart.old", {}),
        ("secret", "moonshot", {"type": "experiment"}),
    ):
        admin.ok("POST", f"/projects/{project}/features", {"name": name, **fields})
    admin.ok("POST", "/projects/default/features/login/environments/production/on")
    for project, name in (("shop", "cart"), ("secret", "moonshot")):
        tags = {"addedTags": [{"value": "beta"}], "removedTags": []}
        admin.ok("PUT", f"/projects/{project}/tags", {"features": [name], "tags": tags})
    admin.ok("POST", "/projects/shop/archive", {"features": ["cart.old"]})
    people.person("looker")
    return people.member("member", "secret")


def names(client, query=""):
    found = client.ok("GET", f"{PATH}?{query}")
    rows = [row["name"] for row in found["features"]]
    assert found["total"] == len(rows)
    return rows


def test_a_row_is_that_of_the_project_with_its_project(admin, features):
    [row] = admin.ok("GET", f"{PATH}?text=cart")["features"]
    [same] = admin.ok("GET", "/projects/shop/features?text=cart")["features"]
    assert row == {key: value for key, value in same.items() if key in row}
    assert row["project"] == "shop"


def test_only_projects_that_the_caller_can_see(admin, viewer, features):
    assert names(admin) == names(features) == ["cart", "login", "moonshot"]
    assert names(viewer) == ["cart", "login"]
    assert names(viewer, "project=secret") == names(viewer, "project=unknown") == []
    assert names(viewer, "tag=beta") == ["cart"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("text=BASKET", ["cart"]),
        ("project=shop", ["cart"]),
        ("project=shop&archived=true", ["cart.old"]),
        ("tag=simple:beta", ["cart", "moonshot"]),
        ("withoutTag=beta", ["login"]),
        ("type=experiment", ["moonshot"]),
        ("stale=true", ["cart"]),
        ("state=on:production", ["login"]),
        ("state=off:production", ["cart", "moonshot"]),
        ("sort=-project", ["cart", "moonshot", "login"]),
    ],
)
@pytest.mark.usefixtures("features")
def test_features_are_filtered_and_sorted_in_both(app, admin, people, query, found):
    assert names(admin, query) == found
    people.person("boss", role="Admin")
    page = Browser(app).sign_in("boss").get(f"{PATH}?{query}")
    rows = [text_of(row.css_first("th a")) for row in page.select("tbody")[0].css("tr")]
    assert rows == found


def test_the_page_shows_no_feature_of_a_hidden_project(app, features):
    page = Browser(app).sign_in("looker").get(PATH)
    assert not page.has("moonshot")
    assert page.has("2 features; 1 archived feature")
    assert page.links["cart"] == "/projects/shop/features/cart"
    assert page.links["Features"] == PATH


def test_the_count_of_a_tag_leads_to_its_features(app, features):
    browser = Browser(app).sign_in("looker")
    page = browser.get("/tags")
    assert page.links["1"] == "/features?tag=simple:beta"
    assert browser.get(page.links["1"]).has("1 feature matches")


def test_an_empty_list_says_what_to_do(app, features):
    browser = Browser(app).sign_in("looker")
    page = browser.get(f"{PATH}?text=cart.old")
    assert page.has("No feature matches")
    assert page.has("Remove a filter, or search the 1 archived feature.")
    assert browser.get(f"{PATH}?offset=50").has("No features on this page")


def test_the_list_is_exported_as_it_is_filtered(app, features):
    page = Browser(app).sign_in("looker").get(f"{PATH}?format=json&project=shop")
    assert [row["name"] for row in page.answer.json] == ["cart"]


def test_an_environment_that_no_listed_feature_has_takes_no_column(app, admin, people, features):
    for number in range(3):
        body = {"name": f"live-{number}", "type": "production", "sortOrder": 100 + number}
        admin.ok("POST", "/environments", body)
    people.person("boss", role="Admin")
    page = Browser(app).sign_in("boss").get(PATH)
    heads = [text_of(head) for head in page.select("thead th")]
    assert [name for name in heads if name in {"development", "live-1", "live-2"}] == [
        "development"
    ]
    assert not page.select(".table__more")
