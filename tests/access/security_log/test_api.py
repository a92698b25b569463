"""Reading the security log over the API, and its figures."""

from datetime import UTC, datetime

import pytest
import time_machine

from tests.support.clients import error_of, problems_of
from tests.support.security_log import Log
from tests.support.sign_in import sign_in
from tests.web.health.test_metrics import read as figures

PATH = "/security-log"


def test_an_entry_has_these_fields(log: Log, admin, viewer):
    viewer.get("/events")
    found = admin.ok("GET", PATH)
    assert list(found) == ["version", "entries", "total", "nextBefore"]
    [entry] = found["entries"]
    names = ["id", "at", "kind", "accountId", "name", "ip", "tokenId", "detail", "times"]
    assert list(entry) == names


def test_pages_follow_each_other_without_gap_or_overlap(admin, viewer, editor):
    for client in (viewer, editor) * 4:
        client.get("/user-admin")
    everything = [entry["id"] for entry in admin.ok("GET", PATH)["entries"]]
    assert everything == sorted(everything, reverse=True)
    seen, query = [], "limit=3"
    while query:
        page = admin.ok("GET", f"{PATH}?{query}")
        assert page["total"] == len(everything) == 8
        seen += [entry["id"] for entry in page["entries"]]
        query = page["nextBefore"] and f"limit=3&before={page['nextBefore']}"
    assert seen == everything


def test_it_is_narrowed_by_kind_account_address_and_time(log: Log, visitor, viewer, ada):
    with time_machine.travel(datetime(2026, 1, 2, tzinfo=UTC), tick=False):
        sign_in(visitor, "ada", "wrong")
        sign_in(visitor, "ada")
    viewer.get("/events", environ_base={"REMOTE_ADDR": "192.0.2.7"})
    refused, signed_in, failed = (entry["id"] for entry in log())
    for filters, found in (
        ({"kind": "sign-in"}, [signed_in]),
        ({"account": ada}, [signed_in, failed]),
        ({"ip": "192.0.2.7"}, [refused]),
        ({"to": "2026-01-03T00:00:00Z"}, [signed_in, failed]),
        ({"from": "2026-01-03T00:00:00Z"}, [refused]),
        ({"account": ada, "ip": "192.0.2.7"}, []),
    ):
        assert [entry["id"] for entry in log(**filters)] == found


@pytest.mark.parametrize("bad", ["kind=x", "limit=0", "before=x", "account=1.5", "from=2027"])
def test_a_filter_must_make_sense(admin, bad):
    assert list(problems_of(admin.get(f"{PATH}?{bad}"))) == [f"?{bad.split('=')[0]}"]


def test_only_admins_can_read_it(editor):
    assert error_of(editor.get(PATH)) == (403, "NoAccessError")


def test_the_figures_count_each_kind(app, visitor, viewer, ada):
    before = figures(app)
    sign_in(visitor, "ada", "wrong")
    sign_in(visitor, "ada")
    viewer.get("/events")
    viewer.get("/events")
    after = figures(app)
    for kind, more in (("sign-in-failed", 1), ("sign-in", 1), ("access-refused", 2)):
        name = f'flagstaff_security_events_total{{kind="{kind}"}}'
        assert after[name] - before.get(name, 0) == more
