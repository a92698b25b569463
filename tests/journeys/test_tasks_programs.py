"""What other programs bring, get and use, by the clicks and page loads that it takes."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.hand import Hand
from tests.journeys.instance import ADMIN, PASSWORD, Instance, command, reachable
from tests.journeys.places import new_sdk_token
from tests.support.unleash import TOKEN, RecordedUnleash
from tests.support.webhooks import Receiver

pytestmark = pytest.mark.one_in(2)
LONG = 30_000
"""Milliseconds for what a server does apart from its answers."""


@contextmanager
def own_instance(home: Path, **options: str) -> Iterator[Instance]:
    """A new one with one Admin. ``options``: such as the hosts that it may reach."""
    command(home, "user", "create", "--username", ADMIN, "--role", "admin")
    token = command(home, "token", "create", ADMIN, "--description", "to prepare")
    with reachable(home, **options) as (server, pages):
        yield Instance(server.address, pages, home, token)


@pytest.fixture
def unleash() -> Iterator[RecordedUnleash]:
    server = RecordedUnleash("8.2.0")
    yield server
    server.stop()


def test_a_whole_unleash_is_taken_over_and_that_is_undone(
    browser: Browser, home: Path, unleash: RecordedUnleash
):
    with (
        own_instance(home, IMPORT_HOSTS=unleash.url) as instance,
        instance.context(browser) as window,
    ):
        page = window.new_page()
        page.goto("/")
        hand = Hand(page)
        with hand.at_most(clicks=7):
            hand.menu("Instance", "Import")
            hand.link("New import")
            hand.fill("Address", unleash.url)
            hand.fill("Personal access token of an admin", TOKEN)
            hand.button("Create plan")
            button = page.get_by_role("button", name=re.compile(r"^Import \d+ items$")).first
            button.wait_for(timeout=LONG)
            hand.click(button)
            expect(page.get_by_text("items imported.")).to_be_visible(timeout=LONG)
        assert "shop.checkout" in features(instance)
        with hand.at_most(clicks=2):
            hand.link("Undo import…")
            hand.button("Undo import")
            expect(page.get_by_text("This import was undone")).to_be_visible(timeout=LONG)
        assert features(instance) == []


def test_a_webhook_is_created_and_gets_what_happens(
    browser: Browser, home: Path, receiver: Receiver
):
    with (
        own_instance(home, WEBHOOK_HOSTS=receiver.host) as instance,
        instance.context(browser) as window,
    ):
        page = window.new_page()
        page.goto("/webhooks")
        hand = Hand(page)
        with hand.at_most(clicks=6, loads=2):
            hand.link("New webhook")
            hand.fill("Name", "Chat")
            hand.fill("Address", receiver.url)
            hand.click(page.get_by_text("Features, tags and dependencies", exact=True))
            hand.click(page.locator("[value=feature-created]"))
            hand.button("Create webhook")
            expect(page.get_by_role("heading", level=1)).to_have_text("Secret of Chat")
        secret = page.locator(".secret code").inner_text()
        instance.api("POST", "/projects/default/features", {"name": "shop.banner"})
        [message] = receiver.wait_for(1)
        assert (message.subject, message.is_signed_with(secret)) == ("shop.banner", True)


def test_a_token_is_rotated_and_one_that_leaked_is_recognized(page: Page, instance: Instance):
    token = new_sdk_token(instance)
    page.goto(f"/sdk-tokens?text={token['tokenName']}")
    instance.let_password_be_given(datetime(2020, 1, 1, tzinfo=UTC))
    hand = Hand(page)
    with hand.at_most(clicks=2, keys=1, loads=3):
        hand.link(f"Rotate… {token['tokenName']}")
        hand.button("Rotate token")
        expect(page.get_by_label("Your password")).to_be_focused()
        hand.type(PASSWORD)
        hand.press("Enter")
        expect(page.get_by_text("It won’t be shown again.")).to_be_visible()
    new = page.locator(".secret code").inner_text()
    assert status(page, instance, new) == HTTPStatus.OK
    page.goto("/service-accounts/find-token")
    with hand.at_most(clicks=2, loads=1):
        hand.fill("The token you found", new)
        hand.button("Check token")
        expect(page.locator("main").get_by_role("status")).to_contain_text(token["tokenName"])
    with hand.at_most(clicks=2, loads=2):
        hand.link("Revoke…")
        hand.button("Revoke token")
        expect(page.get_by_role("status")).to_contain_text("revoked")
    assert status(page, instance, token["secret"]) == HTTPStatus.OK
    assert status(page, instance, new) == HTTPStatus.UNAUTHORIZED


def status(page: Page, instance: Instance, token: str) -> int:
    """How an application is answered that asks with this token."""
    address = f"{instance.address}/api/client/features"
    return page.request.get(address, headers={"Authorization": token}).status


def features(instance: Instance) -> list[str]:
    return [row["name"] for row in instance.api("GET", "/features?limit=1000")["features"]]
