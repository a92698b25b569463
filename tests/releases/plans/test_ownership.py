"""While a release is under way, the strategies of the feature belong to it."""

from typing import Any

import pytest

from tests.releases.plans.conftest import FEATURES, PLACE, PLANS, Releases, rollout, segment, step
from tests.support.clients import ApiClient

OWNED = (
    "A release decides who gets base in production. It is at step 1 of 4. Stop it (POST {0}/stop), "
    "or leave it (DELETE {0}) before you change the strategies yourself."
)


def edits(admin: ApiClient) -> list[tuple[str, str, Any]]:
    """Every way to change the strategies of a feature."""
    [own] = admin.ok("GET", PLACE)["strategies"]
    one = f"{PLACE}/strategies/{own['id']}"
    return [
        ("POST", f"{PLACE}/strategies", rollout(10)),
        ("PUT", one, rollout(10)),
        ("PATCH", one, [{"op": "replace", "path": "/parameters/rollout", "value": "10"}]),
        ("DELETE", one, None),
        (
            "POST",
            "/segments/strategies",
            {
                "projectId": "default",
                "environmentId": "production",
                "strategyId": own["id"],
                "segmentIds": [segment(admin, "1")],
            },
        ),
    ]


def test_no_one_edits_them(releases: Releases, admin: ApiClient, subtests: Any) -> None:
    admin.ok("POST", f"{FEATURES}/base/environments/development/strategies", rollout(1))
    releases.create()
    path = f"/api/admin{PLANS}/{releases.id}"
    for method, address, body in edits(admin):
        with subtests.test(method=method, address=address):
            answer = admin.request(method, address, json=body)
            assert answer.status_code == 409, answer.text
            assert answer.json["message"] == OWNED.format(path)
    assert releases.rollouts() == ["5"]


def test_before_it_starts_they_belong_to_the_feature(releases: Releases, admin: ApiClient) -> None:
    releases.create(start=False)
    admin.ok("POST", f"{PLACE}/strategies", rollout(10))


def test_other_environments_are_free(releases: Releases, admin: ApiClient) -> None:
    releases.create()
    admin.ok("POST", f"{FEATURES}/base/environments/development/strategies", rollout(10))


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (("POST", f"{PLACE}/off"), "The feature was switched off"),
        (
            (
                "POST",
                "/projects/default/bulk_features/environments/production/off",
                {"features": ["base"]},
            ),
            "The feature was switched off",
        ),
        (("DELETE", f"{FEATURES}/base"), "The feature was archived"),
        (
            ("PUT", "/projects/default/environments", {"environments": ["development"]}),
            "Project default no longer uses production",
        ),
    ],
)
def test_what_takes_the_feature_from_everyone_stops_it(
    releases: Releases, admin: ApiClient, act: tuple[Any, ...], reason: str
) -> None:
    releases.create()
    admin.ok(*act)
    found = releases.wait(days=1)
    assert (found["state"], found["reason"]) == ("stopped", reason)
    [event] = admin.ok("GET", "/events?type=release-plan-stopped")["events"]
    assert event["data"]["reason"] == reason
    assert event["createdBy"] != "Release base, started by admin"


def test_a_draft_of_an_archived_feature_says_why_it_did_not_start(
    releases: Releases, admin: ApiClient
) -> None:
    releases.create(start=False, startAt="2199-01-01T09:00:00Z")
    admin.ok("DELETE", f"{FEATURES}/base")
    found = releases.wait(days=365 * 175)
    assert (found["state"], found["nextAt"]) == ("draft", None)
    assert found["reason"] == "base is archived. Revive it before you change it."


def test_a_segment_that_was_removed_holds_the_release(releases: Releases, admin: ApiClient) -> None:
    staff = segment(admin, "1")
    releases.create(step(5), {**step(25), "strategies": [rollout(25, segments=[staff])]})
    admin.ok("DELETE", f"/segments/{staff}")
    found = releases.wait(hours=1)
    assert found["summary"] == (
        "On hold at step 1 of 2: Step 2, 25%, can’t start. Project default has no segment with the "
        f"id {staff}."
    )
    assert releases.rollouts() == ["5"]
    [event] = admin.ok("GET", "/events?type=release-plan-progressions-paused")["events"]
    assert event["createdBy"] == "Release base, started by admin"


def test_former_strategies_that_cannot_come_back_leave_the_feature_off(
    releases: Releases, admin: ApiClient
) -> None:
    staff = segment(admin, "1")
    admin.ok("POST", f"{PLACE}/strategies", rollout(10, segments=[staff]))
    admin.ok("POST", f"{PLACE}/on")
    releases.create(whenStopped="restore")
    admin.ok("DELETE", f"/segments/{staff}")
    assert releases.act("stop")["whenStopped"] == "off"
    assert releases.rollouts() is None


def test_deleting_a_feature_deletes_its_releases(releases: Releases, admin: ApiClient) -> None:
    releases.create()
    admin.ok("DELETE", f"{FEATURES}/base")
    admin.ok("DELETE", "/archive/base")
    assert admin.ok("GET", "/releases?open=false")["total"] == 0
