"""SDK tokens that the operator chose are valid from the first start on."""

import pytest

pytestmark = pytest.mark.slow

SECRET = "s" * 40
TOKEN = f"default:development.{SECRET}"
FEATURES = "/api/client/features"
TOKENS = "/api/admin/api-tokens"


def test_an_application_reads_with_it_on_the_first_start_and_after_the_next(start):
    server = start(BOOTSTRAP_SDK_TOKENS=TOKEN)
    assert server.call("GET", FEATURES, token=TOKEN).status == 200
    assert server.end() == 0
    again = start(BOOTSTRAP_SDK_TOKENS=f"{TOKEN},frontend=*:production.{SECRET}")
    assert again.call("GET", FEATURES, token=TOKEN).status == 200
    assert again.call("GET", "/api/frontend", token=f"*:production.{SECRET}").status == 200
    found = again.call("GET", TOKENS).json["tokens"]
    assert [(one["tokenName"], one["type"]) for one in found] == [
        ("bootstrap *:production (ssss)", "frontend"),
        ("bootstrap default:development (ssss)", "client"),
    ]


def test_what_was_revoked_stays_so(start):
    server = start(BOOTSTRAP_SDK_TOKENS=TOKEN)
    [token] = server.call("GET", TOKENS).json["tokens"]
    assert server.call("DELETE", f"{TOKENS}/{token['id']}").status == 200
    assert server.end() == 0
    again = start(BOOTSTRAP_SDK_TOKENS=TOKEN)
    assert again.call("GET", FEATURES, token=TOKEN).status == 401


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("shop:development", "There is no active project 'shop'."),
        ("default:nowhere", "There is no environment 'nowhere'."),
    ],
)
def test_one_for_what_is_not_there_is_named_at_the_start_and_the_rest_works(start, place, why):
    server = start(BOOTSTRAP_SDK_TOKENS=f"{place}.{SECRET},{TOKEN}")
    assert server.call("GET", FEATURES, token=TOKEN).status == 200
    assert server.call("GET", FEATURES, token=f"{place}.{SECRET}").status == 401
    line = f"The SDK token for {place} is not valid yet. {why}"
    assert line in server.log.read_text().splitlines()
