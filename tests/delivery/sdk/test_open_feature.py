"""Providers of OpenFeature ask by OFREP, each as its own language does."""

import pytest

from tests.support.programs import run

FEATURES = "/api/admin/projects/default/features"
VALUES = {
    "text": ("string", "blue sky"),
    "count": ("number", "7"),
    "share": ("number", "0.5"),
    "look": ("json", '{"rows": [1, 2]}'),
}


@pytest.fixture
def server(start):
    return start()


@pytest.fixture
def token(server):
    make(server, "plain")
    make(server, "closed", on=False)
    make(server, "half", parameters={"rollout": 50})
    nordic = {"contextName": "country", "operator": "IN", "values": ["NO"]}
    server.call("POST", "/api/admin/context", {"name": "country"})
    make(server, "nordic", constraints=[nordic])
    for name, (kind, value) in VALUES.items():
        payload = {"type": kind, "value": value}
        make(server, name, variants=[{"name": "one", "weight": 1000, "payload": payload}])
    make(server, "held-back", on=False, variants=[{"name": "one", "payload": payload}])
    body = {"tokenName": "web", "type": "client", "environment": "production"}
    return server.call("POST", "/api/admin/api-tokens", body).json["secret"]


def make(server, name, *, on=True, **strategy):
    server.call("POST", FEATURES, {"name": name})
    place = f"{FEATURES}/{name}/environments/production"
    body = {"name": "flexibleRollout"} | strategy
    assert server.call("POST", f"{place}/strategies", body).status == 200
    if on:
        assert server.call("POST", f"{place}/on").status == 200


USER = {"targetingKey": "1"}
QUESTIONS = [
    ("plain", False, USER, (True, "enabled", "STATIC", None)),
    ("closed", True, USER, (False, "disabled", "DISABLED", None)),
    ("nordic", False, {"country": "NO"}, (True, "enabled", "TARGETING_MATCH", None)),
    ("nordic", True, {"country": "DK"}, (False, "disabled", "TARGETING_MATCH", None)),
    ("text", "x", USER, ("blue sky", "one", "STATIC", None)),
    ("count", 3, USER, (7, "one", "STATIC", None)),
    ("share", 1.5, USER, (0.5, "one", "STATIC", None)),
    ("look", {"a": 1}, USER, ({"rows": [1, 2]}, "one", "STATIC", None)),
    ("unknown", "mine", USER, ("mine", None, "ERROR", "FLAG_NOT_FOUND")),
    ("plain", "mine", USER, ("mine", None, "ERROR", "TYPE_MISMATCH")),
]


@pytest.mark.parametrize("language", ["node", "python"])
def test_values_come_in_their_types_with_reasons(server, token, sdks, language):
    questions = [{"key": key, "default": d, "context": c} for key, d, c, _ in QUESTIONS]
    job = {"url": server.address, "token": token, "questions": questions}
    answers = run(sdks, language, "open_feature", job)
    for (key, _, _, wanted), found in zip(QUESTIONS, answers, strict=True):
        value, variant, reason, code = wanted
        assert (found["value"], found["reason"], found["errorCode"]) == (value, reason, code), key
        assert code or found["variant"] == variant, key
