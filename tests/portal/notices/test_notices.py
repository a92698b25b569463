"""Everyone sees what others did to what they own or follow, until they mark it as read."""

from datetime import timedelta

import pytest

from app.core.clock import utcnow
from app.portal.notices.service import COUNTED, RETENTION
from tests.support.browser import Browser, text_of
from tests.support.change_requests import new_desk, switching
from tests.support.clients import error_of
from tests.support.statements import settled

pytestmark = pytest.mark.slow

NOTICES = "/user/notices"
FEATURES = "/projects/default/features"


@pytest.fixture
def ada(people, admin):
    """An Owner of the project ``default``, besides ``admin``."""
    return people.member("ada", "default", "Owner")


def told(client, **query):
    found = client.ok("GET", NOTICES, query_string=query)["notices"]
    return [(one["event"]["type"], one["event"]["featureName"]) for one in found]


def unread(client):
    return client.ok("GET", NOTICES)["unread"]


def make(client, *names):
    for name in names:
        client.ok("POST", FEATURES, {"name": name})


def test_an_owner_hears_what_others_did_and_not_what_they_did_themselves(admin, ada):
    make(admin, "card")
    make(ada, "own")
    assert told(ada)[0] == ("feature-created", "card")
    assert ("feature-created", "own") not in told(ada)


def test_a_favourite_feature_is_heard_of_wherever_it_is(admin, editor):
    make(admin, "card", "other")
    assert told(editor) == []
    editor.ok("POST", f"{FEATURES}/card/favorites")
    assert told(editor) == [("feature-created", "card")]


def test_a_favourite_project_is_heard_of_as_one_that_is_owned(admin, editor):
    make(admin, "card")
    editor.ok("POST", "/projects/default/favorites")
    assert ("feature-created", "card") in told(editor)
    editor.ok("DELETE", "/projects/default/favorites")
    assert told(editor) == []


def test_an_act_on_many_features_is_one_notice(admin, ada):
    make(admin, "a", "b", "c")
    before = unread(ada)
    admin.ok("POST", "/projects/default/archive", {"features": ["a", "b", "c"]})
    [newest] = ada.ok("GET", NOTICES, query_string={"limit": 1})["notices"]
    assert (newest["event"]["type"], newest["count"]) == ("feature-archived", 3)
    assert unread(ada) == before + 1


def test_an_act_with_several_events_on_a_favourite_is_one_notice(admin, editor):
    make(admin, "card")
    editor.ok("POST", f"{FEATURES}/card/favorites")
    admin.ok("POST", f"{FEATURES}/card/environments/production/on")  # which adds a strategy
    assert told(editor)[0] == ("feature-environment-enabled", "card")
    assert unread(editor) == 2


def test_who_proposed_hears_of_their_request_and_no_other_member_does(app, admin, people):
    desk = new_desk(admin, people)
    number = desk.open(switching("card", on=True))
    desk.to("Rejected", number, by=desk.finn, comment="Not today")
    assert told(desk.kim)[0] == ("change-request-rejected", None)
    assert told(desk.rosa) == []


def test_only_what_someone_may_read_in_the_log_is_heard_of(admin, viewer):
    make(admin, "card")
    viewer.ok("POST", f"{FEATURES}/card/favorites")
    assert told(viewer) == []  # Viewers read the events of projects that they are in


def test_a_project_that_became_private_is_not_heard_of(admin, editor):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    editor.ok("POST", "/projects/shop/favorites")
    assert told(editor)
    admin.ok("PUT", "/projects/shop", {"name": "Shop", "mode": "private"})
    assert told(editor) == []


def test_marking_as_read_is_for_one_person_and_never_goes_back(admin, ada, editor):
    editor.ok("POST", "/projects/default/favorites")
    make(admin, "a", "b")
    newest, older = (one["event"]["id"] for one in ada.ok("GET", NOTICES)["notices"][:2])
    total = unread(ada)
    ada.ok("PUT", f"{NOTICES}/read", {"upTo": older})
    assert unread(ada) == 1
    ada.ok("PUT", f"{NOTICES}/read", {"upTo": newest})
    ada.ok("PUT", f"{NOTICES}/read", {"upTo": older})
    assert unread(ada) == 0
    assert unread(editor) == total
    assert len(told(ada)) == total


def test_what_has_not_happened_yet_can_not_be_read(admin, ada):
    ada.ok("PUT", f"{NOTICES}/read", {"upTo": 2_000_000_000})
    make(admin, "card")
    assert unread(ada) == 1


def test_a_half_understood_request_says_what_is_wrong(admin):
    answer = admin.put(f"{NOTICES}/read", {"upTo": "all"})
    assert error_of(answer) == (400, "ValidationError")
    assert answer.json["details"][0]["path"] == "/upTo"


def test_pages_lead_to_older_ones(admin, ada):
    make(admin, *(f"f{number}" for number in range(5)))
    first = ada.ok("GET", NOTICES, query_string={"limit": 3})
    rest = ada.ok("GET", NOTICES, query_string={"limit": 50, "before": first["nextBefore"]})
    ids = [one["event"]["id"] for one in first["notices"] + rest["notices"]]
    assert ids == sorted(set(ids), reverse=True)
    assert ids == [one["event"]["id"] for one in ada.ok("GET", NOTICES)["notices"]]
    assert rest["nextBefore"] is None


def test_after_thirty_days_it_is_no_notice(admin, ada, time_machine):
    make(admin, "card")
    time_machine.move_to(utcnow() + RETENTION - timedelta(minutes=1))
    assert told(ada)
    time_machine.move_to(utcnow() + timedelta(minutes=2))
    assert told(ada) == []


def test_counting_ends_where_no_one_counts_any_more(admin, ada):
    names = [{"name": f"f{number}"} for number in range(COUNTED + 5)]
    for one in names:
        admin.ok("POST", FEATURES, one)
    assert unread(ada) == COUNTED


def test_the_menu_counts_and_the_page_marks_them_as_read(admin, browser):
    make(admin, "card")
    browser.submit(browser.get("/projects/default/features/card"), form="Favourite: card")
    page = browser.get("/notices")
    [link] = page.select(".side .side__bell")
    assert text_of(link) == "Notices 1 unread"
    [row] = page.select('[aria-labelledby="unread"] li')
    assert text_of(row).startswith("admin created feature card")
    page = browser.follow(browser.submit(page, button="Mark all as read"))
    assert page.messages == ["All notices marked as read."]
    [link] = page.select(".side .side__bell")
    assert text_of(link) == "Notices"
    assert page.select('[aria-labelledby="earlier"] li')


def test_who_follows_nothing_reads_how_to(app, viewer):
    page = Browser(app).sign_in("viewer").get("/notices")
    assert "You don’t follow anything yet" in page.words


def test_the_page_takes_the_same_statements_for_any_number(app, admin, browser):
    make(admin, "card")
    browser.submit(browser.get("/projects/default"), form="Favourite: Default")
    taken = []
    for _ in range(2):
        taken.append(len(settled(app, lambda: browser.get("/notices"))))
        make(admin, *(f"f{len(taken)}{number}" for number in range(20)))
    assert taken[0] == taken[1]
