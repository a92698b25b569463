"""Connecting an application: by keyboard, without scripts, and by the code on the page."""

import os
import subprocess
import sys

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.journeys.instance import THROUGH_NGINX, Instance
from tests.journeys.places import press, use_token
from tests.journeys.written import await_written
from tests.support.programs import SDKS

pytestmark = pytest.mark.one_in(2)


def answer(page: Page, name: str) -> None:
    page.goto("/sdk-tokens")
    page.get_by_role("link", name="Connect an application").first.click()
    page.get_by_label("Application name").fill(name)
    page.get_by_role("radio", name="production").check()
    page.get_by_label("Checkout", exact=True).check()
    press(page, "Create token")


def check_again(page: Page) -> None:
    with page.expect_navigation():  # to the same address
        page.get_by_role("link", name="Check again").click()


def token_of(page: Page) -> str:
    return page.locator(".secret code").inner_text()


def code(page: Page, language: str) -> str:
    """The code in that language, which is the only one in sight."""
    page.get_by_role("radio", name=language, exact=True).check(force=True)
    expect(page.locator("figure.code:visible")).to_have_count(1)
    return page.locator("figure.code:visible code").inner_text()


def test_an_application_is_connected_without_scripts(browser: Browser, instance: Instance):
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        answer(page, "silent-shop")
        token = token_of(page)
        assert token.startswith("checkout:production.fst_sdk_")
        page.get_by_role("link", name="Check now").click()
        expect(page.locator("main").get_by_role("status")).to_contain_text(
            "Waiting for the first contact"
        )
        use_token(instance, token)
        await_written(
            page.get_by_text("silent-shop is connected.").count, lambda: check_again(page)
        )
        page.get_by_role("link", name="Done").click()
        expect(page.get_by_role("row", name="silent-shop")).to_contain_text("Project checkout")


def test_the_note_changes_in_place_while_the_token_stays_in_view(page: Page, instance: Instance):
    answer(page, "patient-shop")
    token = token_of(page)
    expect(page.locator("main").get_by_role("status")).to_contain_text(
        "Waiting for the first contact"
    )
    use_token(instance, token)
    expect(page.locator("main").get_by_role("status")).to_contain_text(
        "patient-shop is connected.", timeout=20_000
    )
    assert token_of(page) == token


def test_an_application_is_connected_by_keyboard(page: Page):
    page.goto("/sdk-tokens")
    go_to(page, page.get_by_role("link", name="Connect an application").first)
    page.keyboard.press("Enter")
    go_to(page, page.get_by_label("Application name"))
    page.keyboard.type("keyed-shop")
    go_to(page, page.get_by_role("radio", name="development"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    go_to(page, page.get_by_label("All projects, including future ones"))
    page.keyboard.press("Space")
    go_to(page, page.get_by_role("button", name="Create token"))
    page.keyboard.press("Enter")
    expect(page.locator(".secret code")).to_contain_text("*:production.fst_sdk_")
    go_to(page, page.get_by_role("radio", name="Node.js"))
    page.keyboard.press("ArrowRight")
    expect(page.locator("figure.code:visible")).to_contain_text("pip install UnleashClient")
    go_to(page, page.get_by_role("link", name="Check now"))
    page.keyboard.press("Enter")
    expect(page.locator("main").get_by_role("status")).to_contain_text(
        "Waiting for the first contact"
    )


@pytest.mark.skipif(THROUGH_NGINX, reason="programs don't trust nginx's own certificate")
@pytest.mark.parametrize("language", ["Python", "Node.js", "curl"])
def test_the_code_that_the_page_shows_connects(
    page: Page, instance: Instance, sdks: dict[str, list[str]], language: str
):
    name = f"{language.lower()}-shop"
    answer(page, name)
    text = code(page, language).replace("http://127.0.0.1:4242", instance.address)
    run = {
        "Python": [sys.executable, "-c", text],
        "Node.js": ["node", "--input-type=module", "-e", f"{text}\nunleash.destroy();"],
        "curl": ["bash", "-c", text],
    }
    environ = os.environ | {"FLAGSTAFF_SDK_TOKEN": token_of(page)}
    done = subprocess.run(
        run[language],
        cwd=SDKS,  # where the packages are
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    expect(page.locator("main").get_by_role("status")).to_contain_text(
        f"{name} is connected.", timeout=20_000
    )


def go_to(page: Page, target: Locator) -> None:
    """Press Tab until the target has the focus."""
    target.wait_for()
    for _ in range(100):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} is not reached by keyboard")
