"""Names in requests about something else: there too, private looks like unknown."""

from typing import Any

import pytest

from tests.support.access import told
from tests.support.clients import ApiClient

HIDDEN, SECRET = "hidden", "secret-feature"
OTHER = "/projects/other"
BOTH = [SECRET, "mine"]
TAGS = {"addedTags": [{"value": "x"}], "removedTags": []}

# What a member of another project, or an Editor, may well ask for.
QUESTIONS: dict[str, tuple[str, str, Any]] = {
    "tags": ("PUT", f"{OTHER}/tags", {"features": [SECRET], "tags": TAGS}),
    "tags of some": ("PUT", f"{OTHER}/tags", {"features": BOTH, "tags": TAGS}),
    "validate": ("POST", f"{OTHER}/archive/validate", {"features": BOTH}),
    "plan": ("POST", f"{OTHER}/archive/plan", {"features": BOTH}),
    "archive": ("POST", f"{OTHER}/archive", {"features": BOTH}),
    "revive": ("POST", f"{OTHER}/revive-features", {"features": BOTH}),
    "parent": ("POST", f"{OTHER}/features/mine/dependencies", {"feature": SECRET}),
    "child": ("POST", f"{OTHER}/features/{SECRET}/dependencies", {"feature": "mine"}),
    "untie": ("DELETE", f"{OTHER}/features/{SECRET}/dependencies", None),
    "untie from": ("DELETE", f"{OTHER}/features/mine/dependencies/{SECRET}", None),
    "feature elsewhere": ("GET", f"{OTHER}/features/{SECRET}", None),
    "feature changed elsewhere": ("PUT", f"{OTHER}/features/{SECRET}", {"description": "x"}),
    "feature at home": ("GET", f"/projects/{HIDDEN}/features/{SECRET}", None),
    "features": ("GET", f"/projects/{HIDDEN}/features?text=secret&archived=true", None),
    "members": ("GET", f"/projects/{HIDDEN}/access", None),
    "projects": ("GET", "/projects?limit=1000&sort=-createdAt", None),
    "events of the project": ("GET", f"/events?project={HIDDEN}", None),
    "events of the feature": ("GET", f"/events?feature={SECRET}", None),
    "events of that name": ("GET", "/events?text=secret", None),
    "all events": ("GET", "/events", None),
    "an update": ("PUT", f"/projects/{HIDDEN}", {"name": "Mine now"}),
    "an update on a condition": ("PUT", f"/projects/{HIDDEN}?dryRun=true", {"name": "x"}),
    "deleting": ("DELETE", f"/projects/{HIDDEN}", None),
    "reviving": ("POST", f"/projects/{HIDDEN}/restore", None),
    "a new feature": ("POST", f"/projects/{HIDDEN}/features", {"name": "x"}),
    "who may": ("PUT", f"/projects/{HIDDEN}/access", {"members": []}),
}


@pytest.fixture
def askers(people, admin) -> dict[str, ApiClient]:
    admin.ok("POST", "/projects", {"id": "other", "name": "Other"})
    admin.ok("POST", f"{OTHER}/features", {"name": "mine"})
    robot = people.service_account("robot", role="Editor")
    people.join(robot, "other")
    editor = people.person("editor", role="Editor")
    people.join(editor, "other", "Owner")
    return {
        "Owner of other": people.member("owner", "other", "Owner"),
        "Member of other": people.member("member", "other"),
        "Editor and Owner of other": ApiClient(people.app, people.token(editor)),
        "service account, Editor and Member of other": ApiClient(people.app, people.token(robot)),
        "Viewer": people.client("viewer"),
    }


@pytest.mark.slow
def test_private_projects_and_features_look_like_unknown_ones_everywhere(askers, admin):
    def ask() -> dict[tuple[str, str], tuple[object, ...]]:
        return {
            (who, about): told(client.request(method, path, json=body))
            for who, client in askers.items()
            for about, (method, path, body) in QUESTIONS.items()
        }

    ask()  # what changes something has then done so
    unknown = ask()
    project = {"id": HIDDEN, "name": "Hidden", "mode": "private"}
    admin.ok("POST", "/projects", project)
    for name in (SECRET, "child-of-the-secret"):
        admin.ok("POST", f"/projects/{HIDDEN}/features", {"name": name})
    tie = f"/projects/{HIDDEN}/features/child-of-the-secret/dependencies"
    admin.ok("POST", tie, {"feature": SECRET})
    hidden = ask()
    assert [asked for asked in hidden if hidden[asked] != unknown[asked]] == []
    assert not [about for (_, about), answer in hidden.items() if answer[0] >= 500]
    assert admin.ok("GET", f"/projects/{HIDDEN}/features/{SECRET}")["tags"] == []


def test_only_creating_a_name_again_reveals_that_it_is_taken(askers, admin):
    """The names of projects and of features are one space for the whole instance."""
    editor = askers["Editor and Owner of other"]
    admin.ok("POST", "/projects", {"id": HIDDEN, "name": "Hidden", "mode": "private"})
    admin.ok("POST", f"/projects/{HIDDEN}/features", {"name": SECRET})
    for path, body in (
        ("/projects", {"id": HIDDEN, "name": "x"}),
        (f"{OTHER}/features", {"name": SECRET}),
    ):
        refused = editor.post(path, body)
        assert (refused.status_code, refused.json["name"]) == (409, "NameExistsError")
        told_of = refused.text.replace(body.get("id", body["name"]), "")
        assert "Hidden" not in told_of
        assert HIDDEN not in told_of
