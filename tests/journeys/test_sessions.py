"""Ways in, with and without scripts: links, and a session that ends while one types."""

import pytest
from playwright.sync_api import Browser, expect

from tests.journeys.instance import PASSWORD, Instance
from tests.journeys.places import press


def test_what_was_typed_outlives_the_session(browser: Browser, instance: Instance, scripts: bool):
    who = "mei.ling.chen" if scripts else "samuel.okafor"
    with (
        instance.context(browser, who, java_script_enabled=scripts) as context,
        instance.context(browser, who) as elsewhere,
    ):
        page = context.new_page()
        page.goto("/new-project")
        page.get_by_label("Name").fill("Night shop")
        page.get_by_label("Project id").fill(f"kept-of-{who}")
        page.get_by_label("Description").fill("Open from ten to six.")
        page.get_by_role("radio", name="Private").check()
        page.get_by_label("Needs approvals in production").check()
        page.get_by_label("Approvals needed in production").fill("3")
        other = elsewhere.new_page()  # a copy of the same cookie
        other.goto("/projects")
        press(other, "Sign out")
        press(page, "Create project")
        expect(page.get_by_text("what you typed is kept")).to_be_visible()
        page.get_by_label("User name or e-mail").fill(who)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        press(page, "Sign in")
        expect(page.get_by_text("What you typed is back")).to_be_visible()
        expect(page.get_by_label("Name")).to_have_value("Night shop")
        expect(page.get_by_label("Project id")).to_have_value(f"kept-of-{who}")
        expect(page.get_by_label("Description")).to_have_value("Open from ten to six.")
        expect(page.get_by_role("radio", name="Private")).to_be_checked()
        expect(page.get_by_label("Approvals needed in production")).to_have_value("3")
        press(page, "Create project")
        expect(page.get_by_text("Project Night shop created")).to_be_visible()


def test_a_password_is_set_by_keyboard(browser: Browser, instance: Instance, scripts: bool):
    link = instance.link("zoe.brandt" if scripts else "hana.novak")
    with instance.context(browser, None, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(link)
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").first).to_contain_text("Password set")
        page.goto(link)
        expect(page.get_by_text("unknown, expired or already used")).to_be_visible()


@pytest.mark.parametrize("path", ["/projects", "/projects/checkout/members"])
def test_paper_says_who_printed_and_shows_no_navigation(page, path: str):
    page.goto(path)
    printed = page.get_by_text("printed by Ada Lindqvist")
    expect(printed).to_be_hidden()
    page.emulate_media(media="print")
    expect(printed).to_be_visible()
    for hidden in (page.locator(".side"), page.locator(".topbar"), page.locator(".button")):
        for one in hidden.all():
            expect(one).to_be_hidden()
