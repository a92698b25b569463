"""What clients written for Unleash send, and a strict server would refuse."""

import gzip
import json

import pytest

from tests.support.sdks import SPEC, write_reports


@pytest.mark.parametrize(
    "path", ["/api/client/features/", "/api//client/features", "//api/client//features"]
)
def test_addresses_that_clients_join_with_too_many_slashes_are_read(sdk, path):
    headers = {"Authorization": sdk.token} | SPEC
    raw = {"PATH_INFO": path}  # a client would take the first part for the name of a host
    answer = sdk.app.test_client().get("/", headers=headers, environ_overrides=raw)
    assert (answer.status_code, answer.json) == (200, sdk.read())


def test_a_compressed_report_is_counted(app, sdk, admin):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    toggles = {"cart": {"yes": 3, "no": 1}}
    body = json.dumps({"appName": "shop", "bucket": {"toggles": toggles}}).encode()
    answer = sdk.post("metrics", gzip.compress(body), **{"Content-Encoding": "gzip"})
    assert answer.status_code == 202
    write_reports(app)
    [hour] = admin.ok("GET", "/client-metrics/features/cart")["lastHourUsage"]
    assert (hour["yes"], hour["no"]) == (3, 1)


def test_a_report_that_is_not_what_it_says_or_too_large_is_refused(sdk):
    compressed = {"Content-Encoding": "gzip"}
    assert sdk.post("metrics", b"{}", **compressed).status_code == 400
    bomb = gzip.compress(b" " * 5_000_000)
    assert sdk.post("metrics", bomb, **compressed).status_code == 413
