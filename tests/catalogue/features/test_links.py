"""Links of a feature: to sites only, in the order in which they were added."""

import pytest

from tests.support.clients import error_of
from tests.support.statements import statements

FEATURES = "/projects/default/features"
CART = f"{FEATURES}/cart"
PAGE = "/projects/default/features/cart"
TICKET = {"url": "https://tickets.example/1", "title": "Ticket"}
ELSEWHERE = [
    *(
        "javascript:alert(1)",
        "JavaScript://x.example/%0Aalert(1)",
        "ftp://files.example",
        "data:,x",
    ),
    *("/on/this/server", "//other.example", "wiki.example/cart", "https://", "https:///path"),
    *("https://user@site.example", "https://site.example\\@other.example", "https://a b.example"),
]
SITES = [
    *("http://localhost:3000", "https://wiki.example/a?b=c&d#e", "https://wiki.example?q=x"),
    *("https://bücher.example/é", f"https://a.example/{'x' * 1_982}"),
]


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", FEATURES, {"name": "cart"})


def links(client, path=CART):
    return [(link["url"], link["title"]) for link in client.ok("GET", path)["links"]]


def ids(client):
    return [link["id"] for link in client.ok("GET", CART)["links"]]


def types(client):
    found = client.ok("GET", "/events?feature=cart")["events"]
    return [event["type"] for event in found if "link" in event["type"]][::-1]


def test_links_are_added_changed_and_removed(admin):
    for body in (TICKET, {"url": "https://wiki.example"}):
        assert admin.post(f"{CART}/link", json=body).status_code == 204
    assert links(admin) == [("https://tickets.example/1", "Ticket"), ("https://wiki.example", None)]
    first, second = ids(admin)
    answer = admin.put(f"{CART}/link/{first}", json={"url": "https://tickets.example/2"})
    assert answer.status_code == 204
    admin.ok("PUT", f"{CART}/link/{first}", {"url": "https://tickets.example/2"})
    assert links(admin)[0] == ("https://tickets.example/2", "Ticket")
    assert admin.delete(f"{CART}/link/{second}").status_code == 204
    assert ids(admin) == [first]
    assert types(admin) == [
        *("feature-link-added", "feature-link-added"),
        *("feature-link-updated", "feature-link-removed"),
    ]


@pytest.mark.parametrize("url", ELSEWHERE)
def test_other_addresses_than_those_of_sites_are_refused(admin, url):
    answer = admin.post(f"{CART}/link", json={"url": url})
    assert (answer.status_code, answer.json["details"][0]["path"]) == (400, "/url")


def test_addresses_of_all_sites_are_taken(admin):
    for url in SITES:
        admin.ok("POST", f"{CART}/link", {"url": url})
    assert [url for url, _ in links(admin)] == SITES


def test_a_feature_has_a_limited_number_of_links(admin):
    for number in range(50):
        admin.ok("POST", f"{CART}/link", {"url": f"https://tickets.example/{number}"})
    answer = admin.post(f"{CART}/link", json=TICKET)
    assert answer.status_code == 409
    assert answer.json["message"] == "A feature can have at most 50 links. Remove one first."


def test_a_link_belongs_to_its_feature_alone(admin):
    admin.ok("POST", f"{CART}/link", TICKET)
    admin.ok("POST", FEATURES, {"name": "other"})
    [id] = ids(admin)
    for path in (f"{FEATURES}/other/link/{id}", f"{CART}/link/unknown"):
        assert admin.put(path, json=TICKET).status_code == 404
        assert admin.delete(path).status_code == 404
    assert ids(admin) == [id]


def test_links_of_an_archived_feature_stay_as_they_are(admin):
    admin.ok("POST", f"{CART}/link", TICKET)
    admin.ok("POST", "/projects/default/archive", {"features": ["cart"]})
    [id] = ids(admin)
    for answer in (
        admin.post(f"{CART}/link", json=TICKET),
        admin.put(f"{CART}/link/{id}", json=TICKET),
        admin.delete(f"{CART}/link/{id}"),
    ):
        assert error_of(answer) == (409, "ConflictError")
        assert answer.json["message"] == "cart is archived. Revive it before you change it."


def test_links_of_many_features_are_read_at_once(app, admin):
    def taken():
        with statements(app) as run:
            admin.ok("GET", FEATURES)
        return sum("feature_links" in text for text in run)

    admin.ok("POST", f"{CART}/link", TICKET)
    assert taken() == 1
    admin.ok("POST", FEATURES, {"name": "other"})
    admin.ok("POST", f"{FEATURES}/other/link", TICKET)
    assert taken() == 1


# The pages


def test_a_link_is_shown_where_the_feature_is(browser, admin):
    admin.ok("POST", f"{CART}/link", TICKET)
    admin.ok("POST", f"{CART}/link", {"url": "https://wiki.example/cart"})
    for page in (browser.get(PAGE), browser.get(f"{PAGE}/settings")):
        [ticket, *_] = page.select(f'a[href="{TICKET["url"]}"]')
        assert ticket.attributes["rel"] == "external noreferrer noopener"
    assert browser.get(PAGE).links["Ticket"] == TICKET["url"]


def test_of_many_links_the_page_shows_some(browser, admin):
    for number in range(6):
        admin.ok("POST", f"{CART}/link", {"url": f"https://tickets.example/{number}"})
    page = browser.get(PAGE)
    assert "https://tickets.example/4" not in page.links
    assert page.links["6 links"] == f"{PAGE}/settings#links"


def test_links_are_added_changed_and_removed_on_a_page(browser, admin):
    for number in (1, 2):
        admin.ok("POST", f"{CART}/link", {"url": f"https://tickets.example/{number}"})
    page = browser.get(browser.get(f"{PAGE}/settings").links["Edit links"])
    page = browser.submit(page, {"step": "remove-link-0"})
    page = browser.submit(page, {"step": "add-link"})
    changed = {"link-0-title": "Second", "link-1-url": "https://wiki.example"}
    done = browser.follow(browser.submit(page, changed))
    assert "Links of cart saved." in done.messages[0]
    after = [("https://tickets.example/2", "Second"), ("https://wiki.example", None)]
    assert links(admin) == after
    undone = browser.follow(browser.submit(done, form="Undo saving it"))
    assert undone.status == 200
    assert sorted(url for url, _ in links(admin)) == [
        *("https://tickets.example/1", "https://tickets.example/2")
    ]


def test_mistakes_are_shown_at_their_line_and_an_empty_line_is_none(browser, admin):
    page = browser.submit(browser.get(f"{PAGE}/links"), {"step": "add-link"})
    page = browser.submit(page, {"link-0-url": "nowhere", "link-0-title": "Wiki"})
    assert page.status == 400
    assert page.errors == [
        "Link 1: Enter an address like https://wiki.example.com/checkout, without a user name."
    ]
    assert page.fields("Save")["link-0-title"] == "Wiki"
    browser.follow(browser.submit(page, {"link-0-url": "", "link-0-title": ""}))
    assert links(admin) == []


def test_links_that_someone_else_changed_first_are_not_lost(browser, admin):
    page = browser.get(f"{PAGE}/links")
    admin.ok("POST", f"{CART}/link", TICKET)
    refused = browser.submit(page, {"link-0-url": "https://wiki.example"})
    assert refused.status == 409
    assert refused.has("They changed Links from “nothing” to “Ticket”")
    assert links(admin) == [("https://tickets.example/1", "Ticket")]


def test_a_link_that_someone_else_removed_can_be_kept(browser, admin):
    admin.ok("POST", f"{CART}/link", TICKET)
    page = browser.get(f"{PAGE}/links")
    admin.ok("DELETE", f"{CART}/link/{ids(admin)[0]}")
    browser.follow(browser.submit(browser.submit(page)))
    assert links(admin) == [("https://tickets.example/1", "Ticket")]
