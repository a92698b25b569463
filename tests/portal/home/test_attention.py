"""The home page says what needs the reader, with one next step each, and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from app.catalogue.visits import requests as visits
from app.releases.change_requests import applying
from tests.support.browser import Browser
from tests.support.change_requests import PLACE, new_desk, rollout, switching

pytestmark = pytest.mark.slow

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock(app):
    with time_machine.travel(START, tick=False) as clock:
        yield clock


@pytest.fixture
def desk(clock, admin, people):
    return new_desk(admin, people)


def test_nothing_needs_someone_who_has_nothing_to_do(home, desk, people):
    people.person("noa")
    found = home("noa")
    assert found.attention == {}
    assert found.page.has("Nothing needs your attention.")


def test_people_see_what_waits_for_their_approval(home, desk):
    number = desk.open(switching("card", on=True))
    says = "1 change request waits for your approval"
    assert home("finn").attention == {says: f"/projects/pay/change-requests/{number}"}
    assert home("kim").attention == {}
    desk.open(switching("tips", on=True), by=desk.sofia)
    assert home("finn").attention == {
        "2 change requests wait for your approval": "/change-requests"
    }


def test_authors_see_what_they_can_apply_and_what_was_rejected(home, desk):
    ready = desk.approved(switching("card", on=True))
    refused = desk.open(switching("tips", on=True))
    desk.to("Rejected", refused, by=desk.finn, comment="Not before Monday")
    found = home("kim")
    assert found.attention == {
        "1 change request can be applied": f"/projects/pay/change-requests/{ready}",
        f"Your change request {refused} was rejected": f"/projects/pay/change-requests/{refused}",
    }
    assert found.page.has("By finn: “Not before Monday”")


def test_authors_see_a_schedule_that_failed(home, desk, app, clock):
    number = desk.approved(switching("card", on=True))
    at = (START + timedelta(minutes=1)).isoformat()
    desk.to("Scheduled", number, scheduledAt=at)
    rules = {"changeRequestsEnabled": True, "requiredApprovals": 3}
    desk.admin.ok("PUT", f"{PLACE}/config", rules)
    clock.shift(120)
    with app.app_context():
        applying.apply_due()
    [says] = home("kim").attention
    assert says == f"Change request {number} could not be applied"


def test_authors_see_what_has_changed_since_it_was_approved(home, desk, app):
    number = desk.approved(switching("card", on=True))
    desk.directly("card/environments/production/strategies", rollout(5))
    with app.app_context():
        applying.check_outcomes()
    [says] = home("kim").attention
    assert says == f"Change request {number} has changed since it was approved"


def test_admins_see_that_backups_are_missing(clock, home, admin, people):
    people.person("ada", role="Admin")
    assert "No backup yet" not in home("ada").attention
    clock.shift(8 * DAY)
    assert home("ada").attention["No backup yet"] == "/help/operating"


def test_admins_see_tokens_that_expire_soon(home, admin, people):
    people.person("ada", role="Admin")
    soon = (datetime.now(UTC) + 9 * DAY).isoformat()
    body = {"tokenName": "shop", "type": "client", "environment": "production", "expiresAt": soon}
    admin.ok("POST", "/api-tokens", body)
    says = "1 SDK token expires within 30 days"
    assert home("ada").attention[says] == "/sdk-tokens?state=expiring"


def test_members_see_features_of_their_projects_that_no_one_uses(home, desk, sdk, clock):
    sdk.reports(card=(1, 0), tips=(1, 0))
    clock.shift(31 * DAY)
    sdk.reports(card=(1, 0))
    says = "1 feature hasn’t been used for 30 days"
    assert home("rosa").attention[says] == "/features?staleProposal=unused"


def test_members_see_features_of_their_projects_that_are_older_than_expected(
    home, desk, admin, clock
):
    admin.ok("PUT", "/feature-types/release/lifetime", {"lifetimeDays": 10})
    clock.shift(11 * DAY)
    found = home("rosa").attention
    [says] = [text for text in found if "lifetime" in text]
    assert says.endswith("are past their lifetime")
    assert found[says] == "/features?staleProposal=lifetime"


def test_admins_see_inactive_people_and_projects_without_an_owner(home, admin, people):
    people.person("ada", role="Admin")
    people.person("gone", away_days=200)
    found = home("ada").attention
    assert found["1 user has been inactive for 180 days"] == "/users/inactive"
    assert found["1 project has no Owner"] == "/projects/default/members"


def test_admins_become_the_owner_of_the_only_project_without_one(home, app, people):
    people.person("ada", role="Admin")
    browser = Browser(app).sign_in("ada")
    done = browser.follow(browser.submit(browser.get("/"), form="Become its Owner"))
    assert "ada is now an Owner of Default." in done.words
    assert "1 project has no Owner" not in home("ada").attention


def test_admins_review_several_projects_without_an_owner(home, admin, people):
    people.person("ada", role="Admin")
    gone = people.client("gone", role="Editor")
    gone.ok("POST", "/projects", {"id": "pay", "name": "Pay"})
    admin.ok("DELETE", f"/user-admin/{gone.ok('GET', '/user')['user']['id']}")
    found = home("ada")
    assert found.attention["2 projects have no Owner"] == "/projects?membership=ownerless"
    assert not found.page.has("Become its Owner")


def test_admins_and_owners_see_where_no_one_can_approve(home, desk, people):
    people.person("ada", role="Admin")
    body = {"changeRequestsEnabled": True, "requiredApprovals": 9}
    desk.admin.ok("PUT", f"{PLACE}/config", body)
    says = "No one can approve changes in production of pay"
    for name in ("ada", "sofia"):
        assert home(name).attention[says] == "/projects/pay/members"
    assert says not in home("kim").attention


def test_admins_see_features_that_the_engine_cannot_evaluate(home, people, app, monkeypatch):
    people.person("ada", role="Admin")
    found = {"production": {"broken": "no such operator"}}
    monkeypatch.setattr(app.extensions["flagstaff.source"], "problems", lambda: found)
    says = "1 feature can’t be evaluated in production"
    assert home("ada").attention[says] == "/help/troubleshooting"


def test_what_someone_opened_last_is_there_to_open_again(home, desk, app):
    browser = Browser(app).sign_in("kim")
    browser.get("/projects/pay/features/card")
    with app.app_context():
        visits.write_pending()
    assert home("kim").page.links["card"] == "/projects/pay/features/card"
