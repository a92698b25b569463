"""Releases under way and their templates are found, by those who can see them."""

from typing import Any

import pytest

from tests.portal.search.conftest import answer, found
from tests.releases.plans import conftest
from tests.releases.plans.conftest import PLANS, STEPS, Releases, step
from tests.support.clients import ApiClient
from tests.support.people import People

pytestmark = pytest.mark.slow

feature, releases = conftest.feature, conftest.releases


def hits(client: ApiClient, asked: str, kind: str) -> Any:
    groups = answer(client, asked, **{"in": kind})["groups"]
    return [hit for group in groups for hit in group["hits"]]


def about(client: ApiClient) -> str:
    """What is said about the only release."""
    [hit] = hits(client, "base", "releases")
    return str(hit["about"])


@pytest.fixture
def vault(admin: ApiClient) -> None:
    """A private project with a release of the feature “sapphire” and a template “Sapphires”."""
    admin.ok("POST", "/projects", {"id": "vault", "name": "Safe", "mode": "private"})
    path = "/projects/vault/features"
    admin.ok("POST", path, {"name": "sapphire"})
    plans = f"{path}/sapphire/environments/production/release-plans"
    admin.ok("POST", plans, {"milestones": STEPS, "start": True})
    body = {"name": "Sapphires", "description": "Brilliant", "milestones": STEPS}
    admin.ok("POST", "/projects/vault/release-templates", body)


def test_a_release_is_found_by_its_feature_and_leads_to_it(
    viewer: ApiClient, releases: Releases
) -> None:
    assert "releases" not in found(viewer, "base")
    releases.create()
    assert hits(viewer, "bas", "releases") == [
        {
            "name": "Release of base",
            "about": "production · step 1 of 4",
            "archived": False,
            "path": "/projects/default/features/base#released-in-production",
        }
    ]


def test_it_says_where_the_release_is(viewer: ApiClient, releases: Releases) -> None:
    first, *_ = releases.create(start=False)["milestones"]
    abouts = [about(viewer)]
    releases.act(f"milestones/{first['id']}/start")
    releases.wait(hours=1)
    abouts.append(about(viewer))
    releases.act("hold")
    abouts.append(about(viewer))
    assert abouts == [
        "production · not started",
        "production · step 2 of 4",
        "production · on hold at step 2 of 4",
    ]


def test_one_that_is_over_is_not_found(
    viewer: ApiClient, admin: ApiClient, releases: Releases
) -> None:
    releases.create()
    releases.act("stop")
    assert hits(viewer, "base", "releases") == []
    releases.create()
    assert len(hits(viewer, "base", "releases")) == 1
    admin.ok("DELETE", f"{PLANS}/{releases.id}")
    assert hits(viewer, "base", "releases") == []


def test_a_template_is_found_by_name_and_description(viewer: ApiClient, admin: ApiClient) -> None:
    body = {"name": "Quick", "description": "In an hour", "milestones": [step(5), step(100)]}
    id = admin.ok("POST", "/release-plan-templates", body)["id"]
    for asked in ("quick", "an hour", "hour quick"):
        assert hits(viewer, asked, "releaseTemplates") == [
            {
                "name": "Quick",
                "about": "2 steps · In an hour",
                "archived": False,
                "path": f"/releases/templates/{id}",
            }
        ], asked
    admin.ok("DELETE", f"/release-plan-templates/{id}")
    assert hits(viewer, "quick", "releaseTemplates") == []


def test_those_of_a_private_project_are_found_by_its_members_and_admins(
    admin: ApiClient, people: People, viewer: ApiClient, vault: None
) -> None:
    member = people.member("mia", "vault")
    for client in (admin, member):
        names = found(client, "sapphire")
        assert answer(client, "saphire")["suggestion"] == "sapphire"
        assert (names["releases"], names["releaseTemplates"]) == (
            ["Release of sapphire"],
            ["Sapphires"],
        )
    elsewhere = people.member("otto", "default", "Owner")
    for client in (viewer, elsewhere):
        for asked in ("sapphire", "brilliant", "saphire"):
            got = answer(client, asked)
            assert (got["total"], got["suggestion"]) == (0, None), asked


def test_a_misspelt_template_is_suggested(viewer: ApiClient) -> None:
    assert answer(viewer, "carefull")["suggestion"] == "Careful"
