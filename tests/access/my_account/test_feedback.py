"""The calling account's answers to surveys, and the notices it has seen."""

import pytest

from tests.support.clients import ApiClient, error_of, problems_of

PATH = "/feedback/menu"
GIVEN = "2026-01-02T03:04:05.678Z"


def given(client):
    """The caller's answers by questionnaire."""
    return {row["feedbackId"]: row for row in client.ok("GET", "/user")["feedback"]}


def test_an_answer_is_given_and_shown(viewer):
    answer = viewer.post("/feedback", {"feedbackId": "menu", "neverShow": True})
    assert answer.status_code == 200
    assert list(answer.json) == ["userId", "neverShow", "given", "feedbackId"]
    assert (answer.json["neverShow"], answer.json["given"]) == (True, None)
    assert given(viewer) == {"menu": answer.json}


@pytest.mark.parametrize("change", [{"neverShow": False}, {"given": "2026-05-06T07:08:09.000Z"}])
def test_a_field_that_is_named_changes_and_no_other(viewer, change):
    body = {"feedbackId": "menu", "neverShow": True, "given": GIVEN}
    before = viewer.ok("POST", "/feedback", body)
    assert viewer.ok("PUT", PATH, change) == before | change
    assert given(viewer)["menu"] == before | change


def test_no_field_named_is_no_change(viewer):
    body = {"feedbackId": "menu", "neverShow": True, "given": GIVEN}
    before = viewer.ok("POST", "/feedback", body)
    assert viewer.ok("PUT", PATH, {}) == before


@pytest.mark.parametrize("time", [{}, {"given": GIVEN}])
def test_what_was_read_can_be_sent_back(viewer, time):
    before = viewer.ok("POST", "/feedback", {"feedbackId": "menu", "neverShow": True} | time)
    assert viewer.ok("PUT", PATH, before) == before


def test_a_second_post_changes_the_first(viewer):
    viewer.ok("POST", "/feedback", {"feedbackId": "menu", "given": GIVEN})
    viewer.ok("POST", "/feedback", {"feedbackId": "menu", "neverShow": True})
    assert len(given(viewer)) == 1
    assert (given(viewer)["menu"]["given"], given(viewer)["menu"]["neverShow"]) == (GIVEN, True)


def test_a_put_can_be_the_first(viewer):
    assert viewer.ok("PUT", PATH, {"neverShow": True}) == given(viewer)["menu"]


@pytest.mark.parametrize(
    "bad",
    [{"neverShow": 1}, {"neverShow": None}, {"given": "now"}, {"given": "2026-01-02"}, {"x": 1}],
)
def test_what_does_not_fit_is_refused(viewer, bad):
    assert list(problems_of(viewer.put(PATH, bad))) == [f"/{field}" for field in bad]
    assert given(viewer) == {}


@pytest.mark.parametrize("bad", [{}, {"feedbackId": "a b"}, {"feedbackId": ""}])
def test_a_survey_needs_a_name(viewer, bad):
    assert list(problems_of(viewer.post("/feedback", bad))) == ["/feedbackId"]


def test_everyone_has_their_own_answers(viewer, editor):
    viewer.ok("PUT", PATH, {"neverShow": True})
    editor.ok("PUT", PATH, {"neverShow": False})
    assert given(viewer)["menu"]["neverShow"] is True
    assert given(editor)["menu"]["neverShow"] is False


def test_a_notice_is_seen_once(viewer, editor):
    for _ in range(2):
        answer = viewer.post("/splash/tour")
        assert answer.status_code == 200
        assert list(answer.json) == ["userId", "splashId", "seen"]
        assert (answer.json["splashId"], answer.json["seen"]) == ("tour", True)
    assert viewer.ok("GET", "/user")["splash"] == {"tour": True}
    assert editor.ok("GET", "/user")["splash"] == {}


def test_a_service_account_can_answer_too(app, people):
    client = ApiClient(app, people.token(people.service_account("robot")))
    client.ok("PUT", PATH, {"neverShow": True})
    assert given(client)["menu"]["neverShow"] is True


def test_strangers_may_not(stranger):
    for answer in (stranger.put(PATH, {}), stranger.post("/splash/tour")):
        assert error_of(answer) == (401, "AuthenticationRequired")
