"""Event streams of OFREP: providers hear when they must ask again."""

import time

import pytest

from app.core.streaming import STREAM
from tests.support.servers import serving_with, until

FLAGS = "/ofrep/v1/evaluate/flags"
CART = "/api/admin/projects/default/features/cart/environments/production"


@pytest.fixture
def server(start):
    return start(PROCESSES="2")


def new_token(server):
    server.call("POST", "/api/admin/projects/default/features", {"name": "cart"})
    body = {"tokenName": "web", "type": "frontend", "environment": "production"}
    return server.call("POST", "/api/admin/api-tokens", body).json["secret"]


@pytest.fixture
def token(server):
    return new_token(server)


def switch(server, way):
    assert server.call("POST", f"{CART}/{way}").status == 200


def ask(server, token, query=""):
    answer = server.call("POST", FLAGS + query, {"context": {}}, token=token)
    assert answer.status == 200
    return answer


def address(server, token):
    """Where a client of OFREP must listen."""
    [stream] = ask(server, token).json["eventStreams"]
    assert (stream["type"], stream["inactivityDelaySec"]) == ("sse", 120)
    return stream["endpoint"]["requestUri"]


def test_a_stream_says_when_to_ask_again_and_the_answer_is_what_it_spoke_of(
    server, token, open_stream
):
    stream = open_stream(server, address(server, token))
    first = stream.event()
    assert (first.name, first.data["type"]) == ("message", "refetchEvaluation")
    for way in ("on", "off", "on"):
        switch(server, way)
        notice = stream.event()
        assert notice.name == "message"
        assert notice.data["type"] == "refetchEvaluation"
        assert notice.id == notice.data["etag"]
        assert abs(notice.data["lastModified"] - time.time()) < 60
        query = f"?flagConfigEtag={notice.data['etag']}"
        query += f"&flagConfigLastModified={notice.data['lastModified']}"
        found = ask(server, token, query).json["flags"]
        assert [flag["key"] for flag in found] == (["cart"] if way == "on" else [])


def test_who_comes_back_gets_an_event_only_if_something_has_changed(server, token, open_stream):
    uri = address(server, token)
    known = open_stream(server, uri).event().id
    back = open_stream(server, uri, Last_Event_ID=known)
    switch(server, "on")
    assert back.event().id != known
    assert open_stream(server, uri, Last_Event_ID=known).event().id != known


def test_the_address_has_a_token_of_its_own_that_no_log_shows(server, token, open_stream):
    uri = address(server, token)
    assert token not in uri
    assert address(server, token) == uri
    assert open_stream(server, uri).status == 200
    for wrong in (uri[:-2], uri + "x", uri.replace("token=", "token=9"), uri.partition("?")[0]):
        assert open_stream(server, wrong).status == 401, wrong
    assert server.call("GET", "/api/client/streaming", token=uri.rpartition("=")[2]).status == 401
    assert server.end() == 0
    log = server.log.read_text()
    assert "/ofrep/v1/stream" in log
    assert "token=" not in log


def test_addresses_are_replaced_and_end_of_themselves(start, open_stream):
    server = start(command=serving_with("app.delivery.sdk.ofrep_streams", PERIOD_SECONDS=2))
    token = new_token(server)
    first = ask(server, token)
    uri = first.json["eventStreams"][0]["endpoint"]["requestUri"]
    stream = open_stream(server, uri)
    stream.event()
    until(lambda: address(server, token) != uri)
    # Who kept the features would keep the old address too, so they get a whole answer.
    assert ask(server, token).headers["ETag"] != first.headers["ETag"]
    until(lambda: open_stream(server, uri).status == 401)
    switch(server, "on")
    stream.event()


def test_a_stream_ends_when_the_sdk_token_is_revoked(server, token, open_stream):
    uri = address(server, token)
    stream = open_stream(server, uri)
    stream.event()
    server.call("DELETE", f"/api/admin/api-tokens/{token}")
    stream.wait_for_end()
    assert open_stream(server, uri).status == 401


def test_pages_of_allowed_sites_may_listen(server, token, open_stream):
    uri = address(server, token)
    stream = open_stream(server, uri, Origin="https://shop.example.com")
    assert stream.headers["Access-Control-Allow-Origin"] == "*"
    assert server.call("POST", uri, {}, token=None).status == 405


def test_the_address_has_the_prefix_of_this_server(new_front):
    front = new_front()
    behind = {"SCRIPT_NAME": "/flags", STREAM: print}
    headers = {"Authorization": front.token}
    client = front.app.test_client()
    answer = client.post(FLAGS, data=b"{}", headers=headers, environ_overrides=behind)
    [stream] = answer.json["eventStreams"]
    assert stream["endpoint"]["requestUri"].startswith("/flags/ofrep/v1/stream?token=")


def test_other_servers_offer_no_streams(new_front):
    assert "eventStreams" not in new_front().flags().json


def test_who_hears_of_a_change_that_cannot_be_read_gets_an_error_and_asks_again(new_front, away):
    front = new_front()
    front.flags()
    away(is_away=True)
    assert front.flags().status_code == 200
    assert front.flags("?flagConfigEtag=newer").status_code == 503
    away(is_away=False)
    assert front.flags("?flagConfigEtag=newer").status_code == 200
