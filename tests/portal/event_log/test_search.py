"""Searching the event log."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work
from app.core.events import service as log
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.words import Mention, parts
from tests.support.clients import ApiClient

START = datetime(2027, 1, 1, tzinfo=UTC)
FEATURES = "/projects/default/features"


@pytest.fixture
def history(admin, editor, people):
    """Five features that an Admin and an Editor make, one a day; a project; an archive of two."""
    for day, client in enumerate((admin, editor, admin, editor, admin)):
        with time_machine.travel(START + timedelta(days=day), tick=False):
            client.ok("POST", FEATURES, {"name": f"f{day}"})
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "cart"})
    admin.ok("POST", "/projects/default/archive", {"features": ["f0", "f1"]})


def read(client, **query):
    answer = client.get("/events", query_string=query)
    assert answer.status_code == 200, answer.text
    return answer.json


def events(client, **query):
    found = read(client, **query)
    assert found["total"] == len(found["events"])
    return found["events"]


def names(client, **query):
    return [event["featureName"] for event in events(client, **query)]


def id_of(client):
    return client.ok("GET", "/user")["user"]["id"]


# Filters


def test_each_filter_finds_what_has_that_value_and_nothing_else(admin, editor, history):
    everything = events(admin)
    sample = next(event for event in everything if event["type"] == "feature-archived")
    for query, field in {
        "type": "type",
        "project": "project",
        "feature": "featureName",
        "actor": "createdByUserId",
        "batch": "batchId",
    }.items():
        expected = [event for event in everything if event[field] == sample[field]]
        assert events(admin, **{query: sample[field]}) == expected
        assert 0 < len(expected) < len(everything)


def test_filters_narrow_each_other(admin, editor, history):
    query = {"type": "feature-created", "actor": id_of(editor)}
    assert names(admin, **query) == ["f3", "f1"]
    assert names(admin, **query, feature="f1") == ["f1"]
    assert names(admin, **query, project="shop") == []


def test_a_project_or_feature_is_named_exactly(admin, history):
    assert events(admin, project="SHOP") == []
    assert events(admin, project="sho") == []
    assert events(admin, feature="f%") == []


def test_the_past_is_found_by_a_project_that_is_archived(admin, history):
    admin.ok("POST", "/projects", {"id": "brief", "name": "Brief"})
    admin.ok("DELETE", "/projects/brief")
    found = [event["type"] for event in events(admin, project="brief")]
    assert found == ["project-archived", "project-created"]


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        (0, 5, ["f4", "f3", "f2", "f1", "f0"]),
        (1, 3, ["f2", "f1"]),
        (2, 2, []),
        (3, 1, []),
        (4, 4.5, ["f4"]),
    ],
)
def test_from_is_included_and_to_is_not(admin, history, since, until, found):
    times = (START + timedelta(days=days) for days in (since, until))
    query = dict(zip(("from", "to"), (time.isoformat() for time in times), strict=True))
    assert names(admin, type="feature-created", **query) == found


def test_the_moment_an_event_shows_finds_it(admin, history):
    [event] = events(admin, feature="f2")
    later = (datetime.fromisoformat(event["createdAt"]) + timedelta(milliseconds=1)).isoformat()
    assert events(admin, **{"from": event["createdAt"], "to": later}) == [event]
    assert event not in events(admin, **{"from": later})
    assert event not in events(admin, to=event["createdAt"])


def test_the_log_tells_which_token_acted(app, people):
    id = people.person("ada", role="Admin")
    for name in ("one", "two"):
        client = ApiClient(app, people.token(id, name))
        client.ok("POST", FEATURES, {"name": name})
    held = {row["description"]: row["id"] for row in client.ok("GET", "/user/tokens")["tokens"]}
    told = {event["featureName"]: event["tokenId"] for event in events(client, project="default")}
    assert told == held


# Pages


def walk(client, **query):
    """The ids on all pages, as they follow each other."""
    ids, before = [], {}
    while before is not None:
        page = read(client, **query, **before)
        ids += [event["id"] for event in page["events"]]
        before = {"before": page["nextBefore"]} if page["nextBefore"] else None
    return ids


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1_000])
def test_a_walk_meets_every_event_once_newest_first(admin, history, limit):
    ids = walk(admin, limit=limit)
    assert ids == [event["id"] for event in events(admin)]
    assert ids == sorted(set(ids), reverse=True)


def test_a_walk_keeps_to_its_filters(admin, history):
    expected = [event["id"] for event in events(admin, type="feature-created")]
    assert walk(admin, type="feature-created", limit=2) == expected


@pytest.mark.slow
def test_events_of_one_moment_are_walked_too(admin):
    names = [f"n{number}" for number in range(25)]
    for name in names:
        admin.ok("POST", FEATURES, {"name": name})
    admin.ok("POST", "/projects/default/archive", {"features": names})
    found = walk(admin, type="feature-archived", limit=10)
    assert len(found) == len(set(found)) == 25


def test_the_end_is_said(admin, history):
    page = read(admin, limit=1_000)
    assert page["nextBefore"] is None
    oldest = page["events"][-1]["id"]
    end = read(admin, before=oldest)
    assert (end["events"], end["nextBefore"]) == ([], None)
    assert end["total"] == page["total"]


# Private projects


@pytest.fixture
def private(admin, history):
    """The project shop, whose past is now for its members alone."""
    admin.ok("PUT", "/projects/shop", {"name": "Shop", "mode": "private"})


def projects(client, **query):
    return {event["project"] for event in events(client, **query)}


def test_an_editor_sees_no_events_of_a_private_project_without_membership(admin, editor, private):
    hidden = len(events(admin, project="shop"))
    assert hidden == 3
    assert "shop" not in projects(editor)
    assert len(events(editor)) == len(events(admin)) - hidden
    for query in ({"project": "shop"}, {"feature": "cart"}, {"type": "project-updated"}):
        assert events(editor, **query) == []
    assert "shop" not in editor.get("/events").text


def test_an_editor_who_is_a_member_sees_it(app, admin, people, private):
    id = people.person("ed", role="Editor")
    people.join(id, "shop")
    member = ApiClient(app, people.token(id))
    assert events(member, project="shop") == events(admin, project="shop")


def test_what_is_open_again_is_seen_again(admin, editor, private):
    admin.ok("PUT", "/projects/shop", {"name": "Shop", "mode": "open"})
    assert "shop" in projects(editor)


def test_a_walk_does_not_stumble_over_what_is_hidden(editor, private):
    expected = [event["id"] for event in events(editor)]
    assert walk(editor, limit=1) == expected


# By account and token


def test_events_about_an_account_are_found_by_its_id(app, admin, people):
    ada, bob = people.person("ada"), people.person("bob")
    own = ApiClient(app, people.token(ada, "laptop"))
    people.token(bob, "desktop")
    admin.ok("PUT", f"/user-admin/{ada}", {"name": "Ada", "rootRole": 2})
    [token] = own.ok("GET", "/user/tokens")["tokens"]
    own.ok("DELETE", f"/user/tokens/{token['id']}")
    found = [event["type"] for event in events(admin, about=ada)]
    assert found == ["token-revoked", "user-updated", "token-created", "user-created"]
    assert [e["type"] for e in events(admin, about=bob)] == ["token-created", "user-created"]


def test_every_event_whose_sentence_names_an_account_is_found_by_it(app, admin, people):
    ada = people.person("ada")
    of_token = {"id": 99, "userId": ada, "description": "laptop"}
    of_others = {"id": ada, "name": "ada", "members": {str(ada): "Member"}, "deleted": []}
    naming = []
    with app.app_context(), unit_of_work(writes=True):
        for type in EventType:
            facts = of_token if type.value.startswith("token-") else of_others
            log.record(COMMAND_LINE, type, data=facts)
            named = [part for part in parts(Event(type=type, data=facts)) if is_account(part)]
            naming += [type.value] if named else []
    found = [e["type"] for e in events(admin, about=ada) if e["data"] in (of_token, of_others)]
    assert sorted(found) == sorted(naming)


def is_account(part):
    return isinstance(part, Mention) and part.kind == "account"


def test_a_role_in_a_project_is_found_by_the_account_that_has_it_only(admin, people):
    ada, bob = people.person("ada"), people.person("bob")
    for id in (ada, bob):
        admin.ok("POST", "/projects/default/access", {"id": id, "roleId": 5})
    for id in (ada, bob):
        [event] = events(admin, about=id, type="project-access-updated")
        assert event["data"]["members"].keys() - event["preData"]["members"].keys() == {str(id)}


def test_events_of_a_token_are_what_it_did_and_what_happened_to_it(app, admin, people):
    id = people.person("ada", role="Admin")
    client = ApiClient(app, people.token(id, "laptop"))
    client.ok("POST", FEATURES, {"name": "theme"})
    [token] = client.ok("GET", "/user/tokens")["tokens"]
    found = [event["type"] for event in events(admin, token=token["id"])]
    assert found == ["feature-created", "token-created"]


def test_what_else_has_an_id_is_not_about_an_account(admin):
    admin.ok("POST", "/projects", {"id": "1", "name": "One"})
    assert "project-created" not in [event["type"] for event in events(admin, about=1)]


# Members of a project


@pytest.mark.parametrize("role", ["Owner", "Member"])
def test_members_read_the_events_of_their_project_without_origin(people, admin, history, role):
    member = people.member("kim", "shop", role)
    found = events(member, project="shop")
    expected = [row | {"ip": None, "tokenId": None} for row in events(admin, project="shop")]
    assert found == expected
    assert any(row["ip"] for row in events(admin, project="shop"))


def test_members_read_nothing_else(people, history):
    member = people.member("kim", "shop", "Owner")
    for query in ({}, {"project": "default"}, {"project": "nowhere"}, {"feature": "cart"}):
        answer = member.get("/events", query_string=query)
        assert answer.status_code == 403
        assert "READ_LOGS" in answer.json["message"]


def test_members_do_not_find_out_which_token_acted(people, admin, history):
    member = people.member("kim", "shop", "Owner")
    [token, *_] = {event["tokenId"] for event in events(admin, project="shop")} - {None}
    assert events(member, project="shop", token=token) == []


def test_creators_are_those_of_events_that_the_reader_can_see(admin, editor, people):
    owner = people.person("otto", role="Editor")
    admin.ok("POST", "/projects", {"id": "lab", "name": "Lab", "mode": "private"})
    admin.ok("POST", "/projects/lab/access", {"id": owner, "roleId": 4})
    otto = ApiClient(admin.app, people.token(owner))
    otto.ok("POST", "/projects/lab/features", {"name": "secret"})
    seen = [{each["name"] for each in one.ok("GET", "/event-creators")} for one in (admin, editor)]
    assert ("otto" in seen[0], "otto" in seen[1]) == (True, False)
