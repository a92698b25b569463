from tests.releases.plans import conftest
from tests.releases.plans.conftest import PLANS, PLACE, FEATURES, Releases, rollout, step
from tests.support.browser import Browser, text_of
from tests.support.clients import ApiClient
from tests.releases.templates.test_api import *
import re

feature, releases = conftest.feature, conftest.releases
for n in [n for n in dir() if n.startswith("test_")]:
    del globals()[n]


def test_project_deleted(admin, own):
    admin.ok("DELETE", "/projects/shop")
    r = admin.delete("/projects/shop?permanent=true")
    print(r.status_code, r.text)
    r = admin.delete("/archive/projects/shop")
    print(r.status_code, r.text)
    r = admin.post("/projects/shop/delete")
    print(r.status_code, r.text)
    print(admin.get(ROOT).text[:300])
    assert 0


def main_of(page):
    return text_of(page.select("main")[0])


def test_home(browser, admin, releases, people, app, feature):
    releases.create()
    print(main_of(browser.get("/")))
    releases.act("hold", reason="Support is short today.")
    print(main_of(browser.get("/")))
    print(main_of(Browser(app).sign_in("admin").get("/")))
    releases.act("hold" if 0 else "resume")
    admin.ok("DELETE", f"{PLANS}/{releases.id}")
    releases.create(start=False)
    print(main_of(Browser(app).sign_in("admin").get("/")))
    p = browser.get("/projects/default/features/base")
    print(main_of(p))
    admin.ok("DELETE", f"{PLANS}/{releases.id}")
    print(releases.read())
    p = browser.get(
        f"/projects/default/features/base/environments/production/releases/{releases.id}"
    )
    print(main_of(p))
    print(main_of(browser.get("/releases/ended")))
    r = admin.ok("POST", f"{PLANS}?dryRun=true", {"milestones": conftest.STEPS})
    print(r)
    r = admin.ok(
        "POST",
        f"{PLANS}?dryRun=true",
        {"milestones": conftest.STEPS, "startAt": "2199-01-01T09:00:00Z"},
    )
    print(r["review"])
    p = browser.get("/projects/default/features/base/environments/production/new-release")
    print(text_of(p.select("aside.split__stay")[0]))
    p = browser.submit(p, {"begins": "hand", "step": "check"})
    print(text_of(p.select("aside.split__stay")[0]))
    p = browser.submit(p, {"begins": "at", "start_at": "2199-01-01T09:00", "step": "check"})
    print(text_of(p.select("aside.split__stay")[0]))
    p = browser.submit(p, {"step-1-share": "", "step": "check"})
    print(text_of(p.select("aside.split__stay")[0]))
    assert 0
