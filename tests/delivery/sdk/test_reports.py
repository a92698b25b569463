"""What SDKs report is taken as they send it, and nothing of it is lost."""

import json
from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine

from app.catalogue.features.models import Feature
from app.catalogue.usage.models import Application, Instance, UnknownFeature, Usage, VariantUsage
from app.core.clock import utcnow
from app.core.db import db
from tests.support.clients import error_of
from tests.support.sdks import write_reports

NODE = {
    "appName": "node-app",
    "instanceId": "root-vm",
    "sdkVersion": "unleash-node-sdk:6.12.1",
    "strategies": ["default", "flexibleRollout"],
    "started": "2026-11-21T21:47:37.213Z",
    "interval": 2500,
    "connectionId": "143b",
    "platformName": "node",
    "yggdrasilVersion": None,
    "specVersion": "5.2.0",
}
PYTHON = {
    "appName": "py-app",
    "instanceId": "unleash-python-sdk",
    "started": "2026-11-21T21:47:42.472393+00:00",
    "interval": 2,
    "strategies": [],
}


@pytest.fixture
def cart(admin):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})


def metrics(stop=None, **toggles):
    bucket = {"start": "2026-11-21T21:47:42.467321636Z", "stop": stop, "toggles": toggles}
    return {"appName": "shop", "instanceId": "i1", "environment": "ignored", "bucket": bucket}


def counted(app):
    """The counts that are stored, by span: [(application, yes, no)]."""
    write_reports(app)
    with app.app_context():
        query = sa.select(Usage.span, Application.name, Usage.yes, Usage.no, Usage.start).join(
            Application
        )
        found = db.session.execute(query.order_by(Usage.span, Usage.start, Application.name)).all()
    rows = {"hour": [], "day": []}
    for span, name, yes, no, _ in found:
        rows[span].append((name, yes, no))
    return rows


def test_what_real_sdks_send_when_they_start_is_taken(app, sdk):
    for body in (NODE, PYTHON):
        answer = sdk.post("register", body)
        assert (answer.status_code, answer.data) == (202, b"")
        assert answer.headers["X-Unleash-Version"]
    write_reports(app)
    with app.app_context():
        found = db.session.execute(
            sa.select(Application.name, Application.strategies, Instance.id, Instance.sdk)
            .join(Instance)
            .order_by(Application.name)
        ).all()
    assert [tuple(row) for row in found] == [
        ("node-app", ["default", "flexibleRollout"], "143b", "unleash-node-sdk:6.12.1"),
        ("py-app", [], "unleash-python-sdk", None),
    ]


def test_counts_are_added_up_by_hour_and_by_day(app, sdk, cart):
    now = f"{utcnow():%Y-%m-%dT%H:%M:%S}.479891743Z"
    for _ in range(3):
        answer = sdk.post("metrics", metrics(now, cart={"yes": 3, "no": 1, "variants": {}}))
        assert (answer.status_code, answer.data) == (202, b"")
    assert counted(app) == {"hour": [("shop", 9, 3)], "day": [("shop", 9, 3)]}
    sdk.post("metrics", metrics(now, cart={"yes": 1, "no": 0}))
    assert counted(app)["hour"] == [("shop", 10, 3)]


def test_variants_are_counted_too(app, sdk, cart):
    given = {"yes": 4, "no": 0, "variants": {"blue": 3, "disabled": 1, "x" * 101: 1}}
    sdk.post("metrics", metrics(None, cart=given))
    write_reports(app)
    with app.app_context():
        query = sa.select(VariantUsage.variant, VariantUsage.times).where(
            VariantUsage.span == "hour"
        )
        found = dict(db.session.execute(query).all())
    assert found == {"blue": 3, "disabled": 1}


def test_what_counts_nothing_is_taken_without_a_word(app, sdk, cart, subtests):
    for bucket in (
        None,
        {},
        {"toggles": None},
        {"toggles": {"cart": {"yes": 0, "no": 0}}},
        {"toggles": {"cart": {"yes": "many", "no": True}}},
        {"toggles": {"cart": {"yes": -1, "no": 1e400}}},
        {"toggles": {"cart": None}},
        {"toggles": {"not a name": {"yes": 1}}},
    ):
        with subtests.test(bucket=bucket):
            body = json.dumps(metrics() | {"bucket": bucket, "impactMetrics": [], "new": {"x": 1}})
            assert sdk.post("metrics", body.encode()).status_code == 202
            assert counted(app)["hour"] == []


def test_times_may_be_numbers_or_missing_and_are_never_in_the_future(app, sdk, cart):
    one = {"yes": 1, "no": 0}
    later = (utcnow() + timedelta(days=400)).isoformat()
    for stop in (utcnow().timestamp() * 1_000, None, later, "yesterday", 1e300, -5):
        assert sdk.post("metrics", metrics(stop, cart=one)).status_code == 202
    assert sum(yes for _, yes, _ in counted(app)["hour"]) == 6
    with app.app_context():
        assert db.session.scalar(sa.select(sa.func.max(Usage.start))) <= utcnow()


def test_names_that_are_no_feature_are_kept_apart(app, sdk, cart):
    sdk.post("metrics", metrics(None, cart={"yes": 1}, gone={"yes": 5, "no": 2}))
    assert counted(app)["hour"] == [("shop", 1, 0)]
    with app.app_context():
        assert db.session.scalars(sa.select(UnknownFeature.name)).all() == ["gone"]


def test_a_proxy_reports_many_at_once_and_only_for_its_environment(app, sdk, cart):
    row = {"featureName": "cart", "appName": "phone", "yes": 2, "no": 1, "variants": {}}
    at = {"timestamp": utcnow().isoformat()}
    body = {
        "applications": [{"appName": "phone", "instanceId": "p1", "strategies": ["default"]}],
        "metrics": [
            row | at,
            row | at | {"environment": "production"},
            row | at | {"environment": "development"},
            "nonsense",
        ],
    }
    assert sdk.post("metrics/bulk", body).status_code == 202
    assert counted(app)["hour"] == [("phone", 4, 2)]


@pytest.mark.parametrize("body", [b"", b"no json", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_json_object_is_400(sdk, body):
    for path in ("register", "metrics", "metrics/bulk"):
        assert error_of(sdk.post(path, body))[0] == 400


def test_more_than_the_limit_is_413(app, sdk):
    body = b" " * (app.config["MAX_CONTENT_LENGTH"] + 1)
    assert error_of(sdk.post("metrics", body))[0] == 413


def test_only_a_known_token_reports(app, sdk):
    sdk.token = "*:production.nope"
    assert error_of(sdk.post("metrics", metrics()))[0] == 401


def test_what_could_not_be_written_is_written_the_next_time(app, sdk, cart, monkeypatch):
    sdk.post("metrics", metrics(None, cart={"yes": 1, "no": 0}))
    with monkeypatch.context() as patch:
        patch.setattr("app.catalogue.usage.service.upsert", None)
        with pytest.raises(TypeError):
            write_reports(app)
    sdk.post("metrics", metrics(None, cart={"yes": 2, "no": 0}))
    assert counted(app)["hour"] == [("shop", 3, 0)]


def test_the_last_use_of_a_token_is_known(app, admin, sdk):
    sdk.get()
    write_reports(app)
    [token] = admin.ok("GET", "/api-tokens")["tokens"]
    assert token["seenAt"] is not None


# What a token can't read


@pytest.fixture
def door(admin, cart):
    """A feature of another project than that of the cart."""
    admin.ok("POST", "/projects", {"id": "vault", "name": "Vault"})
    admin.ok("POST", "/projects/vault/features", {"name": "door"})


def of_features(app):
    """The counts of the hour that are stored, by feature."""
    write_reports(app)
    with app.app_context():
        query = sa.select(Feature.name, Usage.yes, Usage.no).join(
            Usage, Usage.feature_id == Feature.id
        )
        found = db.session.execute(query.where(Usage.span == "hour")).all()
    return {name: (yes, no) for name, yes, no in found}


@pytest.mark.parametrize(
    ("projects", "counted"),
    [
        (["default"], {"cart"}),
        (["vault"], {"door"}),
        (["default", "vault"], {"cart", "door"}),
        (["*"], {"cart", "door"}),
    ],
)
def test_a_token_counts_only_features_that_it_reads(app, new_sdk, door, projects, counted):
    sdk = new_sdk(projects=projects)
    given = {"yes": 2, "no": 1, "variants": {"blue": 2}}
    sdk.post("metrics", metrics(None, cart=given, door=given))
    assert of_features(app) == dict.fromkeys(counted, (2, 1))
    at = {"timestamp": utcnow().isoformat(), "appName": "phone", "yes": 1, "no": 0}
    sdk.post("metrics/bulk", {"metrics": [at | {"featureName": n} for n in ("cart", "door")]})
    write_reports(app)
    with app.app_context():
        assert db.session.scalar(sa.select(sa.func.sum(Usage.yes))) == 2 * 3 * len(counted)
        variants = sa.select(VariantUsage).where(VariantUsage.span == "hour")
        assert len(db.session.scalars(variants).all()) == len(counted)


def test_counts_of_tokens_with_different_projects_are_added_up(app, new_sdk, door):
    for projects in (["*"], ["default"], ["vault"], ["default", "vault"]):
        sdk = new_sdk(projects=projects)
        sdk.post("metrics", metrics(None, cart={"yes": 1, "no": 0}))
    assert of_features(app) == {"cart": (3, 0)}


@pytest.mark.slow
def test_more_names_than_fit_into_one_in_are_counted(app, admin, sdk):
    """Both ways of passing a list to the database know the features."""
    for number in range(120):
        admin.ok("POST", "/projects/default/features", {"name": f"f{number}"})
    sdk.reports(**{f"f{number}": (1, 0) for number in range(120)})
    assert len(of_features(app)) == 120


def test_what_a_token_does_not_read_is_said_of_the_application(app, admin, people, new_sdk, door):
    with time_machine.travel(utcnow() + timedelta(minutes=10), tick=False):
        sdk = new_sdk(projects=["default"])
        sdk.post("metrics", metrics(None, cart={"yes": 1}, door={"no": 3}))
        write_reports(app)
        path = "/metrics/applications/shop/overview"
        [use] = admin.ok("GET", path)["environments"]
        assert use["issues"]["unreadableFeatures"] == ["door"]
        assert use["issues"]["missingFeatures"] == []
        assert admin.ok("GET", "/metrics/unknown-flags") == {"unknownFlags": []}
        assert admin.ok("GET", "/client-metrics/features/door")["seenApplications"] == []
        admin.ok("PUT", "/projects/vault", {"name": "Vault", "mode": "private"})
        [use] = people.client("vera").ok("GET", path)["environments"]
        assert use["issues"]["unreadableFeatures"] == []


def test_a_feature_that_was_unknown_before_it_was_created_is_not_called_unreadable(app, admin, sdk):
    sdk.reports(door=(0, 1))
    admin.ok("POST", "/projects/default/features", {"name": "door"})
    [use] = admin.ok("GET", "/metrics/applications/shop/overview")["environments"]
    assert use["issues"]["unreadableFeatures"] == []
