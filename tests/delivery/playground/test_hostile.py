"""Contexts that are meant to do harm: each is answered or refused, and none changes the rule."""

import json

import pytest

from tests.delivery.playground.conftest import NORDIC, place
from tests.input.corpora import strings

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]

ADVANCED = "/playground/advanced"
EVERY_NTH = 4


@pytest.fixture
def guarded(admin):
    """A feature that no one gets but those of one country."""
    admin.ok("POST", "/context", {"name": "country", "stickiness": True})
    admin.ok("POST", "/projects/default/features", {"name": "a"})
    strategy = {"name": "flexibleRollout", "parameters": {"stickiness": "country"}}
    admin.ok("POST", f"{place('a')}/strategies", strategy | {"constraints": [NORDIC]})
    admin.ok("POST", f"{place('a')}/on")
    return admin


def sent(client, context):
    """The status, and whether anyone got the feature."""
    body = {"environments": ["development"], "projects": "*", "context": context}
    text = json.dumps(body)
    answer = client.post(ADVANCED, data=text, headers={"Content-Type": "application/json"})
    assert answer.status_code in {200, 400}, answer.text
    if answer.status_code == 400:
        return 400, False
    [found] = answer.json["features"]
    return 200, any(each["isEnabled"] for each in found["environments"]["development"])


def some_strings(by_turns):
    """Every nth in CI, and half as many elsewhere."""
    every_nth = strings()[::EVERY_NTH]
    return [text for half in by_turns((0, 1)) for text in every_nth[half::2]]


def test_no_string_fails_or_lets_anyone_in(guarded, by_turns):
    for text in some_strings(by_turns):
        for context in (
            {"userId": text},
            {"country": text},
            {"properties": {"country": text}},
            {text: "NO"},
            {"properties": {text: "NO"}},
            {"sessionId": text, "remoteAddress": text, "appName": text, "environment": text},
        ):
            assert sent(guarded, context)[1] is False, context


def test_no_string_fails_on_the_page(browser, guarded, by_turns):
    for text in some_strings(by_turns):
        if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
            continue  # browsers send neither
        for name in ("context.userId", "context.country", "context-more", "feature", "project"):
            answer = browser.client.get("/playground", query_string={name: text})
            assert answer.status_code in {200, 400, 404}, (name, text)


def test_odd_contexts_are_answered_or_refused(guarded, subtests):
    for context, status in (
        ({f"p{number}": "x" for number in range(499)}, 200),
        ({f"p{number}": "x" for number in range(501)}, 400),
        ({"properties": {f"p{number}": "x" for number in range(500)}}, 400),
        ({"userId": "x" * 1_000_000}, 400),
        ({"properties": {"country": "x" * 1_000_000}}, 400),
        ({"x" * 1_000_000: "1"}, 400),
        ({"userId": ",".join("x" * 50 for _ in range(150))}, 200),
        ({"userId": ",".join(str(number) for number in range(10_000))}, 400),
        (dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "1,2,3,4"), 400),
        ({"properties": {"country": {"is": ["NO"]}}}, 200),
        ({"country": ["NO"]}, 200),
        ({"userId": None, "properties": None}, 200),
        ({"userId": 9007199254740993, "country": 1.5}, 200),
        ({"userId": "a\0b"}, 400),
        ({"userId": "\ud800"}, 400),
        ({"\ud800": "1"}, 400),
        ({"currentTime": "9999-12-31T23:59:59.999Z"}, 200),
        ({"currentTime": "0001-01-01T00:00:00+14:00"}, 400),
        ({"/default": "NO", "/random": "NO", "/or-random country": "NO"}, 200),
        ({"properties": {"properties": {"properties": {}}}}, 200),
    ):
        with subtests.test(context=context, status=status):
            assert sent(guarded, context) == (status, False)


def test_a_context_cannot_name_what_rollouts_go_by(admin):
    """The names that questions are settled by are the engine’s alone."""
    admin.ok("POST", "/projects/default/features", {"name": "a"})
    strategy = {"name": "flexibleRollout", "parameters": {"rollout": "50", "stickiness": "default"}}
    admin.ok("POST", f"{place('a')}/strategies", strategy)
    admin.ok("POST", f"{place('a')}/on")
    for user in range(30):
        plain = sent(admin, {"userId": str(user)})
        assert sent(admin, {"userId": str(user), "/default": "1", "/random": "1"}) == plain
