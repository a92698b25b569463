"""The event log in a browser without a script."""

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.db import db, unit_of_work
from app.core.events.models import EventHead
from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient
from tests.support.people import People
from tests.support.sign_in import sign_in


def lines(page: Page) -> list[str]:
    """The sentences that the page shows."""
    return [text_of(e) for e in page.select("span.event__text")]


def origins(page: Page) -> set[str]:
    return {text_of(e) for e in page.select("span.event__from")}


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


def test_a_sentence_says_what_happened_and_why(browser, told):
    found = lines(browser.get("/events"))
    change = "admin changed project default: mode open → private"
    assert f"{change}, reason: audit finding 12" in found
    assert "admin changed the tags of 3 features in project default Batch of 3" in found
    assert "admin created feature c in project default" in found


def test_a_batch_unfolds_into_each_of_its_events(browser, told):
    page = browser.get("/events")
    assert page.has("Each of the 3: a, b and c")
    page = browser.get("/events" + page.links["Each of the 3"])
    assert sorted(lines(page)) == [
        f"admin changed the tags of feature {name}: added simple:beta" for name in ("a", "b", "c")
    ]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("?type=feature-created", 3),
        ("?feature=a", 2),
        ("?type=features", 6),
        ("?by=ADMIN&type=feature-created", 3),
        ("?by=root%20(command%20line)&type=features", 0),
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
    assert found == [
        f"admin created feature f{n:02} in project default" for n in reversed(range(60))
    ]
    assert "Newest" in older.links


def test_the_drawing_says_the_same_as_its_table(app, browser, told, ada):
    sign_in(Browser(app), "ada")
    page = browser.get("/events")
    drawing = page.select('svg[role="img"]')[0]
    assert "Changes and sign-ins a day over 26 weeks" in text_of(drawing.css("title")[0])
    table = next(t for t in page.select("table") if text_of(t.css("caption")[0]) == "By week")
    rows = [[int(text_of(n)) for n in row.css("td")] for row in table.css("tbody tr")]
    changes, sign_ins = map(sum, zip(*rows, strict=True))
    assert (len(rows), sign_ins) == (26, 1)
    assert page.has(f"{changes} changes, 1 sign-in")


def test_how_often_others_sign_in_is_for_admins(app, people):
    people.person("editor", role="Editor")
    page = Browser(app).sign_in("editor").get("/events")
    drawing = page.select('svg[role="img"]')[0]
    assert "Changes a day over 26 weeks" in text_of(drawing.css("title")[0])
    assert not page.has("sign-in")


def test_events_of_private_projects_are_for_those_who_know_of_them(app, people, admin):
    admin.ok("POST", "/projects", json={"id": "hidden-shop", "name": "S", "mode": "private"})
    people.person("editor", role="Editor")
    page = Browser(app).sign_in("editor").get("/events")
    assert not page.has("hidden-shop")


def test_without_permission_the_page_of_events_says_what_is_missing(app: Flask, people: People):
    people.person("looker")
    browser = Browser(app).sign_in("looker")
    page = browser.get("/events")
    assert page.status == 403
    assert page.has("You can’t read the event log. Ask an Admin.")
    assert page.links["My permissions"] == "/account/permissions"
    assert not page.has("READ_LOGS")
    assert "Events" not in browser.get("/projects").links


@pytest.fixture
def shop(admin: ApiClient) -> None:
    admin.ok("POST", "/projects", json={"id": "shop", "name": "Shop", "mode": "private"})
    admin.ok("POST", "/projects/shop/features", json={"name": "cart"})
    admin.ok("POST", "/projects/default/features", json={"name": "theme"})


def test_the_history_of_a_project_has_its_events_alone(browser, shop):
    page = browser.get("/projects/shop/history")
    assert lines(page) == [
        "admin created feature cart in project shop",
        "admin created project shop",
    ]
    assert page.has("/api/admin/events?project=shop")
    assert page.links["History"] == page.path
    assert origins(page) == {"127.0.0.1"}
    assert lines(browser.get("/projects/shop/history?project=default")) == lines(page)
    assert len(lines(browser.get("/projects/shop/history?feature=cart"))) == 1


@pytest.mark.parametrize("role", ["Owner", "Member"])
def test_members_read_the_history_of_their_project_without_addresses(app, people, shop, role):
    people.join(people.person("kim"), "shop", role)
    browser = Browser(app).sign_in("kim")
    page = browser.get("/projects/shop/history")
    assert "admin created feature cart in project shop" in lines(page)
    assert origins(page) == {""}
    assert not page.has("By token")
    assert '"ip": null' in page.text.replace("&#34;", '"')
    file = browser.get("/projects/shop/history?format=csv").text
    assert "created feature cart" in file
    assert "127.0.0.1" not in file
    assert browser.get("/events").status == 403


def test_who_can_not_read_the_history_has_no_link_to_it(app, people):
    people.person("looker")
    page = Browser(app).sign_in("looker").get("/projects/default")
    assert "History" not in page.links


@pytest.mark.parametrize("id", ["shop", "default", "nowhere"])
def test_others_get_the_same_refusal_for_every_project(app, people, shop, id):
    people.person("looker")
    page = Browser(app).sign_in("looker").get(f"/projects/{id}/history")
    assert page.status == 403
    assert page.has("You can’t read the event log. Ask an Admin.")


def test_an_editor_gets_a_hidden_project_as_an_unknown_one(app, people, shop):
    people.person("editor", role="Editor")
    browser = Browser(app).sign_in("editor")
    assert browser.get("/projects/default/history").status == 200
    assert [browser.get(f"/projects/{id}/history").status for id in ("shop", "nowhere")] == [
        404,
        404,
    ]


def test_people_and_things_of_a_row_lead_to_their_pages(browser, people, told):
    ada = people.person("ada")
    page = browser.get("/events")
    links = {text_of(e): e.attributes["href"] for e in page.select("span.event__text a")}
    assert links["c"] == "/projects/default/features/c"
    assert links["default"] == "/projects/default"
    assert links["ada"] == f"/users/{ada}"
    assert all(browser.get(path).status == 200 for path in links.values())


def test_who_was_deleted_has_no_page_to_lead_to(browser, people, admin):
    ada = people.person("ada")
    admin.ok("DELETE", f"/user-admin/{ada}")
    page = browser.get("/events?type=user-deleted")
    assert lines(page) == ["admin deleted user ada"]
    assert "ada" not in page.links


def test_links_to_people_are_for_admins(app, people, told):
    people.person("editor", role="Editor")
    page = Browser(app).sign_in("editor").get("/events?type=user-created")
    assert "editor" in page.words
    assert not [path for path in page.links.values() if path.startswith("/users/")]


def test_the_reader_is_you(app, people):
    id = people.person("boss", role="Admin")
    client = ApiClient(app, people.token(id))
    client.ok("PUT", f"/user-admin/{id}", {"name": "Bo Lee", "rootRole": 1})
    browser = Browser(app).sign_in("boss")
    assert lines(browser.get("/events?type=user-updated")) == ["You changed your account: name"]
    assert "Bo Lee changed their account: name" in browser.get("/events?format=csv").text


def test_no_time_is_too_far_away(browser, told, subtests):
    for query in ("from", "to"):
        for time in (
            "0001-01-01",
            "9999-12-31",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999999999Z",
            "0001-01-01T00:00:00%2B14:00",
            "9999-12-31T23:59:59-14:00",
            "2026-11-21T24:00:00Z",
        ):
            with subtests.test(query=query, time=time):
                assert browser.get(f"/events?{query}={time}").status == 200
                assert browser.get(f"/projects/default/history?{query}={time}").status == 200


def test_a_time_that_ends_before_it_begins_finds_nothing(browser, told):
    page = browser.get("/events?from=2026-11-21&to=2026-11-20")
    assert page.has("No event matches")


def test_projects_are_suggested_by_name(browser, shop):
    page = browser.get("/events")
    [suggestions] = page.select("#projects")
    found = {e.attributes["value"]: text_of(e) for e in suggestions.css("option")}
    assert found["shop"] == "Shop"


# From an object to its events


def test_a_feature_leads_to_its_events_and_says_who_created_it(browser, admin, shop):
    admin.ok("PUT", "/projects/shop/features/cart", json={"description": "New"})
    page = browser.get("/projects/shop/features/cart")
    assert page.has("Created just now by admin")
    [tabs] = page.select('nav[aria-label="cart"]')
    [history] = [a.attributes["href"] for a in tabs.css("a") if text_of(a) == "History"]
    admin.ok("POST", "/projects/shop/features", json={"name": "other"})
    assert lines(browser.get(history)) == [
        "admin changed feature cart: description",
        "admin created feature cart in project shop",
    ]


def test_a_feature_that_got_a_strategy_when_it_was_switched_on_counts_once(browser, admin, shop):
    admin.ok("PUT", "/projects/shop/environments", json={"environments": ["production"]})
    admin.ok("POST", "/projects/shop/features/cart/environments/production/on")
    assert lines(browser.get("/projects/shop/history"))[0] == (
        "admin switched feature cart on in production"
    )


def test_a_feature_leads_only_those_to_its_events_who_may_read_them(app, people, admin):
    admin.ok("POST", "/projects", json={"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", json={"name": "cart"})
    people.person("looker")
    people.join(people.person("worker"), "shop")
    for username, may in (("looker", False), ("worker", True)):
        page = Browser(app).sign_in(username).get("/projects/shop/features/cart")
        assert page.has("Created just now by") is may
        assert any(href.endswith("/features/cart/history") for href in page.links.values()) is may


@pytest.mark.parametrize("kind", ["user", "service account"])
def test_an_account_leads_to_what_happened_to_it_and_what_it_did(browser, people, admin, kind):
    area, api = {
        "user": ("users", "user-admin"),
        "service account": ("service-accounts", "service-account"),
    }[kind]
    create = people.person if kind == "user" else people.service_account
    id = create("robot", role="Editor")
    create("another")
    client = ApiClient(people.app, people.token(id, "ci"))
    admin.ok("PUT", f"/{api}/{id}", json={"name": "Robot"})
    client.ok("POST", "/projects", json={"id": "shop", "name": "Shop"})
    page = browser.get(f"/{area}/{id}")
    page = browser.get(page.links["History"])
    assert page.h1 == "History of Robot"
    assert lines(page) == ["Robot created project shop"]
    whose = "their account" if kind == "user" else "it"
    about = lines(browser.get(page.links[f"What was done to {whose}"]))
    assert len(about) == 3
    assert all("Robot" in line for line in about)


def test_a_token_leads_to_what_it_did_and_what_happened_to_it(browser, people, admin):
    id = people.service_account("robot", role="Admin")
    client = ApiClient(people.app, people.token(id, "ci"))
    people.token(id, "other")
    client.ok("POST", "/projects", json={"id": "shop", "name": "Shop"})
    page = browser.get(f"/service-accounts/{id}")
    found = lines(browser.get(page.links["Events of ci"]))
    assert [line.split()[1:] for line in found] == [
        ["created", "project", "shop"],
        ["(command", "line)", "created", "token", "ci", "for", "robot"],
    ]


def test_only_those_who_read_the_log_see_the_way_to_the_events_of_their_tokens(app, people):
    for username, role in (("looker", "Viewer"), ("editor", "Editor")):
        people.token(people.person(username, role=role), "ci")
        links = Browser(app).sign_in(username).get("/account").links
        assert ("Events of ci" in links) is (role == "Editor")


def test_a_segment_leads_to_its_events(browser, admin):
    user = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    segments = [
        admin.ok("POST", "/segments", {"name": name, "constraints": [user]})["id"]
        for name in ("Staff", "Team")
    ]
    page = browser.get(f"/segments/{segments[0]}")
    [history] = [href for name, href in page.links.items() if name == "History"]
    assert lines(browser.get(history)) == ["admin created segment Staff"]


# What changed, in words


def details(browser, admin, path, *bodies):
    """The terms and descriptions of the last event, after these bodies were sent to ``path``."""
    for body in bodies:
        admin.ok("PUT", path, body)
    [newest, *_] = browser.get("/events").select(".event")
    [found] = newest.css("dl.diffs")
    terms, texts = ([text_of(e) for e in found.css(tag)] for tag in ("dt", "dd"))
    return dict(zip(terms, texts, strict=True))


def test_values_of_a_long_constraint_are_compared_by_what_came_and_went(browser, admin):
    def body(values):
        constraint = {"contextName": "userId", "operator": "IN", "values": values}
        return {"name": "Staff", "constraints": [constraint]}

    many = [str(number) for number in range(30)]
    id = admin.ok("POST", "/segments", body(many))["id"]
    found = details(browser, admin, f"/segments/{id}", body([*many[2:], "77"]))
    assert found["UserId added"] == "77"
    assert found["UserId removed"] == "0 and 1"
    assert found["Constraints"] == "userId is one of 30 values → userId is one of 29 values"


def test_a_strategy_is_shown_in_words(browser, admin, shop):
    place = "/projects/shop/features/cart/environments/production"
    country = {"contextName": "userId", "operator": "IN", "values": ["7"]}
    segment = admin.ok("POST", "/segments", {"name": "Staff", "constraints": [country]})["id"]
    made = admin.ok("POST", f"{place}/strategies", {"name": "flexibleRollout"})
    changed = {
        "parameters": {"rollout": "40"},
        "constraints": [country],
        "segments": [segment],
        "variants": [{"name": name, "weight": 500} for name in ("old", "new")],
    }
    found = details(browser, admin, f"{place}/strategies/{made['id']}", changed)
    assert found["Rollout"] == "100% → 40%"
    assert found["Constraints"] == "userId is 7"
    assert found["Segments"] == "Staff"
    assert found["Variants"] == "old 50% and new 50%"
    assert not any(mark in text for text in found.values() for mark in "{}[]'")


def test_a_variant_that_differs_in_its_payload_alone_is_shown_in_full(browser, admin, shop):
    place = "/projects/shop/features/cart/environments/production"
    variant = {"name": "old", "weight": 1000, "weightType": "variable"}
    payloads = [{"type": "string", "value": value} for value in ("a", "b")]
    body = [{"variants": [variant | {"payload": payload}]} for payload in payloads]
    made = admin.ok("POST", f"{place}/strategies", {"name": "flexibleRollout", **body[0]})
    found = details(browser, admin, f"{place}/strategies/{made['id']}", body[1])
    before, after = found["Variants"].split(" → ")
    assert "payload type string, value a" in before
    assert "payload type string, value b" in after


def test_members_are_shown_by_name_with_their_roles(browser, admin, people, shop):
    ada = people.person("ada")
    admin.ok("POST", "/projects/shop/access", {"id": ada, "roleId": 5})
    admin.ok("POST", "/projects/shop/access", {"id": ada, "roleId": 4})
    assert details(browser, admin, "") == {"Ada": "Member → Owner"}


def test_what_a_change_request_did_leads_to_it(browser, admin, people, shop):
    rules = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/shop/environments", body)
    switching = {"feature": "cart", "action": "updateEnabled", "payload": {"enabled": True}}
    path = "/projects/shop/environments/production/change-requests"
    id = admin.ok("POST", path, switching)["id"]
    other = people.client("approver", role="Admin")
    for client, state in ((admin, "In review"), (other, "Approved"), (admin, "Applied")):
        client.ok("PUT", f"/projects/shop/change-requests/{id}/state", {"state": state})
    page = browser.get("/projects/shop/features/cart/history")
    assert page.links[f"Open change request {id}"] == f"/projects/shop/change-requests/{id}"
    switched = next(row for row in page.select(".event") if "switched" in text_of(row))
    assert "Undo this" not in text_of(switched)


def test_an_admin_checks_that_no_event_was_changed(browser, admin):
    admin.ok("POST", "/projects", json={"id": "shop", "name": "Shop"})
    page = browser.get(browser.get("/events").links["Check the log"])
    assert page.has("No event has been changed or removed.")
    with browser.app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.update(EventHead).values(digest=bytes(32)))
    assert browser.get("/events/check").has("The log isn’t as it was written")


def test_many_events_alike_that_a_script_recorded_are_folded_into_one_row(browser, admin):
    for number in range(6):
        admin.ok("POST", "/projects/default/features", json={"name": f"f{number}"})
    admin.ok("POST", "/projects/default/features/f0/environments/production/on")
    page = browser.get("/events?type=features")
    [fold] = page.select(".event__alike")
    assert text_of(fold.css_first("summary")) == "5 more events like this"
    assert len(fold.css("article")) == 5
    assert not browser.get("/events?type=features&limit=4").select(".event__alike")
