from datetime import UTC, datetime

import pytest
import time_machine

from tests.support.clients import ApiClient, error_of, problems_of

PATH = "/events"


@pytest.fixture
def story(admin, editor):
    """One project and two features, made by two people."""
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    admin.ok("POST", "/projects/shop/features", {"name": "cart"})
    editor.ok("POST", "/projects/default/features", {"name": "theme"})


def read(client, query=""):
    return client.ok("GET", f"{PATH}?{query}")


def subjects(client, query):
    """(type, project, feature) of the events, newest first."""
    return [(e["type"], e["project"], e["featureName"]) for e in read(client, query)["events"]]


def id_of(client):
    return client.ok("GET", "/user")["user"]["id"]


SHOP = ("project-created", "shop", None)
CART = ("feature-created", "shop", "cart")
THEME = ("feature-created", "default", "theme")


def test_an_event_has_these_fields(admin, story):
    found = read(admin, "project=shop&type=project-created")
    assert list(found) == ["version", "events", "total", "totalEvents", "nextBefore"]
    [event] = found["events"]
    assert list(event) == [
        "id",
        "type",
        "createdAt",
        "createdBy",
        "createdByUserId",
        "tokenId",
        "ip",
        "project",
        "featureName",
        "data",
        "preData",
        "reason",
        "batchId",
        "environment",
    ]
    assert (event["createdBy"], event["createdByUserId"]) == ("admin", id_of(admin))
    assert (event["ip"], event["preData"]) == ("127.0.0.1", None)
    assert isinstance(event["tokenId"], int)


def test_newest_first(admin, story):
    assert subjects(admin, "limit=3") == [THEME, CART, SHOP]
    ids = [event["id"] for event in read(admin)["events"]]
    assert ids == sorted(ids, reverse=True)


def test_the_log_is_narrowed(admin, story, subtests):
    for query, found in (
        ("type=feature-created", [THEME, CART]),
        ("project=shop", [CART, SHOP]),
        ("feature=cart", [CART]),
        ("project=shop&type=feature-created", [CART]),
        ("project=nowhere", []),
        ("batch=none", []),
        ("actor=2147483647", []),
    ):
        with subtests.test(query=query, found=found):
            assert subjects(admin, query) == found
            assert read(admin, query)["total"] == len(found)


def test_it_is_narrowed_by_who_acted(admin, editor, story):
    assert subjects(admin, f"actor={id_of(editor)}") == [THEME]


def test_it_is_narrowed_by_time_from_included_to_not(admin):
    for day in (1, 2, 3):
        with time_machine.travel(datetime(2027, 1, day, tzinfo=UTC), tick=False):
            admin.ok("POST", "/projects/default/features", {"name": f"f{day}"})
    day = "2027-01-0{}T00:00:00Z"
    assert names(admin, f"from={day.format(2)}") == ["f3", "f2"]
    assert names(admin, f"type=feature-created&to={day.format(2)}") == ["f1"]
    assert names(admin, f"from={day.format(1)}&to={day.format(3)}") == ["f2", "f1"]
    assert names(admin, "from=2027-01-02T01:00:00%2B01:00&to=2027-01-02T00:00:00.001Z") == ["f2"]


def names(client, query):
    return [event["featureName"] for event in read(client, query)["events"]]


def test_pages_follow_each_other_without_gap_or_overlap(admin, story):
    everything = [event["id"] for event in read(admin)["events"]]
    seen, query = [], "limit=2"
    while query:
        page = read(admin, query)
        assert page["total"] == len(everything)
        seen += [event["id"] for event in page["events"]]
        query = page["nextBefore"] and f"limit=2&before={page['nextBefore']}"
    assert seen == everything


def test_new_events_do_not_shift_the_next_page(admin, story):
    first = read(admin, "limit=2")
    admin.ok("POST", "/projects/shop/features", {"name": "late"})
    second = read(admin, f"limit=1&before={first['nextBefore']}")
    assert second["events"][0]["id"] < first["events"][-1]["id"]
    assert subjects(admin, f"limit=1&before={first['nextBefore']}") == [SHOP]


def test_a_filter_must_make_sense(admin, subtests):
    for bad in (
        "type=x",
        "limit=0",
        "limit=1001",
        "before=x",
        "actor=1.5",
        "from=2027-01-01",
        "color=red",
    ):
        with subtests.test(bad=bad):
            assert list(problems_of(admin.get(f"{PATH}?{bad}"))) == [f"?{bad.split('=')[0]}"]


@pytest.mark.parametrize("field", ["actor", "before", "limit"])
def test_a_number_that_no_database_can_hold_is_no_server_error(admin, field):
    assert list(problems_of(admin.get(f"{PATH}?{field}={2**53 - 1}"))) == [f"?{field}"]


def test_events_of_a_private_project_are_shown_to_people_who_can_see_it(
    admin, editor, people, story
):
    admin.ok("PUT", "/projects/shop", {"name": "Shop", "mode": "private"})
    assert subjects(editor, "project=shop") == []
    assert subjects(editor, "feature=cart") == []
    id = people.person("ed", role="Editor")
    people.join(id, "shop")
    for client in (admin, ApiClient(people.app, people.token(id))):
        assert subjects(client, "feature=cart") == [CART]


def test_reading_the_log_writes_nothing(admin, story):
    before = read(admin)
    assert read(admin) == before


def test_a_refused_request_tells_nothing(admin, viewer, story):
    before = read(admin)["total"]
    for answer in (
        viewer.post("/projects", {"id": "x", "name": "x"}),
        admin.post("/projects", {"id": "shop", "name": "x"}),
        admin.post("/projects", {"id": "x"}),
        admin.post("/projects/nowhere/features", {"name": "x"}),
    ):
        assert answer.status_code >= 400
    assert read(admin)["total"] == before


def test_viewers_and_strangers_may_not_read_it(viewer, stranger, people):
    for client in (viewer, people.member("olga", "default", "Owner")):
        refusal = client.get(PATH)
        assert error_of(refusal) == (403, "NoAccessError")
        assert "READ_LOGS" in refusal.json["message"]
    assert error_of(stranger.get(PATH)) == (401, "AuthenticationRequired")
