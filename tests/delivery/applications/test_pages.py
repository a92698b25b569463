"""The pages about applications and the use of features, all without scripts."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests.support.browser import Browser, Page, text_of
from tests.support.sdks import write_reports
from tests.support.statements import settled

FEATURES = "/projects/default/features"
CART = f"{FEATURES}/checkout.cart"
USAGE = f"{CART}/usage"
NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", FEATURES, {"name": "checkout.cart"})


def ask(sdk, app, counts, name="web-shop", sdk_version="unleash-node-sdk:6.12.1"):
    """Have an application report: counts by feature, (yes, no) or with variants."""
    toggles = {
        feature: dict(zip(("yes", "no", "variants"), found, strict=False))
        for feature, found in counts.items()
    }
    body = {"appName": name, "instanceId": "1", "bucket": {"toggles": toggles}}
    sdk.post("metrics", body, **{"unleash-sdk": sdk_version})
    write_reports(app)


def test_without_applications_the_list_says_how_one_gets_there(browser):
    page = browser.get("/applications")
    assert page.has("An application appears here when it asks for features with an SDK token.")


def test_the_list_tells_what_applications_run_with(app, browser, sdk):
    ask(sdk, app, {"checkout.cart": (3, 1)})
    ask(sdk, app, {"checkout.crat": (0, 1)}, "api", "unleash-java-sdk:9.2.0")
    page = browser.get("/applications")
    assert page.has("2 applications")
    assert page.has("web-shop production 1 Node 6.12.1 just now")
    assert page.has("Java 9.2.0 just now Outdated SDK, update to 12 1 unknown feature")
    assert browser.get("/applications?sdk=outdated").has("1 application matches")
    assert browser.get("/applications?query=nope").has("No application matches")


def test_the_list_is_sorted_by_its_heads(app, browser, sdk):
    for name in ("web-shop", "api"):
        ask(sdk, app, {"checkout.cart": (3, 1)}, name)
    page = browser.get("/applications")
    assert page.words.index("api") < page.words.index("web-shop")
    page = browser.get(f"/applications{page.links['Name']}")
    assert page.words.index("web-shop") < page.words.index("api production")


def test_unknown_names_come_with_what_they_may_have_meant(app, admin, people, browser, sdk):
    ask(sdk, app, {"checkout.crat": (0, 1), "update": (0, 1)})
    page = browser.get("/applications")
    assert page.has("2 unknown features")
    assert page.has(
        "checkout.crat by web-shop in production, just now. Did you mean checkout.cart?"
    )
    assert page.has("update by web-shop in production, just now. Create feature")
    admin.ok("PUT", "/projects/default", {"name": "Default", "mode": "private"})
    people.person("grace")
    viewer = Browser(app).sign_in("grace")
    assert viewer.get("/applications").has("checkout.crat by web-shop")
    assert not viewer.get("/applications").has("checkout.cart")


def test_an_unknown_name_leads_to_the_form_of_a_new_feature_with_the_name(app, browser, sdk):
    ask(sdk, app, {"checkout.crat": (0, 1)})
    for path in ("/applications", "/applications/web-shop"):
        page = browser.get(path)
        form = browser.follow(browser.get(page.links["Create feature… checkout.crat"]))
        assert form.h1 == "New feature"
    done = browser.follow(browser.submit(form))
    assert "Feature checkout.crat created." in done.messages
    assert not browser.get("/applications").has("unknown feature")


def test_where_a_feature_can_be_created_in_several_projects_one_is_chosen(app, people, admin):
    for id in ("shop", "blog", "old"):
        admin.ok("POST", "/projects", {"id": id, "name": id.capitalize()})
    admin.ok("DELETE", "/projects/old")
    people.member("mia", "shop")
    people.person("boss", role="Admin")
    member = Browser(app).sign_in("mia")
    page = Browser(app).sign_in("boss").get("/new-feature?name=cart.v2")
    assert page.h1 == "New feature cart.v2"
    assert {"Blog", "Default", "Shop"} <= page.links.keys()
    assert "Old" not in page.links
    assert page.links["Shop"] == "/projects/shop/new-feature?name=cart.v2"
    assert member.follow(member.get("/new-feature?name=cart.v2")).has("cart.v2")


def test_those_who_may_create_no_feature_get_no_link(app, people, sdk):
    ask(sdk, app, {"checkout.crat": (0, 1)})
    people.person("vera")
    viewer = Browser(app).sign_in("vera")
    assert not viewer.get("/applications").has("Create feature")
    assert not viewer.get("/applications/web-shop").has("Create feature")
    assert viewer.get("/new-feature").has("No project to create it in")


def test_archived_features_that_are_asked_for_since_are_listed(app, admin, browser, sdk):
    ask(sdk, app, {"checkout.cart": (3, 1)})
    admin.ok("POST", "/projects/default/archive", {"features": ["checkout.cart"]})
    assert not browser.get("/applications").has("Archived, but still checked")
    ask(sdk, app, {"checkout.cart": (0, 1)})
    page = browser.get("/applications")
    assert page.has("Archived, but still checked")
    assert page.has("checkout.cart in default, just now")
    assert browser.get("/applications/web-shop").has("checkout.cart Archived, still checked")


def test_an_application_says_what_it_asks_for_and_where_it_runs(app, admin, browser, sdk):
    admin.ok("POST", f"{FEATURES}/checkout.cart/environments/production/on")
    ask(sdk, app, {"checkout.cart": (3, 1), "checkout.crat": (0, 1), "keys": (0, 1)})
    page = browser.get("/applications/web-shop")
    assert page.h1 == "web-shop"
    assert page.has("Connected 1 instance now Last seen just now")
    assert page.has("It checked 1 feature in the last 24 hours. 2 don’t exist.")
    assert page.has("Checks per hour in production")
    assert page.has("checkout.cart On in production 4 75%")
    assert page.has("checkout.crat Doesn’t exist Did you mean checkout.cart? Create feature…")
    assert page.has("keys Doesn’t exist Create feature…")
    assert page.has("production 1 Node 6.12.1 just now")


def test_the_features_of_an_application_come_page_by_page_and_by_name(app, admin, browser, sdk):
    names = [f"shop.{number:02}" for number in range(30)]
    for name in names:
        admin.ok("POST", FEATURES, {"name": name})
    ask(sdk, app, dict.fromkeys(names, (0, 1)) | {"nowhere": (0, 1)})
    first = browser.get("/applications/web-shop")
    assert first.has("It checked 30 features in the last 24 hours. 1 doesn’t exist.")

    def rows(page: Page) -> list[str]:
        return [text_of(name) for name in page.select("tr th .mono")]

    assert rows(first) == ["nowhere", *names[:25]]
    assert rows(browser.get("/applications/web-shop" + first.links["Next 5"])) == names[25:]
    assert rows(browser.get("/applications/web-shop?text=OP.07")) == ["shop.07"]
    assert browser.get("/applications/web-shop?text=nope").has("No feature matches")


def test_an_application_says_which_features_its_token_does_not_read(app, admin, browser, new_sdk):
    admin.ok("POST", "/projects", {"id": "vault", "name": "Vault"})
    sdk = new_sdk(projects=["vault"])
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1), tick=False):
        ask(sdk, app, {"checkout.cart": (0, 1)})
    page = browser.get("/applications/web-shop")
    assert page.has("It checked 0 features in the last 24 hours. 1 can’t be read with its token.")
    assert page.has("checkout.cart Its token doesn’t read project default –")
    assert not browser.get("/applications").has("unknown feature")


def test_an_application_that_is_silent_says_so(app, browser, sdk):
    with time_machine.travel(NOW, tick=False):
        ask(sdk, app, {"checkout.cart": (3, 1)})
    page = browser.get("/applications/web-shop")
    assert page.has("Not seen in 24 hours 0 instances now")
    assert page.has("It checked 0 features in the last 24 hours.")


def test_an_admin_deletes_an_application(app, people, browser, sdk):
    ask(sdk, app, {"checkout.cart": (3, 1)})
    people.person("grace")
    viewer = Browser(app).sign_in("grace")
    assert not viewer.get("/applications/web-shop").has("Delete this application")
    page = browser.get("/applications/web-shop")
    done = browser.follow(browser.submit(page, form="Delete application web-shop"))
    assert done.messages == ["Application web-shop deleted."]
    assert done.has("No applications yet")


def test_a_feature_says_how_often_it_was_on_and_for_whom(app, browser, sdk):
    ask(sdk, app, {"checkout.cart": (3, 1, {"blue": 2, "red": 1})})
    ask(sdk, app, {"checkout.cart": (0, 4)}, "api")
    page = browser.get(USAGE)
    assert page.has("37.5% of checks said yes in production in the last 48 hours: 3 of 8.")
    assert page.has("3 yes and 5 no in 48 hours. No checks in 47 hours.")
    assert page.has("blue 66.7% 2 red 33.3% 1")
    assert page.has("2 applications ask for it in production")
    assert page.has("web-shop 3 1 just now")
    page = browser.get(f"{USAGE}?application=api&period=24h")
    assert page.has("0% of checks said yes in production in the last 24 hours: 0 of 4.")
    assert not page.has("blue")


SPLIT = {"one-step": 500, "wallet": 300, "control": 200}


def split(admin, weights, **strategy):
    variants = [
        {"name": name, "weight": weight, "weightType": "fix", "stickiness": "default"}
        for name, weight in weights.items()
    ]
    variants[-1]["weightType"] = "variable"
    path = f"{FEATURES}/checkout.cart/environments/production/strategies"
    admin.ok("POST", path, {"name": "flexibleRollout", "variants": variants, **strategy})


def test_variants_that_were_given_are_next_to_what_was_planned(app, admin, browser, sdk):
    ask(sdk, app, {"checkout.cart": (9, 0, {"control": 2, "one-step": 6, "old": 1})})
    assert browser.get(USAGE).has("Given Times one-step 66.7% 6 control 22.2% 2 old 11.1% 1")
    split(admin, SPLIT)
    beside = "Given Planned Times one-step 66.7% 50% 6 control 22.2% 20% 2 old 11.1% 0% 1"
    assert browser.get(USAGE).has(f"{beside} wallet 0% 30% 0")
    split(admin, SPLIT, disabled=True)
    split(admin, {"new": 1_000}, disabled=True)
    assert browser.get(USAGE).has(beside)
    split(admin, {"new": 1_000})
    page = browser.get(USAGE)
    assert page.has("Strategies plan different shares")
    assert not page.has("Planned")


PRODUCTION = f"{CART}/environments/production"


def change_the_share(admin):
    """From 10% to 40%, and switch it on."""
    rollout = {"name": "flexibleRollout", "parameters": {"rollout": "10"}}
    strategy = admin.ok("POST", f"{PRODUCTION}/strategies", rollout)["id"]
    rollout["parameters"]["rollout"] = "40"
    admin.ok("PUT", f"{PRODUCTION}/strategies/{strategy}", rollout)
    admin.ok("POST", f"{PRODUCTION}/on")


def test_the_chart_says_what_changed_in_which_hour(app, admin, browser, people, sdk):
    soon = datetime.now(UTC).replace(minute=0) + timedelta(hours=1)
    with time_machine.travel(soon):
        ask(sdk, app, {"checkout.cart": (3, 5)})
        change_the_share(admin)
    with time_machine.travel(soon + timedelta(hours=2)):
        page = browser.get(USAGE)
        elsewhere = browser.get(f"{USAGE}?environment=development")
    changes = "Strategy added by admin. 10% → 40% by admin. Switched on by admin."
    assert page.has(f"On for 3 of 8 checks (37.5%). {changes}")
    assert [text_of(row).split(" UTC ")[1] for row in page.select(".chart ~ details tbody tr")] == [
        f"3 5 {changes.replace('.', '')}"
    ]
    assert not elsewhere.has("10% → 40%")
    people.person("vera")
    assert not Browser(app).sign_in("vera").get(USAGE).has("10% → 40%")


def test_the_chart_says_since_when_changes_are_marked(app, admin, browser, sdk):
    ask(sdk, app, {"checkout.cart": (3, 5)})
    assert not browser.get(USAGE).has("aren’t marked")
    for way in 25 * ("on", "off"):
        admin.ok("POST", f"{PRODUCTION}/{way}")
    assert browser.get(USAGE).has("aren’t marked")


def test_each_environment_of_a_feature_shows_its_last_48_hours(app, admin, browser, sdk):
    assert not browser.get(CART).select(".spark")
    ask(sdk, app, {"checkout.cart": (3, 5)})
    ask(sdk, app, {"checkout.cart": (1, 0)}, "api")
    change_the_share(admin)
    page = browser.get(CART)
    says = "On for 4 of 9 checks (44.4%) in production"
    assert page.has(f"Switched on, just now {says} Last checked just now")
    assert page.links[says] == f"{USAGE}?environment=production"
    assert [text_of(mark) for mark in page.select(".spark title")] == [
        "Strategy added",
        "10% → 40%",
        "Switched on",
    ]
    assert len(page.select(".spark")) == 1
    assert page.has("Never checked")


def test_more_environments_cost_the_page_of_a_feature_no_statement(app, browser, new_sdk):
    numbers = []
    for environment in ("production", "development"):
        ask(new_sdk(environment=environment), app, {"checkout.cart": (3, 5)})
        numbers.append(len(settled(app, lambda: browser.get(CART))))
    assert len(browser.get(CART).select(".spark")) == 2
    assert numbers[0] == numbers[1]


def test_a_small_part_of_the_checks_can_be_seen(app, browser, sdk):
    ask(sdk, app, {"checkout.cart": (99_999, 1)})
    [bar] = browser.get(USAGE).select(".chart__plot rect.chart__no")
    assert float(bar.attributes["height"]) >= 2


def test_usage_of_90_days_comes_by_day(app, browser, sdk):
    with time_machine.travel(datetime.now(UTC) - timedelta(days=10), tick=False):
        ask(sdk, app, {"checkout.cart": (3, 1)})
    page = browser.get(f"{USAGE}?period=90d")
    assert page.has("Checks per day in production")
    assert page.has("3 yes and 1 no in 90 days. No checks in 89 days.")
    assert browser.get(USAGE).has("No application asked for it in production in the last 48 hours.")


def test_the_environment_with_use_is_shown_first(app, browser, new_sdk):
    ask(new_sdk(environment="development"), app, {"checkout.cart": (3, 1)})
    assert browser.get(USAGE).has("75% of checks said yes in development")
    page = browser.get(f"{USAGE}?environment=production")
    assert page.has("No application asked for it in production")
    assert page.has("SDKs report about once a minute")


def test_the_bar_of_the_variants_is_whole(app, browser, sdk):
    ask(sdk, app, {"checkout.cart": (7, 0, {"a": 3, "b": 2, "c": 2})})
    last = browser.get(USAGE).select(".shares__bar rect")[-1].attributes
    assert int(last["x"]) + int(last["width"]) == 1_000


def test_parts_of_the_address_that_mean_nothing_are_named(browser):
    page = browser.get(f"{USAGE}?period=forever")
    assert page.has("Some filters in this address aren’t valid and were ignored")
