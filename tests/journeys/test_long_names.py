"""The longest names that can be given fit every page, from a phone to a wide screen."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.journeys.instance import ADMIN, Instance, command, reachable
from tests.journeys.layout import OUTSIDE
from tests.journeys.places import paste, press
from tests.journeys.usage import await_applications, new_token, send

WIDTHS = (320, 390, 768, 1280, 1920)
NAME, KEY, TAG = "Ünbroken" * 31 + "in full", "k" * 100, "t" * 50
PROJECT = f"/projects/{KEY}"
APPLICATION = "a" * 255


class Named(NamedTuple):
    """An instance in which everything has the longest name, and the ids of some of it."""

    instance: Instance
    user: int
    robot: int
    token: int


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Named]:
    home = tmp_path_factory.mktemp("long") / "home"
    command(home, "user", "create", "--username", ADMIN, "--name", NAME, "--role", "admin")
    with reachable(home) as (server, pages):
        token = command(home, "token", "create", ADMIN, "--description", NAME[:255])
        instance = Instance(server.address, pages, home, token)
        yield _fill(instance)


def _fill(instance: Instance) -> Named:
    api = instance.api
    person = {"username": "u" * 255, "name": NAME, "rootRole": 3}
    user = api("POST", "/user-admin", person)["id"]
    former = api("POST", "/user-admin", person | {"username": "d" * 255})["id"]
    api("DELETE", f"/user-admin/{former}")
    robot = api("POST", "/service-account", person | {"username": "r" * 255})["id"]
    api("POST", f"/service-account/{robot}/token", {"description": NAME})
    token = api("GET", f"/service-account/{robot}/token")["tokens"][0]["id"]
    api("POST", "/environments", {"name": KEY, "type": "production"})
    values = [{"value": "v" * 100, "description": "d" * 100}]
    api("POST", "/context", {"name": KEY, "description": NAME, "legalValues": values})
    parameters = [{"name": "p" * 100, "description": NAME[:255], "required": True}]
    api("POST", "/strategies", {"name": KEY, "description": NAME, "parameters": parameters})
    api("POST", "/projects", {"id": KEY, "name": NAME, "environments": ["development", KEY]})
    api("POST", f"{PROJECT}/access", {"id": user, "roleId": 4})
    sdk = {"tokenName": NAME, "type": "client", "environment": KEY, "projects": [KEY]}
    api("POST", "/api-tokens", sdk)
    api("POST", "/tag-types", {"name": TAG})
    for name in (KEY, "f" * 100):
        api("POST", f"{PROJECT}/features", {"name": name})
    instance.tag(KEY, f"{TAG}:{TAG}", KEY)
    api("POST", f"{PROJECT}/features/{KEY}/environments/{KEY}/strategies", {"name": "default"})
    instance.tie(KEY, KEY, "f" * 100)
    instance.absent(1, name=NAME)
    _report(instance)
    return Named(instance, user, robot, token)


def _report(instance: Instance) -> None:
    counts = {"appName": APPLICATION, "environment": KEY, "yes": 2**31 - 2, "no": 2**31 - 2}
    metrics = [
        counts | {"featureName": name, "variants": {"v" * 100: 2**31 - 2}}
        for name in (KEY, "k" * 99)
    ]
    program = {"appName": APPLICATION, "instanceId": "1", "sdkVersion": f"{'s' * 245}:1.2.3"}
    send(instance, new_token(instance, KEY), {"applications": [program], "metrics": metrics})
    await_applications(instance, APPLICATION)


PATHS = (
    "/applications",
    f"/applications/{APPLICATION}",
    f"{PROJECT}/features/{KEY}/usage",
    "/projects",
    PROJECT,
    f"{PROJECT}?tag={TAG}:{TAG}&text={KEY}",
    f"{PROJECT}/new-feature",
    f"{PROJECT}/features/{KEY}",
    f"{PROJECT}/features/{'f' * 100}",
    f"{PROJECT}/features/{KEY}/tags",
    f"{PROJECT}/features/{'f' * 100}/tags",
    f"{PROJECT}/features/{'f' * 100}/history",
    f"{PROJECT}/features/{KEY}/settings",
    f"{PROJECT}/features/{KEY}/environments/{KEY}/copy",
    f"{PROJECT}/features/{KEY}/environments/development/copy",
    f"{PROJECT}/members",
    f"{PROJECT}/settings",
    f"{PROJECT}/history",
    "/features",
    f"/new-feature?name={KEY}",
    "/tags",
    f"/tags/types/{TAG}",
    f"/tags/types/{TAG}/delete",
    "/context-fields",
    f"/context-fields/{KEY}",
    "/strategy-types",
    f"/strategy-types/{KEY}",
    "/environments",
    f"/environments/{KEY}",
    "/new-project",
    "/users",
    "/users/{user}",
    "/users/{user}/link",
    "/users/{user}/delete",
    "/users/bulk?id={user}",
    "/users/inactive",
    "/users/deleted",
    "/service-accounts",
    "/service-accounts/{robot}",
    "/service-accounts/{robot}/delete",
    "/service-accounts/{robot}/tokens/new",
    "/service-accounts/{robot}/tokens/{token}/revoke",
    "/service-accounts/{robot}/tokens/{token}/rotate",
    "/sdk-tokens",
    "/sdk-tokens/1/rotate",
    "/sdk-tokens/1/revoke",
    "/sdk-tokens/1/contact",
    "/connect",
    f"{PROJECT}/sdk-tokens",
    f"{PROJECT}/connect",
    "/account",
    f"/account/permissions?may=UPDATE_FEATURE&project={KEY}",
    f"/events?text={KEY}",
    "/events",
)
Way = Callable[[Page, Named], Any]
WAYS: dict[str, Way] = {
    path.replace(KEY, "KEY").replace(TAG, "TAG"): (
        lambda page, named, path=path: page.goto(path.format(**named._asdict()))
    )
    for path in PATHS
}


def way(step: Way) -> Way:
    WAYS[step.__name__.replace("_", " ")] = step
    return step


@way
def a_tag(page: Page, _: Named) -> None:
    page.goto("/tags")
    page.get_by_role("link", name=f"{TAG}:{TAG}").click()


@way
def renaming_a_tag(page: Page, named: Named) -> None:
    a_tag(page, named)
    page.get_by_label("Value").fill("v" * 50)
    press(page, "Review…")


@way
def archiving(page: Page, _: Named) -> None:
    paste(page, ["f" * 100, "x" * 100], "Archive…", PROJECT)


@way
def switching(page: Page, _: Named) -> None:
    page.goto(f"{PROJECT}/features/{KEY}")
    page.get_by_role("switch").last.click()
    page.get_by_role("button", name="Undo").wait_for()


@way
def choosing_tags(page: Page, _: Named) -> None:
    paste(page, [KEY, "x" * 100], "Edit tags", PROJECT)


@way
def reviewing_tags(page: Page, named: Named) -> None:
    choosing_tags(page, named)
    page.locator("#new-type").select_option(TAG)
    page.get_by_label("Value").fill("n" * 50)
    press(page, "Review")


@way
def changing_a_state(page: Page, _: Named) -> None:
    paste(page, [KEY, "f" * 100], "Edit type and state…", PROJECT)
    page.get_by_label("State").select_option("true")
    press(page, "Review")


@way
def reviewing_settings(page: Page, _: Named) -> None:
    page.goto(f"{PROJECT}/settings")
    page.get_by_role("radio", name="Private").check()
    press(page, "Save")


@way
def a_conflict_of_settings(page: Page, named: Named) -> None:
    page.goto(f"{PROJECT}/settings")
    for name in (NAME, NAME[::-1]):
        named.instance.api("PUT", PROJECT, {"name": name, "mode": "open"})
    page.get_by_label("Name").fill("Q" * 255)
    press(page, "Save")


@way
def a_member_again(page: Page, _: Named) -> None:
    page.goto(f"{PROJECT}/members")
    page.get_by_label("Name, user name or e-mail").fill("u" * 255)
    press(page, "Add member")


@way
def a_secret(page: Page, named: Named) -> None:
    page.goto(f"/service-accounts/{named.robot}/tokens/new")
    page.get_by_label("Description").fill(NAME[::-1])
    press(page, "Create token")


@way
def a_leaked_token(page: Page, named: Named) -> None:
    page.goto("/service-accounts/find-token")
    page.get_by_label("Token").fill(named.instance.token)
    press(page, "Check token")


@way
def a_password_link(page: Page, named: Named) -> None:
    page.goto(f"/users/{named.user}/link")
    page.locator("main form button").last.click()


@way
def confirming_an_identity(page: Page, named: Named) -> None:
    page.goto(f"/users/{named.user}/delete")
    named.instance.let_password_be_given(datetime(2020, 1, 1, tzinfo=UTC))
    page.locator("main form button").last.click()


@way
def reviewing_a_deletion(page: Page, _: Named) -> None:
    page.goto("/users/inactive")
    page.locator("main tbody [type=checkbox]").first.check()
    press(page, "Delete…")


@pytest.fixture(scope="module")
def window(browser: Browser, named: Named) -> Iterator[BrowserContext]:
    """A tab of it stays open, so that all its tabs are one process."""
    with named.instance.context(browser) as context:
        context.new_page()
        yield context


@pytest.mark.one_in(4)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_longest_names_fit_a_page(way: Way, window: BrowserContext, named: Named):
    named.instance.let_password_be_given(datetime.now(UTC))
    with window.new_page() as page:
        way(page, named)
        page.wait_for_load_state()
        page.locator("main details").evaluate_all("all => all.forEach(one => { one.open = true })")
        assert page.locator("h1").inner_text() not in {"Page not found", "You don’t have access"}
        outside = {}
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if found := page.evaluate(OUTSIDE):
                outside[width] = found
        assert outside == {}
