"""The address of a form that creates something is found in both of its shapes."""

import pytest


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("/webhooks/new", "/new-webhook"),
        ("/environments/new", "/new-environment"),
        ("/new-user", "/users/new"),
        ("/projects/default/features/new", "/projects/default/new-feature"),
        ("/account/new-token", "/account/tokens/new"),
        ("/tags/types/new", "/tags/new-type"),
    ],
)
def test_the_other_shape_of_an_address_leads_to_the_form(browser, typed, address):
    page = browser.get(typed)
    assert (page.status, page.location) == (303, address)
    assert browser.get(address).status == 200


def test_what_is_called_new_has_its_page(browser, admin):
    admin.ok("POST", "/environments", {"name": "new", "type": "test"})
    assert browser.get("/environments/new").status == 200


@pytest.mark.parametrize("path", ["/teapots/new", "/new-teapot", "/projects/nope/new-feature"])
def test_where_there_is_no_form_nothing_is_found(browser, path):
    assert browser.get(path).status == 404


@pytest.mark.parametrize("path", ["/no-such-page", "/webhooks/99"])
def test_only_in_a_project_an_owner_can_help(browser, path):
    assert not browser.get(path).has("Owner")
    assert browser.get("/projects/nope").has("ask an Owner of the project")
