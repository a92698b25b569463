"""The official SDKs answer as the client specification says, on what Flagstaff delivers.

Of 279 cases, an API that refuses nonsense can be given 248. Eight of these differ because the
weights of variants here always add up to 1,000, and what they add up to decides who gets which.
For those, the engine that the SDKs share has the last word.
"""

import json

import pytest
from yggdrasil_engine.engine import UnleashEngine

from tests.delivery.specification import ENVIRONMENT, Specification, names
from tests.support.programs import run
from tests.support.servers import Server

REFUSED = {
    "06-remote-address-strategy.json": 1,  # not an address
    "09-strategy-constraints.json": 2,  # no values
    "11-strategy-constraints-edge-cases.json": 4,  # no values
    "13-constraint-operators.json": 1,  # an unknown operator
    "14-constraint-semver-operators.json": 2,  # not a version
    "15-global-constraints.json": 1,  # a segment that does not exist
    "17-dependent-features.json": 10,  # several parents, a parent with a parent, or none there
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


@pytest.fixture
def server(start) -> Server:
    return start()


@pytest.fixture
def token(server):
    body = {"tokenName": "web", "type": "client", "environment": ENVIRONMENT}
    return server.call("POST", "/api/admin/api-tokens", body).json["secret"]


@pytest.mark.parametrize("name", names())
def test_sdks_answer_as_specified(server, token, sdks, name):
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
    for language in sdks:
        for case, answer in zip(cases, run(sdks, language, "answers", job), strict=True):
            wanted = case.expected
            if case.description in OTHER_WEIGHTS:
                wanted = asked(engine, case)
            found = answer if isinstance(answer, bool) else without_new_spelling(answer)
            assert found == wanted, (language, case.description)


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
