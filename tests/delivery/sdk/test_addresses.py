"""Whose address counts for features that go by it, with and without a trusted proxy."""

import urllib.request

import pytest

FEATURES = "/api/admin/projects/default/features"
AWAY = "203.0.113.9"


@pytest.mark.parametrize(
    ("trusted", "forwarded", "is_on"),
    [
        ("127.0.0.1", AWAY, True),
        ("127.0.0.0/8, 10.0.0.0/8", f"192.0.2.1, {AWAY}, 10.0.0.7,10.0.0.8", True),
        ("127.0.0.0/8", f"{AWAY}, 10.0.0.7", False),
        ("10.0.0.0/8", AWAY, False),
        (None, AWAY, False),
    ],
)
def test_a_proxy_names_the_address_only_if_it_is_trusted(start, trusted, forwarded, is_on):
    server = start(**({"TRUSTED_PROXY": trusted} if trusted else {}))
    server.call("POST", FEATURES, {"name": "near"})
    place = f"{FEATURES}/near/environments/production"
    strategy = {"name": "remoteAddress", "parameters": {"IPs": AWAY}}
    assert server.call("POST", f"{place}/strategies", strategy).status == 200
    assert server.call("POST", f"{place}/on").status == 200
    body = {"tokenName": "page", "type": "frontend", "environment": "production"}
    token = server.call("POST", "/api/admin/api-tokens", body).json["secret"]
    for method, path, data in (
        ("GET", "/api/frontend", None),
        ("POST", "/ofrep/v1/evaluate/flags", b"{}"),
    ):
        headers = {"Authorization": token, "X-Forwarded-For": forwarded}
        request = urllib.request.Request(server.address + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            assert (b'"near"' in answer.read()) is is_on
