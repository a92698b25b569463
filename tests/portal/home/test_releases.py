"""Home has the releases under way, and says which of them need the reader."""

from typing import Any

import pytest

from app.core import clock
from app.core.clock import utcnow
from tests.portal.home.conftest import Home
from tests.releases.plans import conftest
from tests.releases.plans.conftest import FEATURES, PLANS, STEPS, Releases, rollout, step
from tests.support.browser import text_of
from tests.support.clients import ApiClient
from tests.support.people import People

pytestmark = pytest.mark.slow

feature, releases = conftest.feature, conftest.releases
BASE = "/projects/default/features/base#released-in-production"
HELD, WAITING = "Release on hold: base", "Release waiting for someone: base"
COULD_NOT = "Release couldn’t start: base"


def under_way(found: Any) -> list[str]:
    """The lines of the releases under way, with the numbers above them first."""
    for table in found.page.select("table"):
        caption = text_of(table.css_first("caption"))
        if caption.startswith("Releases under way"):
            return [caption, *(text_of(row) for row in table.css("tbody tr"))]
    return []


def needs(found: Any) -> dict[str, str]:
    """What needs the reader about releases, with the line below each."""
    lines = found.page.select('[aria-labelledby="attention"] li')
    says = {
        text_of(line.css_first(".status")): text_of(line.css_first(".table__sub")) for line in lines
    }
    return {text: more for text, more in says.items() if text.startswith("Release")}


@pytest.fixture
def mia(people: People) -> ApiClient:
    """A member of the project, who created none of its releases."""
    return people.member("mia", "default")


def test_it_has_the_releases_that_the_reader_can_see(
    home: Home, admin: ApiClient, people: People, releases: Releases
) -> None:
    people.person("noa")
    assert under_way(home("noa")) == []
    releases.create()
    admin.ok("POST", "/projects", {"id": "vault", "name": "Vault", "mode": "private"})
    hidden = "/projects/vault/features"
    admin.ok("POST", hidden, {"name": "gem"})
    body = {"milestones": STEPS, "start": True}
    admin.ok("POST", f"{hidden}/gem/environments/production/release-plans", body)
    caption, line = under_way(home("noa"))
    assert caption == "Releases under way All releases"
    assert line.startswith("base default, production 1 of 4, 5% 25% on ")
    assert len(under_way(home("admin"))) == 3
    admin.ok("DELETE", f"{PLANS}/{releases.id}")
    assert under_way(home("noa")) == []


def test_of_many_it_has_a_few_those_that_need_someone_first(
    home: Home, admin: ApiClient, people: People, feature: None
) -> None:
    people.person("noa")
    ids = {}
    for number in range(6):
        admin.ok("POST", FEATURES, {"name": f"one-{number}"})
        waits = number == 4
        steps = [step(5, None), step(100)] if waits else STEPS
        path = f"{FEATURES}/one-{number}/environments/production/release-plans"
        ids[number] = path, admin.ok("POST", path, {"milestones": steps, "start": True})["id"]
    path, id = ids[5]
    admin.ok("POST", f"{path}/{id}/hold", {})
    caption, *lines = under_way(home("noa"))
    assert caption == "Releases under way, 5 of 6 All releases"
    assert lines[:2] == [
        "one-5 default, production On hold at 1 of 4, 5% No date",
        "one-4 default, production Waiting for someone, 5% 100%, when someone starts it",
    ]
    assert len(lines) == 5


def test_one_on_hold_needs_its_creator_and_the_members_of_its_project(
    home: Home, people: People, mia: ApiClient, releases: Releases
) -> None:
    people.person("noa")
    releases.create()
    assert needs(home("admin")) == {}
    releases.act("hold", reason="Support is short today")
    says = {HELD: "Support is short today. On for 5% of users in production"}
    for who in ("admin", "mia"):
        found = home(who)
        assert needs(found) == says
        assert found.attention[HELD] == BASE
    assert needs(home("noa")) == {}
    releases.act("resume")
    assert needs(home("mia")) == {}


def test_one_that_waits_needs_someone_once_its_next_step_can_start(
    home: Home, mia: ApiClient, releases: Releases
) -> None:
    releases.create(step(5, 60, manual=True), step(25, None), step(100))
    assert needs(home("mia")) == {}
    found = releases.wait(hours=1)
    with clock.at(utcnow() + releases.later):
        found = home("mia")
    assert needs(found) == {WAITING: "“25%” can start in production"}
    assert found.attention[WAITING] == BASE


def test_one_that_could_not_start_at_its_time_says_why(
    home: Home, admin: ApiClient, mia: ApiClient, releases: Releases
) -> None:
    constraint = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    body = {"name": "Staff", "constraints": [constraint]}
    staff = admin.ok("POST", "/segments", body)["id"]
    first = {**step(5), "strategies": [rollout(5, segments=[staff])]}
    releases.create(first, step(100), start=False, startAt="2199-01-01T09:00:00Z")
    admin.ok("DELETE", f"/segments/{staff}")
    releases.wait(days=365 * 175)
    assert needs(home("mia")) == {
        COULD_NOT: (f"Step 1, 5%, can’t start. Project default has no segment with the id {staff}.")
    }


def test_one_that_is_over_needs_no_one(home: Home, mia: ApiClient, releases: Releases) -> None:
    releases.create()
    releases.act("hold")
    assert needs(home("mia")) == {HELD: "On for 5% of users in production"}
    releases.act("stop")
    assert (needs(home("mia")), under_way(home("mia"))) == ({}, [])


def test_a_reader_can_hide_the_list_and_the_reminder(
    home: Home, mia: ApiClient, releases: Releases
) -> None:
    releases.create()
    releases.act("hold")
    mia.ok("PUT", "/user/display/home", {"hidden": ["releases"]})
    assert (under_way(home("mia")), list(needs(home("mia")))) == ([], [HELD])
    mia.ok("PUT", "/user/display/home", {"hidden": ["releases-held"]})
    assert (len(under_way(home("mia"))), needs(home("mia"))) == (2, {})
