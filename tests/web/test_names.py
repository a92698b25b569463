"""Names that could be mistaken for an address of the portal, or for part of a template."""

import pytest

NAMES = [
    "new",
    "new-project",
    "new-feature",
    "archive",
    "tags",
    "settings",
    "static",
    "api",
    "keys",
]


@pytest.mark.parametrize("name", NAMES)
def test_whatever_its_name_everything_has_its_page(admin, browser, name):
    admin.ok("POST", "/environments", {"name": name, "type": "test"})
    admin.ok("POST", "/projects", {"id": name, "name": "A project", "environments": [name]})
    admin.ok("POST", f"/projects/{name}/features", {"name": name})
    admin.ok("POST", "/tag-types", {"name": name})
    assert browser.get(f"/projects/{name}").h1 == "A project"
    for path in (
        f"/projects/{name}/features/{name}",
        f"/environments/{name}",
        f"/tags/types/{name}",
    ):
        page = browser.get(path)
        assert page.status == 200
        assert name in page.h1


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "My new feature!",
            "Leave out spaces and “!”. @ For example: my-new-feature",
        ),
        (
            "checkout.Été",
            "Leave out “É” and “é”. @ For example: checkout.ete",
        ),
        (
            "a\u202eb",
            "Leave out invisible characters. @ For example: ab",
        ),
        ("日本", "Leave out “日” and “本”. @"),
        (
            "a+(b)=?",
            "Leave out “+”, “(”, “)” and 2 more. @ For example: a-b",
        ),
        ("x" * 101, "Use at most 100 characters. This has 101."),
        ("..", "Use 1 to 100 of A-Z a-z 0-9 _ ~ . - (and not only . or ..)."),
    ],
)
def test_a_refused_name_says_what_is_wrong_and_offers_a_similar_one(admin, name, problem):
    refused = admin.post("/projects/default/features", json={"name": name})
    assert refused.json["details"] == [
        {"path": "/name", "message": problem.replace("@", "Use only A-Z a-z 0-9 _ ~ . -")}
    ]
