"""Signing in at a real provider in a real browser, with four processes behind it."""

import sqlite3
from collections.abc import Callable

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect

from tests.journeys.instance import THROUGH_NGINX
from tests.journeys.places import press
from tests.journeys.test_every_page import BARRIERS
from tests.support.machines import Machine
from tests.support.oidc import SECRET, OidcProvider
from tests.support.processes import free_port
from tests.support.servers import Server

pytestmark = [
    pytest.mark.one_in(2),
    pytest.mark.skipif(THROUGH_NGINX, reason="the provider sends people to the server itself"),
]


@pytest.fixture
def server(start: Callable[..., Server], one_provider: OidcProvider) -> Server:
    """Four processes whose people sign in at the provider."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    one_provider.tell(address=address)
    return start(
        PORT=str(port),
        BASE_URL=address,
        PROCESSES="4",
        OIDC_ISSUER=one_provider.issuer,
        OIDC_CLIENT_ID="flagstaff",
        OIDC_CLIENT_SECRET=SECRET,
        OIDC_SCOPES="openid profile email groups",
        SIGN_ON_NAME="Example Org",
        SIGN_ON_CREATE="all",
    )


def has_no_barriers(page: Page) -> None:
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(BARRIERS, {}) == []


def sign_in_there(page: Page) -> None:
    page.locator("input[name=login]").fill("kim")
    page.locator("input[name=password]").fill("any")
    page.locator("button[type=submit]").click()


def test_someone_signs_in_there_confirms_and_signs_out_of_both(
    browser: Browser, server: Server, machine: Machine, scripts: bool
):
    with browser.new_context(base_url=server.address, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto("/projects")
        if scripts:
            has_no_barriers(page)
        page.get_by_role("link", name="Sign in with Example Org").press("Enter")
        sign_in_there(page)
        expect(page.get_by_text("This is your first sign-in.")).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text("Projects")
        for name in ("/account/single-sign-on", "/account/permissions"):
            page.goto(name)
            if scripts:
                has_no_barriers(page)
        connection = sqlite3.connect(machine.home / "flagstaff.db")
        connection.execute("UPDATE sessions SET proved_at = '2020-01-01 00:00:00'")
        connection.commit()
        connection.close()
        page.goto("/account/tokens/new")
        page.get_by_label("Description").fill("my scripts")
        press(page, "Create token")
        expect(page.get_by_role("heading", level=1)).to_have_text("Confirm your identity")
        if scripts:
            has_no_barriers(page)
        page.get_by_role("link", name="Sign in with Example Org").click()
        sign_in_there(page)
        expect(page.get_by_text("Your identity is confirmed.")).to_be_visible()
        expect(page.get_by_label("Description")).to_have_value("my scripts")
        press(page, "Create token")
        expect(page.get_by_text("It won’t be shown again.")).to_be_visible()
        press(page, "Sign out")
        expect(page.get_by_role("heading", level=1)).to_have_text("You’re signed out of Flagstaff")
        if scripts:
            has_no_barriers(page)
        page.get_by_role("link", name="Sign out there too").click()
        page.get_by_role("button", name="Yes, sign me out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_signing_out_there_ends_the_session_here_in_all_processes(
    browser: Browser, server: Server, one_provider: OidcProvider
):
    with browser.new_context(base_url=server.address) as context:
        page = context.new_page()
        page.goto("/")
        page.get_by_role("link", name="Sign in with Example Org").click()
        sign_in_there(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("Home")
        there = context.new_page()
        there.goto(f"{one_provider.issuer}/session/end")
        there.get_by_role("button", name="Yes, sign me out").click()
        assert server.has_logged("/sign-in/back-channel 200")
        for _ in range(8):
            page.goto("/")
            expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
