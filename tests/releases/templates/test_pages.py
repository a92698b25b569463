"""The pages of templates, all without scripts."""

from typing import Any

import pytest
from flask import Flask

from tests.releases.plans import conftest
from tests.releases.plans.conftest import PLANS, Releases, rollout, step
from tests.support.browser import Browser, text_of
from tests.support.clients import ApiClient
from tests.support.people import People

feature, releases = conftest.feature, conftest.releases

LIST = "/releases/templates"
ROOT = "/release-plan-templates"


@pytest.fixture
def quick(admin: ApiClient) -> Any:
    body = {"name": "Quick", "milestones": [step(5), step(100, None)]}
    return admin.ok("POST", ROOT, body)


def named(admin: ApiClient, name: str) -> Any:
    [found] = [each for each in admin.ok("GET", ROOT) if each["name"] == name]
    return found


def test_one_with_two_steps_is_created(browser: Browser, admin: ApiClient) -> None:
    page = browser.get(browser.get(LIST).links["New template"])
    typed = {"name": "Two steps", "description": "In a day", "step-0-share": "10"}
    done = browser.follow(browser.submit(page, typed))
    print(page.fields(0), done.messages, done.words)
    found = named(admin, "Two steps")
    print(found)
    assert 0


def test_x(browser: Browser, admin: ApiClient, quick) -> None:
    page = browser.get(f"{LIST}/{quick['id']}")
    print(page.fields(0))
    print(page.words)
    p2 = browser.submit(page, {"name": "Mine", "step": "add-step"})
    print(p2.fields(0))
    p3 = browser.submit(
        p2, {"step-2-share": "x", "step-1-who": "share", "step-1-share": "3", "name": ""}
    )
    print(p3.status, p3.errors)
    p3 = browser.submit(p2, {"step-2-share": "x"})
    print(p3.status, p3.errors, p3.fields(0))
    p3 = browser.submit(p2, {"step-2-who": "everyone", "name": "Careful"})
    print(p3.status, p3.errors, p3.fields(0))
    admin.ok("PUT", f"{ROOT}/{quick['id']}", {"description": "Theirs"})
    d = browser.submit(page, {"name": "Mine"})
    print(d.status, named(admin, "Mine"))
    assert 0


def test_y(browser, admin, quick, app, people):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    people.member("own", "shop", "Owner")
    people.person("vic")
    b = Browser(app).sign_in("own")
    p = b.get(f"{LIST}/new")
    print(p.words, p.fields(0))
    d = b.submit(p, {"name": "Ours"})
    print(d.status, d.errors)
    print(b.follow(d).words)
    print(b.get(f"{LIST}/{quick['id']}").words)
    v = Browser(app).sign_in("vic")
    print(v.get(LIST).words)
    print(v.get(f"{LIST}/new").words)
    print(v.get(f"{LIST}/{quick['id']}").words)
    assert 0
