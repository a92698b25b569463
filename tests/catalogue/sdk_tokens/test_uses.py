"""Which applications use a token: written from what SDKs report, shown where tokens are."""

from datetime import timedelta

import pytest
import time_machine

from app.catalogue.usage import service as usage
from app.catalogue.usage.models import TOKEN_USES
from app.catalogue.usage.service import Report
from app.core.clock import utcnow
from app.core.db import unit_of_work
from tests.support.browser import Browser
from tests.support.sdks import write_reports

PATH = "/api-tokens"


def applications(admin, path=PATH):
    """The applications of each token, by the name of the token."""
    return {token["tokenName"]: token["applications"] for token in admin.ok("GET", path)["tokens"]}


def use(app, sdk, *names):
    for name in names:
        sdk.get(unleash_appname=name)
    write_reports(app)


def write(app, tokens):
    with app.app_context(), unit_of_work(writes=True):
        usage.write(Report(tokens=tokens))


@pytest.mark.parametrize(
    "report",
    [
        lambda sdk: sdk.get(unleash_appname="shop"),
        lambda sdk: sdk.post("register", {"appName": "shop", "strategies": []}),
        lambda sdk: sdk.post("metrics", {"appName": "shop", "bucket": None}),
        lambda sdk: sdk.post("metrics/bulk", {"applications": [{"appName": "shop"}]}),
    ],
    ids=["features", "register", "metrics", "bulk"],
)
def test_whatever_an_application_asks_says_that_it_uses_the_token(app, admin, sdk, report):
    assert applications(admin) == {"web 1": []}
    report(sdk)
    write_reports(app)
    assert applications(admin) == {"web 1": ["shop"]}
    assert admin.ok("GET", "/sdk-tokens/1")["applications"] == ["shop"]


def test_each_token_has_its_own_applications_by_name(app, admin, new_sdk):
    one, other = new_sdk(), new_sdk()
    use(app, one, "shop", "api")
    use(app, other, "shop")
    assert applications(admin) == {"web 1": ["api", "shop"], "web 2": ["shop"]}


def test_an_application_that_gets_another_token_is_known_with_both_at_once(app, admin, new_sdk):
    use(app, new_sdk(), "shop")
    use(app, new_sdk(), "shop")
    assert applications(admin) == {"web 1": ["shop"], "web 2": ["shop"]}


def test_without_a_name_the_token_is_used_and_no_application_known(app, admin, sdk):
    use(app, sdk, "")
    [token] = admin.ok("GET", PATH)["tokens"]
    assert (token["applications"], token["seenAt"] is None) == ([], False)


def test_use_does_not_change_the_version_that_an_edit_is_based_on(app, admin, sdk):
    version = admin.get("/sdk-tokens/1").headers["ETag"]
    use(app, sdk, "shop")
    assert admin.get("/sdk-tokens/1").headers["ETag"] == version


def test_tokens_are_found_by_the_application_in_any_case(app, admin, new_sdk):
    use(app, new_sdk(), "Checkout-API")
    new_sdk()
    assert list(applications(admin, f"{PATH}?text=checkout")) == ["web 1"]
    assert list(applications(admin, f"{PATH}?text=WEB")) == ["web 1", "web 2"]
    assert applications(admin, f"{PATH}?text=%25") == {}


def test_a_token_has_a_bounded_number_of_applications_and_keeps_those_it_knows(app, admin, sdk):
    now = utcnow()
    names = [f"app-{number:03}" for number in range(TOKEN_USES.rows + 10)]
    write(app, {(1, name): now for name in names})
    known = applications(admin)["web 1"]
    assert known == names[: TOKEN_USES.rows]
    write(app, {(1, name): now + timedelta(days=6) for name in [known[0], names[-1]]})
    later = time_machine.travel(now + timedelta(days=8), tick=False)
    with later, app.app_context(), unit_of_work(writes=True):
        usage.prune()
    assert applications(admin)["web 1"] == known[:1]


def test_use_of_a_token_that_a_restored_database_does_not_have_is_passed_over(app, admin, sdk):
    write(app, {(9_999, "shop"): utcnow(), (1, "shop"): utcnow()})
    assert applications(admin) == {"web 1": ["shop"]}


def test_what_could_not_be_written_is_written_the_next_time(app, admin, sdk, monkeypatch):
    sdk.get(unleash_appname="shop")
    with monkeypatch.context() as patch:
        patch.setattr("app.catalogue.usage.service.upsert", None)
        with pytest.raises(TypeError):
            write_reports(app)
    use(app, sdk, "api")
    assert applications(admin) == {"web 1": ["api", "shop"]}


def test_an_application_that_is_deleted_is_forgotten_here_too(app, admin, sdk):
    use(app, sdk, "shop")
    admin.ok("DELETE", "/metrics/applications/shop")
    assert applications(admin) == {"web 1": []}


# Pages


def test_the_list_links_the_first_applications_and_counts_the_others(app, browser, new_sdk):
    use(app, new_sdk(), *"abcde")
    new_sdk()
    page = browser.get("/sdk-tokens")
    assert page.has("All projects a, b, c and 2 more just now")
    assert page.has("All projects No one Never")
    assert page.links["a"] == "/applications/a"
    assert browser.get("/sdk-tokens?text=d").has("1 token matches")


def test_a_review_names_the_applications_that_revoking_would_stop(app, browser, sdk):
    use(app, sdk, "shop", "api")
    page = browser.get("/sdk-tokens/1/revoke")
    assert page.has("In the last 7 days it was used by api and shop.")


def test_the_first_contact_names_the_application_that_came_first(app, browser, sdk):
    with time_machine.travel(utcnow() - timedelta(minutes=5), tick=False):
        use(app, sdk, "shop")
    use(app, sdk, "api", "shop")
    page = browser.get("/sdk-tokens/1/contact")
    assert page.has("shop is connected. First contact 5 minutes ago.")
    assert page.links["Open shop"] == "/applications/shop"


def test_an_application_has_its_tokens_for_those_who_may_list_them(app, people, admin, new_sdk):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    everywhere, in_shop = new_sdk(), new_sdk(projects=["shop"])
    use(app, everywhere, "web")
    use(app, in_shop, "web")
    people.person("ada", role="Admin")
    people.member("olga", "shop", "Owner")
    people.person("vera")
    page = Browser(app).sign_in("ada").get("/applications/web")
    assert page.has("2 SDK tokens used in the last 7 days")
    assert page.links["web 1"] == "/sdk-tokens?text=web+1"
    page = Browser(app).sign_in("olga").get("/applications/web")
    assert page.has("1 SDK token used in the last 7 days")
    assert page.has("web 2 production Project shop just now")
    assert page.links["web 2"] == "/projects/shop/sdk-tokens?text=web+2"
    assert not Browser(app).sign_in("vera").get("/applications/web").has("SDK token")


def test_a_revoked_token_is_no_longer_shown_with_the_application(app, browser, admin, sdk):
    use(app, sdk, "web")
    admin.ok("DELETE", f"{PATH}/1")
    assert not browser.get("/applications/web").has("SDK token used")
