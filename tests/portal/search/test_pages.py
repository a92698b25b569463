"""The page of the search without scripts, and what scripts are given to show over other pages."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.support.browser import Browser, text_of


def hits(page):
    """Each group’s title with the lines below it."""
    return {
        text_of(group.css("h3")[0]): [text_of(hit) for hit in group.css(".hit")]
        for group in page.select("main section section")
    }


def test_every_page_leads_to_the_search(browser):
    page = browser.get("/projects")
    links = page.select("a.side__search")
    assert [link.attributes["href"] for link in links] == ["/search", "/search"]
    assert browser.get("/search").h1 == "Search"


def test_the_page_shows_groups_with_what_was_found_marked(browser, shop):
    page = browser.submit(browser.get("/search"), {"q": "express"})
    assert page.title == "Search: express · Flagstaff"
    assert page.has("4 results")
    assert "checkout.express Payments · off in production" in hits(page)["Features"]
    marks = {text_of(mark) for mark in page.select(".hit mark")}
    assert marks == {"express"}
    links = {hit.attributes["href"] for hit in page.select("a.hit")}
    assert "/projects/payments/features/checkout.express" in links


def test_names_are_escaped(admin, browser):
    admin.ok("POST", "/segments", {"name": "<b>bold</b> & co", "constraints": []})
    page = browser.get("/search?q=%3Cb%3Ebold")
    assert "&lt;b&gt;bold" in page.text
    assert "<b>bold" not in page.text


def test_where_there_is_more_a_link_leads_to_all_of_the_kind(admin, browser):
    for number in range(60):
        admin.ok("POST", "/projects/default/features", {"name": f"many-{number}"})
    page = browser.get("/search?q=many")
    assert page.has("60 results")
    page = browser.get(page.path + page.links["All 60 results in Features"].replace("?", "&"))
    assert len(page.select("a.hit")) == 50
    assert page.has("1–50 of 60")
    last = browser.get(f"/search{page.links['Next 10']}")
    assert len(last.select("a.hit")) == 10


def test_nothing_found_says_so_and_what_may_have_been_meant(browser, shop):
    page = browser.get("/search?q=exprs")
    assert page.title == "Nothing found · Flagstaff"
    assert page.has("Nothing matches “exprs”")
    meant = browser.get(f"/search{page.links['express']}")
    assert meant.title == "Search: express · Flagstaff"


def test_one_kind_without_a_match_leads_to_everything(browser, shop):
    page = browser.get("/search?q=express&in=segments")
    assert page.has("Nothing matches")
    assert hits(browser.get(f"/search{page.links['Search everything']}"))["Features"]


def test_what_can_not_be_looked_for_is_not_offered(people, browser):
    people.person("plain")
    kinds = [text_of(o) for o in browser.get("/search").select("#in option")]
    assert kinds[:3] == ["Everything", "Features", "Projects"]
    assert "Users" in kinds
    plain = [text_of(o) for o in browser.sign_in("plain").get("/search").select("#in option")]
    assert set(kinds) - set(plain) == {"Users", "Service accounts", "SDK tokens"}


def test_a_wrong_address_is_named_and_not_obeyed(browser, shop):
    page = browser.get("/search?q=express&in=secrets&offset=-1")
    assert page.has("Some filters in this address aren’t valid")
    assert "Features" in hits(page)
    assert browser.get(f"/search?q={'x' * 101}").has("Enter at most 100 characters.")
    assert browser.get("/search?q=a%00b").status == 400


def test_before_anything_is_asked_the_page_has_what_was_seen_last_and_actions(browser, shop):
    browser.get("/projects/payments/features/checkout.express")
    browser.get("/projects/payments")
    groups = hits(browser.get("/search"))
    assert groups["Recently visited"] == ["Payments Project", "checkout.express Payments"]
    assert groups["Actions"][0] == "New feature Features"


@pytest.mark.parametrize("asked", ["", "exp", "exprs", "qqqqq", "on:production", ">", "team:exp"])
def test_scripts_show_what_the_page_shows(browser, shop, asked):
    browser.get("/projects/payments")
    page = browser.get("/search", query_string={"q": asked})
    answer = browser.client.get("/search/hits", query_string={"q": asked}).json
    options = LexborHTMLParser(answer["html"]).css("[role=group] > a[role=option]")
    assert len({option.attributes["id"] for option in options}) == len(options)
    shown = [text_of(option) for option in options]
    assert [line for line in shown if line != "express"] == [
        text_of(hit) for hit in page.select("main a.hit")
    ]


def test_what_changed_is_read_aloud(browser, shop):
    def words(asked: str) -> str:
        return browser.client.get("/search/hits", query_string={"q": asked}).json["words"]

    assert words("") == ""
    assert words("team:exp") == "1 result"
    assert words("exprs") == "Nothing matches. Did you mean express?"
    assert words("qqqqq") == "Nothing matches"


def test_someone_who_is_not_signed_in_signs_in_first(visitor: Browser):
    page = visitor.get("/search?q=x")
    assert (page.status, "/sign-in" in page.location) == (303, True)
