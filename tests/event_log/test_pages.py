"""The event log in a browser without a script."""

import pytest
from flask import Flask

from app.event_log.sentences import SENTENCES, differences, sentence
from app.events.models import Event, EventType
from tests.auth.test_sign_in import ada, sign_in
from tests.browser import Browser, Page
from tests.clients import ApiClient
from tests.people import People

FACTS = {"id": 1, "parent": "base", "description": "laptop", "userId": 7}

__all__ = ["ada"]  # a fixture


def lines(page: Page) -> list[str]:
    """The sentences that the page shows."""
    return [e.text for e in page.root.all("span") if e.attrs.get("class") == "event__text"]


@pytest.fixture
def told(admin: ApiClient) -> None:
    for name in ("a", "b", "c"):
        admin.ok("POST", "/projects/default/features", json={"name": name})
    tags = {"addedTags": [{"value": "beta"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", json={"features": ["a", "b", "c"], "tags": tags})
    admin.ok(
        "PUT",
        "/projects/default",
        json={"name": "Default", "mode": "private"},
        headers={"X-Reason": "audit finding 12"},
    )


def test_every_type_of_event_has_its_sentence():
    assert set(SENTENCES) == set(EventType)
    for type in EventType:
        event = Event(
            type=type,
            created_by="ada",
            project="web",
            feature_name="pay",
            data=FACTS | {"name": "new", "mode": "private"},
            pre_data=FACTS | {"name": "old", "mode": "open"},
        )
        words = sentence(event)
        assert words
        assert words[0].islower()
        assert "None" not in words


def test_a_sentence_says_what_happened_and_why(browser, told):
    found = lines(browser.get("/events"))
    assert "admin set the mode of default from open to private, reason: audit finding 12" in found
    assert "admin changed the tags of 3 features in project default Batch of 3" in found
    assert "admin created c in project default" in found


def test_a_batch_unfolds_into_each_of_its_events(browser, told):
    page = browser.get("/events")
    assert page.has("Each of the 3: a, b and c")
    page = browser.get(page.links["Each of the 3"])
    assert sorted(lines(page)) == [
        f"admin changed the tags of {name}: + simple:beta" for name in ("a", "b", "c")
    ]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("?type=feature-created", 3),
        ("?feature=a", 2),
        ("?project=default&type=project-updated", 1),
        ("?text=FINDING", 1),
        ("?from=2000-01-01&to=2000-01-02", 0),
        ("?project=nowhere", 0),
    ],
)
def test_events_are_found_by_what_is_asked(browser, told, query, number):
    page = browser.get(f"/events{query}")
    assert len(lines(page)) == number
    assert number or page.has("No event matches")


def test_a_day_is_a_day_from_its_first_to_its_last_moment(browser, told):
    fields = browser.get("/events?from=2026-11-01&to=2026-11-21").fields()
    assert (fields["from"], fields["to"]) == ("2026-11-01", "2026-11-21")
    page = browser.get("/events?from=2026-02-30")
    assert any("from: Must be a time" in message for message in page.messages)


def test_older_events_come_page_by_page_without_a_gap(browser, admin):
    for number in range(60):
        admin.ok("POST", "/projects/default/features", json={"name": f"f{number:02}"})
    newest = browser.get("/events?type=feature-created")
    older = browser.get("/events" + newest.links["Older"])
    found = lines(newest) + lines(older)
    assert found == [f"admin created f{n:02} in project default" for n in reversed(range(60))]
    assert "Newest" in older.links


def test_the_drawing_says_the_same_as_its_table(app, browser, told, ada):
    sign_in(Browser(app), "ada")
    page = browser.get("/events")
    drawing = next(e for e in page.root.all("svg") if e.attrs.get("role") == "img")
    assert "Changes and sign-ins a day over 26 weeks" in drawing.all("title")[0].text
    table = next(t for t in page.root.all("table") if t.all("caption")[0].text == "By week")
    rows = [[int(n.text) for n in row.all("td")] for row in table.all("tbody")[0].all("tr")]
    changes, sign_ins = map(sum, zip(*rows, strict=True))
    assert (len(rows), sign_ins) == (26, 1)
    assert page.has(f"{changes} changes, 1 sign-in")


def test_how_often_others_sign_in_is_for_admins(app, people):
    people.person("editor", role="Editor")
    page = Browser(app).sign_in("editor").get("/events")
    drawing = next(e for e in page.root.all("svg") if e.attrs.get("role") == "img")
    assert "Changes a day over 26 weeks" in drawing.all("title")[0].text
    assert not page.has("sign-in")


def test_events_of_private_projects_are_for_those_who_know_of_them(app, people, admin):
    admin.ok("POST", "/projects", json={"id": "secret", "name": "S", "mode": "private"})
    people.person("editor", role="Editor")
    page = Browser(app).sign_in("editor").get("/events")
    assert not page.has("secret")


def test_who_may_not_read_the_log_is_told_what_is_missing(app: Flask, people: People):
    people.person("looker")
    browser = Browser(app).sign_in("looker")
    page = browser.get("/events")
    assert page.status == 403
    assert page.has("You need the permission READ_LOGS; an Admin can grant it.")
    assert "Events" not in browser.get("/projects").links


def test_only_what_differs_is_a_difference():
    event = Event(
        type=EventType.USER_UPDATED, pre_data={"a": 1, "b": 2}, data={"a": 1, "b": 3, "c": 4}
    )
    assert [tuple(d) for d in differences(event)] == [("b", 2, 3), ("c", None, 4)]
