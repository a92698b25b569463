"""SDKs and the faces that evaluate here answer as the client specification says.

Of 279 cases, an API that refuses nonsense can be given 241. Eight of these differ because the
weights of variants here always add up to 1,000, and what they add up to decides who gets which.
For those, the engine that the SDKs share has the last word.
"""

import json

import pytest
from yggdrasil_engine.engine import UnleashEngine

from tests.delivery.sdk.specification import ENVIRONMENT, Specification, names
from tests.support.programs import run
from tests.support.servers import Server

REFUSED = {
    "06-remote-address-strategy.json": 1,  # not an address
    "09-strategy-constraints.json": 2,  # no values
    "11-strategy-constraints-edge-cases.json": 4,  # no values
    "13-constraint-operators.json": 1,  # an unknown operator
    "14-constraint-semver-operators.json": 2,  # not a version
    "15-global-constraints.json": 1,  # a segment that does not exist
    "17-dependent-features.json": 17,  # several parents, none, one with a parent, or other variants
    "18-utf8-flag-names.json": 2,  # names outside the pattern
    "21-regex-constraint-operators.json": 5,  # not RE2, or inverted
    "22-cidr-constraint-operators.json": 3,  # not a network
}
"""How many cases of a file are about features that can’t be created here."""

OTHER_WEIGHTS = {
    "Feature.Variants.C should return variant1",
    "Feature.Variants.C should return variant2",
    "Feature.Variants.C should return variant3",
    "Feature.Variants.D should return variant1",
    "Feature.Variants.override.D should return variant2 for user 388",
    "Feature.flexible.rollout.custom.stickiness_100 and customField=438 yields green",
    "Feature.flexible.rollout.custom.stickiness_100 and customField=44 yields yellow",
    (
        "Feature.strategy.variants.stickiness should inherit stickiness from the strategy - second "
        "variant"
    ),
}

COMPLETED = {
    "Feature.A4 should be disabled when no user on context",
    "Feature.remoteAddress.A should not be enabled for missing remoteAddress on context",
}
"""Who names no session or address gets one here, as in Unleash."""


@pytest.fixture
def server(start) -> Server:
    return start()


def new_token(server, type):
    body = {"tokenName": type, "type": type, "environment": ENVIRONMENT}
    return server.call("POST", "/api/admin/api-tokens", body).json["secret"]


@pytest.fixture
def token(server):
    return new_token(server, "client")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", names())
def test_sdks_and_faces_answer_as_specified(server, token, sdks, by_turns, name):
    specification = Specification(name)
    refused = specification.give(lambda *sent: server.call(*sent).status)
    cases = [case for case in specification.cases if case.feature not in refused]
    assert len(list(specification.cases)) - len(cases) == REFUSED.get(name, 0)
    job = {
        "url": server.address,
        "token": token,
        "questions": [case.question for case in cases],
    }
    engine = engine_on(server, token)
    expected = [
        asked(engine, case) if case.description in OTHER_WEIGHTS else case.expected
        for case in cases
    ]
    for language in by_turns(list(sdks)):
        answers = run(sdks, language, "answers", job)
        for case, answer, wanted in zip(cases, answers, expected, strict=True):
            found = answer if isinstance(answer, bool) else without_new_spelling(answer)
            assert found == wanted, (language, case.description)
    browser = new_token(server, "frontend")
    for case, wanted in zip(cases, expected, strict=True):
        told = case.description
        if told in COMPLETED:
            continue
        assert in_a_browser(server, browser, case) == wanted, told
        assert by_ofrep(server, token, case) == in_ofrep(wanted), told
        assert in_all_flags(server, token, case) == in_ofrep(wanted), told


@pytest.mark.parametrize("name", [name for name in names() if "delta" in name])
def test_a_stream_leads_an_engine_to_what_is_specified(server, token, open_stream, name):
    stream = open_stream(server, "/api/client/streaming", Authorization=token)
    specification, engine = Specification(name), UnleashEngine()
    specification.give(lambda *sent: server.call(*sent).status)
    etag = server.call("GET", "/api/client/delta", token=token).headers["ETag"].strip('"')
    change = None
    while change is None or change.id != etag:
        change = stream.event()
        engine.take_state(json.dumps(change.data))
    for case in specification.cases:
        found = engine.check_enabled(case.feature, case.context).is_enabled
        assert found is case.expected, case.description


def in_a_browser(server, token, case):
    """What the frontend API says, as the specification writes it."""
    sent = {"context": case.context}
    toggles = server.call("POST", "/api/frontend", sent, token=token).json["toggles"]
    found = [toggle for toggle in toggles if toggle["name"] == case.feature]
    if not case.is_about_variant:
        return bool(found)
    off = {"name": "disabled", "enabled": False, "feature_enabled": False}
    return without_new_spelling(found[0]["variant"]) if found else off


def by_ofrep(server, token, case):
    """Whether OFREP calls the feature on, the name of its variant, and its value."""
    path = f"/ofrep/v1/evaluate/flags/{case.feature}"
    answer = server.call("POST", path, {"context": flat(case.context)}, token=token)
    return read(answer.json, case)


def in_all_flags(server, token, case):
    sent = {"context": flat(case.context)}
    flags = server.call("POST", "/ofrep/v1/evaluate/flags", sent, token=token).json["flags"]
    found = [flag for flag in flags if flag["key"] == case.feature]
    return read(found[0] if found else {"errorCode": "FLAG_NOT_FOUND"}, case)


def read(answer, case):
    if "errorCode" in answer:
        assert answer["errorCode"] == "FLAG_NOT_FOUND"
        return (False, "disabled", None) if case.is_about_variant else (False,)
    facts = answer["metadata"]
    if not case.is_about_variant:
        return (facts["enabled"],)
    value = answer.get("value")
    return facts["enabled"], facts["variant"], None if isinstance(value, bool) else value


def in_ofrep(wanted):
    """The answer that the specification wants, as ``read`` gives it."""
    if isinstance(wanted, bool):
        return (wanted,)
    payload = wanted.get("payload")
    value = payload and payload["value"]
    is_text = payload is None or payload["type"] in {"string", "csv"}
    return wanted["feature_enabled"], wanted["name"], value if is_text else json.loads(value)


def flat(context):
    """The context as OpenFeature has it, where properties are like all others."""
    return {**context.get("properties", {}), **context, "properties": None}


def engine_on(server, token):
    """The engine with what is delivered."""
    engine = UnleashEngine()
    answer = server.call("GET", "/api/client/features", token=token)
    engine.take_state(answer.data.decode())
    return engine


def asked(engine, case):
    found = engine.check_variant(case.feature, case.context).variant
    return json.loads(json.dumps(found, default=vars))


def without_new_spelling(variant):
    return {key: value for key, value in variant.items() if key != "featureEnabled"}
