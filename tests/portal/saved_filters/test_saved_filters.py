"""Everyone keeps filters of lists under names, and shares them by address."""

import pytest

from app.portal.saved_filters.models import SAVED_FILTERS
from tests.support.browser import Browser, text_of
from tests.support.clients import error_of

FILTERS = "/user/filters"
STALE = "/features?stale=true"


def save(client, name="Stale", address=STALE):
    return client.ok("POST", FILTERS, {"name": name, "address": address})


def names(client):
    return [one["name"] for one in client.ok("GET", FILTERS)["filters"]]


def test_what_chooses_a_page_or_rows_is_left_out(viewer):
    saved = save(viewer, address="/features?offset=50&tag=a%3Ab&stale=true&limit=9&sort=-name&x=")
    assert saved["address"] == "/features?sort=-name&stale=true&tag=a%3Ab"


def test_everyone_has_their_own_by_list_and_name(viewer, editor):
    save(viewer, "b")
    save(viewer, "A")
    save(viewer, "A", "/applications?text=web")
    save(editor, "A")
    assert names(viewer) == ["A", "A", "b"]
    assert names(editor) == ["A"]
    [other] = editor.ok("GET", FILTERS)["filters"]
    for method in ("GET", "PUT", "DELETE"):
        body = {"name": "Mine"} if method == "PUT" else None
        answer = viewer.request(method, f"{FILTERS}/{other['id']}", json=body)
        assert error_of(answer) == (404, "NotFoundError")


def test_a_name_is_used_once_for_each_list(viewer):
    save(viewer, "A")
    second = save(viewer, "B")
    again = viewer.post(FILTERS, {"name": "A", "address": "/features?stale=false"})
    assert error_of(again) == (409, "NameExistsError")
    renamed = viewer.put(f"{FILTERS}/{second['id']}", {"name": "A"})
    assert error_of(renamed) == (409, "NameExistsError")
    assert names(viewer) == ["A", "B"]


def test_only_lists_of_this_server_with_filters_can_be_saved(viewer, subtests):
    for address in (
        "/features",
        "/features?offset=50",
        "/help?text=x",
        "/nowhere?text=x",
        "/api/admin/features?stale=true",
        "//evil.example/features?stale=true",
        "https://evil.example/features?stale=true",
        "features?stale=true",
        "/features\\?stale=true",
        "",
    ):
        with subtests.test(address=address):
            answer = viewer.post(FILTERS, {"name": "A", "address": address})
            assert error_of(answer) == (400, "ValidationError")
            assert answer.json["details"][0]["path"] == "/address"


@pytest.mark.slow
def test_there_is_an_end_to_how_many(viewer):
    for number in range(SAVED_FILTERS.rows):
        save(viewer, f"n{number}")
    answer = viewer.post(FILTERS, {"name": "one more", "address": STALE})
    assert error_of(answer)[0] == 409


def test_the_short_address_leads_everyone_to_the_list_until_it_is_deleted(app, viewer, editor):
    saved = save(viewer)
    browser = Browser(app).sign_in("editor")
    assert browser.get(saved["shortAddress"]).location == STALE
    viewer.ok("PUT", f"{FILTERS}/{saved['id']}", {"name": "Renamed"})
    assert browser.get(saved["shortAddress"]).location == STALE
    viewer.ok("DELETE", f"{FILTERS}/{saved['id']}")
    gone = browser.get(saved["shortAddress"])
    assert gone.status == 404
    assert "Ask who shared it" in gone.words


def test_filters_in_use_are_saved_from_the_list_and_shown_above_it(app, viewer):
    browser = Browser(app).sign_in("viewer")
    page = browser.get("/features?text=card&stale=true&offset=0")
    [link] = [a for a in page.select(".chip") if text_of(a) == "Save filters…"]
    form = browser.get(link.attributes["href"])
    assert "Features, as it is filtered" in form.words
    refused = browser.submit(form, {"name": " "})
    assert refused.errors
    page = browser.follow(browser.submit(form, {"name": "My cards"}))
    assert page.messages == ["Filters saved as My cards."]
    [chip] = page.select('[aria-label="Saved filters"] [aria-current]')
    assert text_of(chip) == "My cards"
    assert "Save filters…" not in page.words
    other = browser.get("/features")
    [chip] = other.select('[aria-label="Saved filters"] .chip:not(:last-child)')
    assert (text_of(chip), chip.attributes.get("aria-current")) == ("My cards", None)
    assert browser.get(chip.attributes["href"]).status == 200


def test_they_are_renamed_and_deleted_on_a_page_of_the_account(app, viewer):
    save(viewer)
    browser = Browser(app).sign_in("viewer")
    [link] = browser.get("/account/filters").select('a[href^="/account/filters/"]')
    form = browser.get(link.attributes["href"])
    page = browser.follow(browser.submit(form, {"name": "Old ones"}))
    assert page.messages == ["Filters renamed to Old ones."]
    page = browser.follow(browser.submit(page, button="Delete Old ones"))
    assert page.messages == ["Saved filters Old ones deleted."]
    assert "No saved filters yet" in page.words
