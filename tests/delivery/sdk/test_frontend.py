"""What browsers and phones get, and how contexts are read."""

import json
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.clients import error_of
from tests.support.sdks import write_reports

FEATURES = "/projects/default/features"
NORDIC = {"contextName": "country", "operator": "IN", "values": ["NO", "SE"]}


def at(name, environment="production"):
    return f"{FEATURES}/{name}/environments/{environment}"


@pytest.fixture
def make(admin):
    """Makes a feature that is on, with one strategy."""
    admin.post("/context", {"name": "country", "stickiness": True})

    def begin(name, /, *, on=True, feature=(), **strategy):
        admin.ok("POST", FEATURES, {"name": name, **dict(feature)})
        body = {"name": "flexibleRollout"} | strategy
        admin.ok("POST", f"{at(name)}/strategies", body)
        if on:
            admin.ok("POST", f"{at(name)}/on")

    return begin


@pytest.fixture
def front(new_front):
    return new_front()


BLUE = {"name": "blue", "weight": 1000, "payload": {"type": "json", "value": '{"a":1}'}}


def test_only_what_is_on_comes_with_its_variant(front, make):
    make("cart", feature={"impressionData": True}, variants=[BLUE])
    make("shelf")
    make("late", on=False)
    make("nordic", constraints=[NORDIC])
    assert front.read() == {
        "toggles": [
            {
                "name": "cart",
                "enabled": True,
                "variant": {
                    "name": "blue",
                    "payload": {"type": "json", "value": '{"a":1}'},
                    "enabled": True,
                    "featureEnabled": True,
                    "feature_enabled": True,
                },
                "impressionData": True,
            },
            {
                "name": "shelf",
                "enabled": True,
                "variant": {
                    "name": "disabled",
                    "enabled": False,
                    "featureEnabled": True,
                    "feature_enabled": True,
                },
                "impressionData": False,
            },
        ]
    }


@pytest.mark.parametrize(
    "query",
    [
        "country=NO",
        "properties[country]=NO",
        "properties%5Bcountry%5D=NO&userId=",
        "country=SE&properties[country]=DK",
    ],
)
def test_a_context_in_the_address_may_name_properties_in_either_way(front, make, query):
    make("nordic", constraints=[NORDIC])
    answer = front.ask(f"?{query}")
    assert [toggle["name"] for toggle in answer.json["toggles"]] == ["nordic"]
    assert front.ask("?country=DK").json == {"toggles": []}


@pytest.mark.parametrize(
    ("context", "is_on"),
    [
        ({"properties": {"country": "NO"}}, True),
        ({"country": "NO"}, True),
        ({"country": "", "properties": {"country": "SE"}}, True),
        ({"country": ["NO"]}, False),
        ({"country": {"NO": 1}}, False),
        ({"country": None, "properties": None}, False),
        ({"properties": "NO"}, False),
        ({"properties": ["NO"]}, False),
    ],
)
def test_a_context_that_is_sent_may_name_properties_in_either_way(front, make, context, is_on):
    make("nordic", constraints=[NORDIC])
    assert front.on(**context) == ({"nordic"} if is_on else set())


@pytest.mark.parametrize(
    ("value", "text"),
    [(7, "7"), (1.5, "1.5"), (10.0, "10"), (1e21, "1e+21"), (1e-7, "1e-7"), (True, "true")],
)
def test_numbers_and_booleans_are_compared_as_javascript_writes_them(front, make, value, text):
    make("cart", constraints=[NORDIC | {"values": [text]}])
    assert front.on(country=value) == {"cart"}


@pytest.mark.parametrize(
    "body", [b"", b"x", b"[]", b'{"context": []}', b'{"context": "a"}', b"[" * 100_000]
)
def test_a_body_that_is_no_context_is_400(front, body):
    assert error_of(front.ask(method="POST", data=body))[0] == 400


HOSTILE = [
    {"userId": "\ud800"},
    {"userId": "a\0b", "sessionId": "\0"},
    {"country": "\udfff\ud800", "currentTime": "\ud800"},
    {f"p{number}": "x" for number in range(500)},
    {"properties": {f"p{number}": "x" for number in range(500)}},
    {"other": "x" * 900_000},
    {"userId": {"a": {"b": []}}, "properties": {"country": [{}]}},
    {"userId": 10**400, "country": -(10**400)},
    {"userId": 1e308, "currentTime": 1e308},
    {"currentTime": "garbage"},
    {"currentTime": 1_700_000_000_000},
    {"currentTime": "2024-01-01"},
    {"remoteAddress": "::ffff:1.2.3.4%eth0"},
    {"__proto__": {"a": 1}, "constructor": "x"},
    {"": "x", "properties": {"": ""}},
]


@pytest.mark.parametrize("context", HOSTILE, ids=range(len(HOSTILE)))
def test_no_context_is_too_strange_to_be_answered(front, make, context):
    make("half", parameters={"rollout": 50})
    make("nordic", constraints=[NORDIC | {"operator": "NOT_IN", "values": ["DK"]}])
    make("dated", constraints=[date("DATE_AFTER", datetime.now(UTC) - timedelta(days=900))])
    assert "nordic" in front.on(**context)
    assert front.flag("nordic", **context).status_code == 200
    assert front.flags("", {"context": context}).status_code == 200


def test_a_value_that_features_look_at_has_a_length(front, make):
    make("nordic", constraints=[NORDIC])
    answer = front.post({"context": {"country": "x" * 5_000}})
    assert error_of(answer) == (400, "ValidationError")
    assert "country" in answer.json["message"]


def date(operator, at):
    return {"contextName": "currentTime", "operator": operator, "value": at.isoformat()}


def test_the_time_is_now_or_what_the_context_says(front, make):
    now = datetime.now(UTC)
    make("started", constraints=[date("DATE_AFTER", now - timedelta(hours=1))])
    make("ending", constraints=[date("DATE_BEFORE", now + timedelta(hours=1))])
    assert front.on() == {"started", "ending"}
    assert front.on(currentTime=(now - timedelta(days=1)).isoformat()) == {"ending"}
    assert front.on(currentTime=(now + timedelta(days=2)).date().isoformat()) == {"started"}
    assert front.on(currentTime="garbage") == set()


@pytest.mark.slow
def test_a_known_context_gets_another_answer_when_a_date_has_passed(front, make):
    start = datetime.now(UTC) + timedelta(seconds=1)
    make("late", constraints=[date("DATE_AFTER", start)])
    before = front.ask()
    assert before.json == {"toggles": []}
    known = {"If-None-Match": before.headers["ETag"]}
    assert front.ask(headers=known).status_code == 304
    time.sleep((start - datetime.now(UTC)).total_seconds())
    time_past = front.ask(headers=known)
    assert [toggle["name"] for toggle in time_past.json["toggles"]] == ["late"]


def test_the_address_of_who_asks_is_the_default(front, make):
    make("here", name="remoteAddress", parameters={"IPs": "127.0.0.0/8"})
    assert front.on() == {"here"}
    assert front.on(remoteAddress="") == {"here"}
    assert front.on(remoteAddress="10.0.0.1") == set()


def answers(front, **context):
    return {json.dumps(front.read(**context)) for _ in range(60)}


VARIANTS = [
    {"name": name, "weight": 500, "weightType": "variable", "stickiness": "default"}
    for name in ("blue", "green")
]


@pytest.mark.parametrize(
    "strategy",
    [
        {"parameters": {"rollout": 50, "stickiness": "random"}},
        {"parameters": {"rollout": 50}},
        {"parameters": {"rollout": 50, "stickiness": "sessionId"}},
        {"name": "gradualRolloutRandom", "parameters": {"percentage": 50}},
        {"name": "gradualRolloutSessionId", "parameters": {"percentage": 50}},
        {"variants": VARIANTS},
        {"variants": [one | {"stickiness": "random"} for one in VARIANTS]},
        {"variants": [one | {"stickiness": "country"} for one in VARIANTS]},
    ],
    ids=str,
)
def test_what_is_random_is_never_remembered(front, make, strategy):
    make("steady")
    make("dice", **strategy)
    assert len(answers(front)) > 1


@pytest.mark.parametrize(
    ("strategy", "context"),
    [
        ({"parameters": {"rollout": 50}}, {"userId": "1"}),
        ({"parameters": {"rollout": 50}}, {"sessionId": "1"}),
        ({"parameters": {"rollout": 50, "stickiness": "country"}}, {"country": "NO"}),
        ({"parameters": {"rollout": 100, "stickiness": "random"}}, {}),
        ({"variants": VARIANTS}, {"userId": "1"}),
    ],
    ids=str,
)
def test_who_is_known_always_gets_the_same(front, make, strategy, context):
    make("sticky", **strategy)
    assert len(answers(front, **context)) == 1


def test_a_random_child_or_parent_makes_the_other_random_too(front, make, admin):
    make("dice", parameters={"rollout": 50, "stickiness": "random"})
    make("child")
    admin.ok("POST", f"{FEATURES}/child/dependencies", {"feature": "dice"})
    assert len({"child" in front.on() for _ in range(60)}) == 2


def test_what_is_unchanged_is_not_sent_again(front, make, admin):
    make("cart")
    first = front.ask("?userId=1")
    assert first.headers["Cache-Control"] == "no-cache"
    known = {"If-None-Match": first.headers["ETag"]}
    assert front.ask("?userId=1", headers=known).status_code == 304
    assert front.ask("?userId=2", headers=known).status_code == 304  # it is of the content
    posted = front.post({"context": {}}, headers=known)
    assert (posted.status_code, posted.data) == (304, b"")
    packed = front.ask("?userId=1", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    admin.ok("POST", f"{at('cart')}/off")
    assert front.ask("?userId=1", headers=known).json == {"toggles": []}


def test_a_token_gets_the_features_of_its_projects_alone(front, new_front, make, admin):
    make("cart")
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop", "environments": ["production"]})
    admin.ok("POST", "/projects/shop/features", {"name": "shelf"})
    admin.ok("POST", "/projects/shop/features/shelf/environments/production/on")
    assert front.on() == {"cart", "shelf"}
    assert new_front(projects=["shop"]).on() == {"shelf"}
    assert new_front(environment="development").on() == set()


@pytest.mark.parametrize("token", ["", "nonsense", "*:production.nope"])
def test_an_unknown_token_is_401(app, front, token):
    front.token = token
    assert error_of(front.ask()) == (401, "AuthenticationRequired")


def test_a_token_for_servers_is_403_in_browsers(new_front, admin):
    answer = new_front(type="client").ask()
    assert error_of(answer) == (403, "NoAccessError")
    assert "type frontend" in answer.json["message"]
    assert error_of(new_front(type="client").ask(headers={"Authorization": admin.token}))[0] == 403


@pytest.mark.parametrize(
    ("method", "path", "status", "allowed"),
    [
        ("PUT", "", 405, "GET, HEAD, POST"),
        ("GET", "/client/features", 405, ""),
        ("GET", "/client/metrics", 405, "POST"),
        ("GET", "/all", 404, None),
    ],
)
def test_other_addresses_and_methods(front, *, method, path, status, allowed):
    answer = front.ask(path, method)
    assert (error_of(answer)[0], answer.headers.get("Allow")) == (status, allowed)


def test_a_head_request_gets_the_same_headers_and_no_body(front, make):
    make("cart")
    answer = front.ask(method="HEAD")
    assert (answer.status_code, answer.data) == (200, b"")
    assert answer.headers["ETag"] == front.ask().headers["ETag"]


def test_browsers_report_what_they_showed_as_one_instance(app, front, make, admin):
    make("cart")
    bucket = {"toggles": {"cart": {"yes": 3, "no": 1, "variants": {"disabled": 3}}}}
    for connection in ("a", "b"):
        body = {"appName": "web", "instanceId": "browser", "connectionId": connection}
        answer = front.ask("/client/metrics", "POST", json=body | {"bucket": bucket})
        assert (answer.status_code, answer.data) == (200, b"")
    assert front.ask("/client/register", "POST", json={"appName": "web"}).status_code == 200
    write_reports(app)
    found = admin.ok("GET", "/client-metrics/features/cart")
    assert found["seenApplications"] == ["web"]
    instances = admin.ok("GET", "/metrics/instances/web/environment/production")["instances"]
    assert [one["instanceId"] for one in instances] == ["browser"]
