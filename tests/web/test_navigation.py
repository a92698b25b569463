"""The menu: few lines, with groups that unfold."""

import pytest

from tests.support.browser import Browser, text_of

LINES = ["Home", "Projects", "Features", "Change requests", "Releases", "Playground"]
OF_INSTANCE = ["Environments", "Feature types", "Webhooks", "Import", "Backups", "Settings"]


def lines(page) -> list[str]:
    links = page.select(".side .nav > ul > li > .nav__link, .side .nav__fold > summary")
    return [text_of(link) for link in links]


@pytest.mark.parametrize(
    ("role", "groups"),
    [
        ("Admin", ["Targeting", "Applications", "People", "Audit", "Instance", "Help"]),
        ("Editor", ["Targeting", "Applications", "Events", "Instance", "Help"]),
    ],
)
def test_a_group_of_one_page_is_that_page(app, people, role, groups):
    people.person("ann", role=role)
    assert lines(Browser(app).sign_in("ann").get("/")) == LINES + groups


@pytest.mark.parametrize(
    ("path", "group", "names"),
    [
        ("/", None, []),
        ("/tags", "Targeting", ["Segments", "Context fields", "Tags", "Strategy types"]),
        ("/connect", "Applications", ["Applications", "SDK tokens", "Browser origins"]),
        ("/new-group", "People", ["Users", "Groups", "Service accounts", "Single sign-on"]),
        ("/security-log", "Audit", ["Events", "Security log"]),
        ("/imports", "Instance", OF_INSTANCE),
    ],
)
def test_the_group_of_the_page_is_open(browser, path, group, names):
    page = browser.get(path)
    summaries = page.select(".side .nav__fold[open] > summary")
    assert [text_of(each) for each in summaries] == ([group] if group else [])
    assert [text_of(link) for link in page.select(".side .nav__fold[open] a")] == names
