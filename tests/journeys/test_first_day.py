"""The first day of an instance, from the console's link to the last sign-out."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.hand import Hand
from tests.journeys.instance import PASSWORD, reachable
from tests.journeys.places import choose, new_tag, press, reload_until, use_token
from tests.support.processes import Server

pytestmark = pytest.mark.one_in(2)

FEATURES = [f"shop.part-{number:02}" for number in range(1, 15)]
CHOSEN = FEATURES[:12]
PARENT, CHILD = FEATURES[0], FEATURES[13]


def test_the_first_day(browser: Browser, home: Path, tmp_path: Path, scripts: bool):
    printed = tmp_path / "console.txt"
    with (
        printed.open("wb") as out,
        reachable(home, out=out) as (server, pages),
        browser.new_context(
            base_url=pages, ignore_https_errors=True, java_script_enabled=scripts
        ) as context,
    ):
        page = context.new_page()
        hand = Hand(page)
        page.goto(re.search(r"/first-admin/\S+", printed.read_text()).group())
        _become_the_first_admin(hand)
        _create_a_project(hand, scripts)
        _create_features(hand)
        _connect_an_application(hand, server, scripts)
        _prepare_tags(page)
        _tag_twelve(page)
        _undo(page)
        _archive(page)
        _revive(page)
        press(page, "Sign out")
        expect(page.get_by_text("You’re signed out.")).to_be_visible()
        page.goto("/projects/night-shop")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def _become_the_first_admin(hand: Hand) -> None:
    with hand.at_most(clicks=2, keys=3, loads=1):
        hand.fill("User name", "kim")
        hand.fill_next("Full name (optional)", "Kim Berger")
        hand.fill_next("E-mail (optional)", "kim@shop.example")
        hand.fill_next("New password", PASSWORD)
        hand.button("Create account and sign in")
        expect(hand.page.get_by_text("You’re the first Admin")).to_be_visible()


def _create_a_project(hand: Hand, scripts: bool) -> None:
    page = hand.page
    with hand.at_most(clicks=3, loads=2):
        hand.link("New project")
        hand.fill("Name", "Night shop")
        id = page.get_by_label("Project id")
        expect(id).to_have_value("night-shop" if scripts else "")  # it can follow from the name
        hand.button("Create project")
        expect(page.get_by_role("status")).to_contain_text("Project Night shop created")


def _create_features(hand: Hand) -> None:
    page = hand.page
    with hand.at_most(clicks=3, loads=2):
        hand.link("New feature")
        hand.fill("Name", FEATURES[0])
        hand.button("Create and add another")
        expect(page.get_by_role("status")).to_contain_text(f"Feature {FEATURES[0]} created.")
    for name in FEATURES[1:-1]:
        page.get_by_label("Name").fill(name)
        press(page, "Create and add another")
        expect(page.get_by_role("status")).to_contain_text(f"Feature {name} created.")
    page.get_by_label("Name").fill(CHILD)
    press(page, "Create feature")
    page.get_by_role("link", name="Tags & dependencies").click()
    page.get_by_label("Depends on").fill(PARENT)
    press(page, "Save")
    expect(page.get_by_text(f"Depends on {PARENT}")).to_be_visible()


def _connect_an_application(hand: Hand, server: Server, scripts: bool) -> None:
    page = hand.page
    with hand.at_most(clicks=6, loads=3):
        hand.link("Home")
        hand.link("Connect an application")
        hand.fill("Application name", "night-shop")
        hand.pick("development")
        hand.pick("All projects, including future ones")
        hand.button("Create token")
        token = page.locator(".secret code").inner_text()
    use_token(server, token)
    connected = page.get_by_text("night-shop is connected.").filter(visible=True)
    if scripts:
        expect(connected).to_be_visible(timeout=20_000)
    else:
        page.get_by_role("link", name="Check now").click()
        reload_until(page, connected)
    page.goto("/projects/night-shop")


def _prepare_tags(page: Page) -> None:
    """Three tags that are there already: one to add, one to remove, one to keep."""
    for tag, features in {
        "beta": FEATURES[:3],
        "legacy": FEATURES[2:7],
        "payments": FEATURES[10:],
    }.items():
        pick(page, features)
        press(page, "Edit tags")
        new_tag(page, "simple", tag)
        press(page, "Review")
        confirm(page)
        to_list(page)


def _tag_twelve(page: Page) -> None:
    pick(page, CHOSEN)
    press(page, "Edit tags")
    expect(page.get_by_role("heading", name="Edit tags of 12 features")).to_be_visible()
    rows = page.locator("#tags tbody tr")
    expect(rows.filter(has_text="legacy")).to_contain_text("on 5 of 12")
    expect(rows.filter(has_text="payments")).to_contain_text("on 2 of 12")
    choose(page, "simple:beta", "Add to all")
    choose(page, "simple:legacy", "Remove from all")
    new_tag(page, "simple", "payment")
    expect(page.get_by_text("Did you mean simple:payments, used 4 times?")).to_be_visible()
    press(page, "Create simple:payment")
    press(page, "Review")
    expect(page.get_by_text("12 of 12 features will change.")).to_be_visible()
    # beta comes to 9, legacy goes from 5, and payment is new on all 12.
    expect(page.locator(".figures")).to_have_text(re.compile(r"26\s+changes\s+10\s+already set"))
    row = page.locator("tbody tr").filter(has_text=FEATURES[2])
    expect(row.locator(".plus")).to_have_text(["+ simple:payment"])
    expect(row.locator(".minus")).to_have_text(["− simple:legacy"])
    confirm(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Tags of 12 features changed")


def _undo(page: Page) -> None:
    page.get_by_role("link", name="Undo…").click()
    expect(page.get_by_text("12 of 12 features will change.")).to_be_visible()
    confirm(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Tags of 12 features changed")
    to_list(page)
    tags = page.locator("tbody tr").filter(has_text=FEATURES[2]).locator(".tag")
    expect(tags).to_have_text(["simple:beta", "simple:legacy"])


def _archive(page: Page) -> None:
    pick(page, FEATURES[:3])
    press(page, "Archive…")
    expect(page.get_by_text("2 of 3 can be archived.")).to_be_visible()
    expect(page.get_by_role("region", name="Blocked: 1")).to_contain_text(CHILD)
    press(page, "Add the child")
    expect(page.get_by_text("All 4 can be archived.")).to_be_visible()
    expect(page.get_by_role("region", name="Loses its dependency: 1")).to_contain_text(CHILD)
    page.get_by_text("Add a reason").click()
    page.get_by_label("Reason").fill("the shop is redone")
    press(page, "Archive 4 features")
    expect(page.get_by_role("heading", level=1)).to_have_text("4 features archived")


def _revive(page: Page) -> None:
    press(page, "Revive all 4")
    expect(page.get_by_role("status").first).to_contain_text("4 features revived.")
    row = page.locator("tbody tr", has=page.get_by_label(f"Select {CHILD}"))
    row.get_by_role("link", name=CHILD).click()
    expect(page.get_by_text(f"Depends on {PARENT}")).to_be_visible()
    page.go_back()


def pick(page: Page, features: list[str]) -> None:
    for name in features:
        page.get_by_label(f"Select {name}", exact=True).check()


def confirm(page: Page) -> None:
    """The main button of a review."""
    page.locator("main .bar .button--primary").click()


def to_list(page: Page) -> None:
    page.get_by_label("Breadcrumb").get_by_role("link", name="Night shop").click()
