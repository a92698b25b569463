"""The pages on which a tag is renamed, merged and deleted, without JavaScript."""

import pytest

from tests.support.browser import Browser


@pytest.fixture(autouse=True)
def tagged(admin):
    """Two features with simple:payment, one of them also with simple:payments."""
    for name in ("a", "b"):
        admin.ok("POST", "/projects/default/features", {"name": name})
    for features, value in ((["a", "b"], "payment"), (["b"], "payments")):
        tags = {"addedTags": [{"value": value}], "removedTags": []}
        admin.ok("PUT", "/projects/default/tags", {"features": features, "tags": tags})


def open_tag(browser, name="simple:payment"):
    return browser.get(browser.get("/tags").links[name])


def uses(admin):
    return {row["value"]: row["used"] for row in admin.ok("GET", "/tags")["tags"]}


def review(browser, value):
    return browser.follow(browser.submit(open_tag(browser), {"value": value}, button="Review…"))


def test_a_tag_is_renamed_after_a_review_and_undone(browser, admin):
    page = review(browser, "pay")
    assert page.has("simple:payment will be renamed to simple:pay on 2 features.")
    assert {"a", "b"} <= set(page.links)
    assert uses(admin) == {"payment": 2, "payments": 1}
    page = browser.submit(page, {"reason": "shorter"}, button="Rename simple:payment")
    page = browser.follow(page)
    assert page.has("2 features changed from simple:payment to simple:pay.")
    assert uses(admin) == {"pay": 2, "payments": 1}
    assert admin.ok("GET", "/events?type=tag-renamed")["events"][0]["reason"] == "shorter"
    page = browser.follow(browser.submit(page, form="Undo"))
    assert page.messages == ["Undone. 2 features changed back to simple:payment."]
    assert uses(admin) == {"payment": 2, "payments": 1}


def test_the_name_of_another_tag_merges_the_two(browser, admin):
    page = review(browser, "payments")
    assert page.has("2 features will have simple:payments instead of simple:payment.")
    assert page.has("1 of them already has both.")
    page = browser.follow(browser.submit(page, button="Merge simple:payment"))
    assert uses(admin) == {"payments": 2}
    browser.follow(browser.submit(page, form="Undo"))
    assert uses(admin) == {"payment": 2, "payments": 1}


def test_a_review_that_no_longer_holds_is_shown_again(browser, admin):
    page = review(browser, "payments")
    admin.ok("POST", "/projects/default/features", {"name": "c"})
    tags = {"addedTags": [{"value": "payment"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", {"features": ["c"], "tags": tags})
    page = browser.submit(page, button="Merge simple:payment")
    assert page.status == 409
    assert page.has("The effect of this change is no longer what you reviewed")
    assert uses(admin) == {"payment": 3, "payments": 1}
    browser.follow(browser.submit(page, button="Merge simple:payment"))
    assert uses(admin) == {"payments": 3}


@pytest.mark.parametrize("bad", [{"value": ""}, {"value": "x" * 51}, {"type": "x" * 51}])
def test_a_name_that_is_not_valid_is_an_error_at_its_field(browser, bad):
    page = browser.submit(open_tag(browser), bad, button="Review…")
    assert page.status == 400
    assert page.errors


def test_the_same_name_is_refused(browser):
    page = browser.submit(open_tag(browser), button="Review…")
    assert browser.get(page.location).status == 400


def test_an_unused_tag_is_deleted_and_a_used_one_is_not(browser, admin):
    page = open_tag(browser, "simple:payments")
    assert page.has("You can delete it once no feature has it, active or archived.")
    assert browser.post(f"{page.path}/delete").status == 409
    tags = {"addedTags": [], "removedTags": [{"value": "payments"}]}
    admin.ok("PUT", "/projects/default/tags", {"features": ["b"], "tags": tags})
    page = browser.submit(browser.get(page.path), form="Delete simple:payments")
    assert browser.follow(page).messages == ["Tag simple:payments deleted."]
    assert uses(admin) == {"payment": 2}


def test_people_without_permission_see_the_tag_and_why(app, people):
    people.person("looker")
    browser = Browser(app).sign_in("looker")
    page = open_tag(browser)
    assert page.has("Ask an Admin to make you an Editor.")
    assert page.links["2 features"] == "/features?tag=simple:payment"
    assert browser.get(f"{page.path}/replace?type=simple&value=x").status == 403


@pytest.mark.parametrize("query", ["", "?type=simple", "?type=simple&value=", "?value=%00"])
def test_an_address_without_a_name_is_refused(browser, query):
    assert browser.get(f"{open_tag(browser).path}/replace{query}").status == 400
