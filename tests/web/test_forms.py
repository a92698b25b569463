"""What holds for every form: garbage breaks none, and two doors refuse in the same words."""

import pytest
from werkzeug.datastructures import MultiDict

from tests.support.access import PAGES_NEED, path_of
from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient

ENDS = {"/sign-out", "/maintenance"}
"""What would end the session, or all changes."""
FORMS = sorted(rule for method, rule in PAGES_NEED if method == "POST" and rule not in ENDS)
LOOKED_AT = sorted(rule for method, rule in PAGES_NEED if method == "GET")

# Every field that some form has, or that names what is to be done.
FIELDS = [
    *("name", "id", "description", "mode", "default_stickiness", "environments"),
    *("approvals-production", "reason", "seen", "plan", "back", "take-name"),
    *("take-mode", "account", "role_id", "change_role", "role-1", "feature", "names"),
    *("needs-approvals-production", "environment"),
    *("all", "to", "selection", "text", "type", "tag"),
    *("value", "new_type", "step", "near", "batch", "child"),
    *("parent", "of", "stale", "impression_data", "hue", "color"),
    *("order", "kept", "next", "sort_order", "deprecated", "username"),
    *("email", "password", "new_password", "another", "limit", "offset"),
    *("sort", "archived", "membership", "withoutTag", "unused", "way-simple:x"),
    *("add-simple:x", "root_role", "project", "project_role", "sign_out"),
]
GARBAGE = {
    "nothing": "",
    "NUL": "a\0b",
    "a long text": "x" * 6_000,
    "a long number": "9" * 5_000,
    "a number below zero": "-1",
    "a number too large for a database": "99999999999999999999",
    "digits of another script": "٣",
    "half of a surrogate pair": "%ED%A0%80",
    "markup": "<script>alert(1)</script>\"'>",
    "text that turns around": "\u202eabc\u2066",
    "a pattern": "%_\\'; DROP TABLE projects;--",
    "colons": "a:b:c",
}


@pytest.fixture
def world(admin: ApiClient) -> None:
    """What the paths name."""
    admin.ok("POST", "/projects", {"id": "web", "name": "Web"})
    for name in ("child", "parent"):
        admin.ok("POST", "/projects/web/features", {"name": name})


@pytest.mark.one_in(6)
@pytest.mark.slow
@pytest.mark.parametrize("kind", GARBAGE)
def test_no_garbage_breaks_a_form_or_an_address(browser: Browser, world, by_turns, kind):
    typed = MultiDict((name, GARBAGE[kind]) for name in FIELDS for _ in range(2))
    thirds = by_turns((0, 1, 2))
    broken = []
    for rule in (rule for third in thirds for rule in FORMS[third::3]):
        page = browser.post(path_of(rule), typed)
        if page.status in {303, 401}:  # perhaps the form before, or this one, ended the session
            page = browser.sign_in("boss").post(path_of(rule), typed)
        broken += [(rule, page.status)] if page.status >= 500 else []
    browser.sign_in("boss")
    for rule in (rule for third in thirds for rule in LOOKED_AT[third::3]):
        page = browser.get(path_of(rule), query_string=typed)
        broken += [(rule, page.status)] if page.status >= 500 else []
    assert broken == []


@pytest.fixture
def settings(browser: Browser, world) -> Page:
    return browser.get("/projects/web/settings")


WRONG_SETTINGS = [
    {"name": ""},
    {"name": "x" * 256},
    {"name": "two\nlines"},
    {"name": "turned \u202eround"},
    {"description": "x" * 5_001},
    {"description": "a\x07b"},
    {"mode": "secret"},
    {"defaultStickiness": " "},
    {"defaultStickiness": "x" * 101},
    {"name": "", "mode": "secret", "defaultStickiness": ""},
]
WRONG_ENVIRONMENTS = [
    {"environments": []},
    {"environments": ["moon"]},
    {"environments": ["production", "x" * 101]},
    {"environments": ["production", "a\x07b"]},
]
LABELS = {
    "name": "Name",
    "description": "Description",
    "mode": "Who can see and change it",
    "defaultStickiness": "Default stickiness",
    "environments": "Environments and approvals",
}


def told(answer) -> list[str]:
    """What the API says is wrong, as the summary of a page would say it."""
    assert answer.status_code == 400
    details = answer.json["details"]
    return sorted(f"{LABELS[d['path'].split('/')[1]]}: {d['message']}" for d in details)


def as_typed(wrong: dict[str, object]) -> dict[str, object]:
    return {name.replace("S", "_s"): value for name, value in wrong.items()}


@pytest.mark.parametrize("wrong", WRONG_SETTINGS, ids=str)
def test_settings_are_refused_in_the_words_of_the_api(browser, admin, settings, wrong):
    page = browser.submit(settings, as_typed(wrong))
    answer = admin.put("/projects/web", {"name": "Web", **wrong})
    assert page.status == 400
    assert sorted(page.errors) == told(answer)


@pytest.mark.parametrize("wrong", WRONG_ENVIRONMENTS, ids=str)
def test_environments_are_refused_in_the_words_of_the_api(browser, admin, settings, wrong):
    page = browser.submit(settings, wrong)
    answer = admin.put("/projects/web/environments", wrong)
    assert page.status == 400
    assert sorted(page.errors) == told(answer)


def test_a_summary_leads_to_each_input_and_each_input_to_its_error(browser, settings):
    page = browser.submit(settings, {"name": "", "mode": "secret", "default_stickiness": ""})
    assert page.title.startswith("Error:")
    [summary] = page.select(".summary")
    assert summary.attributes["role"] == "alert"
    assert "autofocus" in summary.attributes
    links = [a.attributes["href"] for a in summary.css("a")]
    assert links == ["#name", "#mode", "#default_stickiness"]
    by_id = {e.attributes["id"]: e.attributes for e in page.select("[id]")}
    for id in ("name", "default_stickiness"):
        assert by_id[id]["aria-invalid"] == "true"
        assert f"{id}-error" in by_id[id]["aria-describedby"].split()
    [around] = page.select("fieldset:has(#mode)")
    assert around.attributes["aria-describedby"] == "mode-error"
    assert text_of(page.select("#mode-error")[0])
