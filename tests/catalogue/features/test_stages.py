"""The stages of a feature follow from what is known of it; people only say when it is completed."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from app.catalogue.usage import service as usage
from app.core.db import unit_of_work
from tests.support.clients import error_of, problems_of
from tests.support.statements import statements

PROJECT = "/projects/default"
FEATURES = f"{PROJECT}/features"
CART = f"{FEATURES}/cart"
NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def clock(app):
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


@pytest.fixture(autouse=True)
def cart(clock, admin):
    """A feature, an hour before now."""
    clock.move_to(NOW - HOUR)
    admin.ok("POST", FEATURES, {"name": "cart"})
    clock.move_to(NOW)


def stages(client, path=CART):
    return [row["stage"] for row in client.ok("GET", f"{path}/lifecycle")]


def complete(client, status="kept", path=CART, **more):
    return client.post(f"{path}/lifecycle/complete", json={"status": status} | more)


def uncomplete(client):
    return client.post(f"{CART}/lifecycle/uncomplete")


def told(client):
    """The events about completion, oldest first, as (type, before, after)."""
    found = client.ok("GET", "/events?project=default&feature=cart")["events"]
    return [
        (event["type"], event["preData"], event["data"])
        for event in reversed(found)
        if "completed" in event["type"]
    ]


# The stages


def test_a_new_feature_is_initial(admin):
    assert admin.ok("GET", f"{CART}/lifecycle") == [
        {"stage": "initial", "enteredStageAt": "2026-11-21T13:05:00.000Z"}
    ]
    feature = admin.ok("GET", CART)
    assert feature["lifecycle"] == admin.ok("GET", f"{CART}/lifecycle")[0]
    assert (feature["staleProposal"], feature["lastSeenAt"]) == (None, None)


def test_creating_a_feature_answers_with_its_stage(admin):
    made = admin.ok("POST", FEATURES, {"name": "new"})
    read = admin.ok("GET", f"{FEATURES}/new")
    assert made == {key: value for key, value in read.items() if key in made}
    assert made["lifecycle"]["stage"] == "initial"


def test_a_feature_is_pre_live_once_it_is_asked_for(admin, new_sdk):
    new_sdk(environment="development").reports(cart=(3, 1))
    assert stages(admin) == ["initial", "pre-live"]


def test_being_off_in_production_is_not_live(admin, sdk):
    sdk.reports(cart=(0, 4))
    assert stages(admin) == ["initial", "pre-live"]


def test_a_feature_is_live_once_it_was_on_in_production(admin, clock, sdk):
    sdk.reports(cart=(0, 4))
    clock.move_to(NOW + HOUR)
    sdk.reports(cart=(1, 3))
    clock.move_to(NOW + 2 * HOUR)
    sdk.reports(cart=(5, 0))
    assert admin.ok("GET", f"{CART}/lifecycle") == [
        {"stage": "initial", "enteredStageAt": "2026-11-21T13:05:00.000Z"},
        {"stage": "pre-live", "enteredStageAt": "2026-11-21T14:05:00.000Z"},
        {"stage": "live", "enteredStageAt": "2026-11-21T15:05:00.000Z"},
    ]
    assert admin.ok("GET", CART)["lastSeenAt"] == "2026-11-21T16:05:00.000Z"


def test_only_the_environments_that_the_project_uses_make_it_live(admin, sdk):
    sdk.reports(cart=(1, 0))
    assert stages(admin)[-1] == "live"
    admin.ok("PUT", f"{PROJECT}/environments", {"environments": ["development"]})
    assert stages(admin)[-1] == "pre-live"


def test_an_archived_feature_keeps_its_stages_and_a_revived_one_goes_on(admin, clock, sdk):
    sdk.reports(cart=(1, 0))
    clock.move_to(NOW + HOUR)
    admin.ok("POST", f"{PROJECT}/archive", {"features": ["cart"]})
    assert stages(admin) == ["initial", "pre-live", "live", "archived"]
    admin.ok("POST", f"{PROJECT}/revive-features", {"features": ["cart"]})
    assert stages(admin) == ["initial", "pre-live", "live"]


def test_what_is_first_asked_for_after_its_end_does_not_go_back(admin, clock, sdk):
    admin.ok("POST", f"{PROJECT}/archive", {"features": ["cart"]})
    clock.move_to(NOW + HOUR)
    sdk.reports(cart=(1, 0))
    assert stages(admin) == ["initial", "archived"]


def test_stages_outlive_the_counts(app, admin, clock, sdk):
    sdk.reports(cart=(1, 0))
    clock.move_to(NOW + timedelta(days=200))
    for _ in range(2):
        with app.app_context(), unit_of_work(writes=True):
            usage.prune()
    sdk.reports(cart=(1, 0))
    assert [row["enteredStageAt"] for row in admin.ok("GET", f"{CART}/lifecycle")[1:]] == [
        "2026-11-21T14:05:00.000Z",
        "2026-11-21T14:05:00.000Z",
    ]


def test_reading_stages_of_a_feature_that_is_not_there_is_a_404(admin):
    assert error_of(admin.get(f"{FEATURES}/none/lifecycle")) == (404, "NotFoundError")


# Completing


@pytest.mark.parametrize("status", ["kept", "discarded"])
def test_a_feature_is_completed(admin, clock, status):
    answer = complete(admin, status)
    assert (answer.status_code, answer.data) == (200, b"")
    assert admin.ok("GET", f"{CART}/lifecycle")[1:] == [
        {
            "stage": "completed",
            "status": status,
            "enteredStageAt": "2026-11-21T14:05:00.000Z",
        }
    ]
    assert admin.ok("GET", CART)["lifecycle"]["status"] == status
    assert told(admin) == [
        ("feature-completed", None, {"status": status, "statusValue": None}),
    ]


def test_a_completed_feature_says_which_variant_was_kept(admin):
    complete(admin, statusValue="blue")
    assert admin.ok("GET", f"{CART}/lifecycle")[-1]["statusValue"] == "blue"


def test_completing_again_with_the_same_changes_nothing(admin, clock):
    complete(admin, statusValue="blue")
    clock.move_to(NOW + HOUR)
    assert complete(admin, statusValue="blue").status_code == 200
    assert len(told(admin)) == 1


def test_what_became_of_it_can_be_corrected(admin, clock):
    complete(admin, statusValue="blue")
    clock.move_to(NOW + HOUR)
    complete(admin, "discarded")
    now = admin.ok("GET", f"{CART}/lifecycle")[-1]
    assert (now["status"], now["enteredStageAt"]) == ("discarded", "2026-11-21T14:05:00.000Z")
    assert told(admin)[-1] == (
        "feature-completed",
        {"status": "kept", "statusValue": "blue"},
        {"status": "discarded", "statusValue": None},
    )


def test_completing_is_undone(admin):
    complete(admin)
    answer = uncomplete(admin)
    assert (answer.status_code, answer.data) == (200, b"")
    assert stages(admin) == ["initial"]
    assert told(admin)[-1] == (
        "feature-uncompleted",
        {"status": "kept", "statusValue": None},
        None,
    )


def test_undoing_what_was_not_completed_changes_nothing(admin):
    assert uncomplete(admin).status_code == 200
    assert told(admin) == []


def test_a_completed_feature_that_goes_live_stays_completed(admin, clock, sdk):
    complete(admin)
    clock.move_to(NOW + HOUR)
    sdk.reports(cart=(1, 0))
    assert stages(admin) == ["initial", "completed"]
    uncomplete(admin)
    assert stages(admin) == ["initial", "pre-live", "live"]


def test_an_archived_feature_can_not_be_completed_nor_is_that_undone(admin):
    complete(admin)
    admin.ok("POST", f"{PROJECT}/archive", {"features": ["cart"]})
    for answer in (complete(admin, "discarded"), uncomplete(admin)):
        assert error_of(answer)[0] == 409
    assert admin.ok("GET", f"{CART}/lifecycle")[1]["status"] == "kept"


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        ({}, "/status"),
        ({"status": "x"}, "/status"),
        ({"status": None}, "/status"),
        ({"status": "kept", "statusValue": "v" * 256}, "/statusValue"),
        ({"status": "kept", "statusValue": 5}, "/statusValue"),
        ({"status": "kept", "color": "red"}, "/color"),
    ],
)
def test_what_does_not_fit_is_refused(admin, bad, path):
    answer = admin.post(f"{CART}/lifecycle/complete", json=bad)
    assert list(problems_of(answer)) == [path]
    assert stages(admin) == ["initial"]


def test_completing_changes_nothing_for_applications(admin, sdk):
    admin.ok("POST", f"{CART}/environments/production/on")
    before = sdk.get()
    complete(admin, "discarded")
    after = sdk.get()
    assert (after.data, after.headers["ETag"]) == (before.data, before.headers["ETag"])


def test_completing_does_not_rebuild_what_applications_get(app, admin, sdk):
    sdk.read()
    complete(admin)
    with statements(app) as run:
        sdk.read()
    assert not [one for one in run if "feature_states" in one]


def test_a_dry_run_completes_nothing(admin):
    answer = admin.post(f"{CART}/lifecycle/complete?dryRun=true", json={"status": "kept"})
    assert answer.status_code == 200
    assert stages(admin) == ["initial"]


def test_a_stage_does_not_change_the_version_that_an_edit_is_based_on(admin, sdk):
    version = admin.get(CART).headers["ETag"]
    sdk.reports(cart=(1, 0))
    complete(admin)
    assert admin.get(CART).headers["ETag"] == version


def test_what_a_read_returned_can_be_sent_back(admin, sdk):
    sdk.reports(cart=(1, 0))
    complete(admin)
    assert admin.put(CART, json=admin.ok("GET", CART)).status_code == 200


# Lists


@pytest.fixture
def many(admin, clock, sdk):
    """A feature in each stage, named after it."""
    for name in ("pre-live", "live", "completed", "archived"):
        admin.ok("POST", FEATURES, {"name": name})
    sdk.reports(**{"pre-live": (0, 1), "live": (1, 1), "completed": (1, 1), "archived": (1, 1)})
    complete(admin, path=f"{FEATURES}/completed")
    admin.ok("POST", f"{PROJECT}/archive", {"features": ["archived"]})


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("path", [FEATURES, "/features"])
def test_a_list_is_filtered_by_stage(admin, path):
    for stage, names in {
        "initial": ["cart"],
        "pre-live": ["pre-live"],
        "live": ["live"],
        "completed": ["completed"],
        "archived": ["archived"],
    }.items():
        found = admin.ok("GET", f"{path}?stage={stage}")["features"]
        assert [row["name"] for row in found] == names
        assert [row["lifecycle"]["stage"] for row in found] == [stage]


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("path", [FEATURES, "/features"])
def test_a_list_is_filtered_by_usage(admin, clock, sdk, path):
    clock.move_to(NOW + timedelta(days=31))
    sdk.reports(live=(1, 0))
    for asked, names in {
        "used": ["live"],
        "unused": ["completed", "pre-live"],
        "never": ["cart"],
    }.items():
        found = admin.ok("GET", f"{path}?usage={asked}")["features"]
        assert [row["name"] for row in found] == names


@pytest.mark.usefixtures("many")
def test_a_list_is_sorted_by_when_features_were_last_seen(admin, clock, sdk):
    clock.move_to(NOW + HOUR)
    sdk.reports(live=(1, 0))
    found = admin.ok("GET", f"{FEATURES}?sort=-lastSeenAt")["features"]
    assert [row["name"] for row in found] == ["live", "completed", "pre-live", "cart"]


@pytest.mark.parametrize("bad", ["stage=x", "usage=x", "staleProposal=x"])
def test_a_filter_that_does_not_exist_is_refused(admin, bad):
    assert admin.get(f"{FEATURES}?{bad}").status_code == 400
