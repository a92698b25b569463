"""The number of SQL statements does not grow with the number of rows."""

from itertools import count

import pytest

from app.access.security_log import service as security_log
from app.access.security_log.models import SecurityKind
from app.access.security_log.service import LogEntry
from app.catalogue.environments import service as environments
from app.catalogue.environments.models import EnvironmentType
from app.catalogue.features.models import Feature, FeatureType
from app.catalogue.tags.models import TagType
from app.catalogue.usage import service as usage
from app.catalogue.usage.service import Counted, Report, Running, Seen
from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.db import db, insert_all, unit_of_work
from tests.support.people import People
from tests.support.statements import settled, statements

pytestmark = [pytest.mark.slow, pytest.mark.one_in(6)]

FEW, MANY = 5, 20
FEATURES = "/projects/default/features"


def number_of(app, client, method, path, json=None):
    for _ in range(2):  # the first notes the use of the token, and the second who its owner is
        client.ok("GET", "/user")
    with statements(app) as run:
        client.ok(method, path, json)
    return len(run)


def make_project(app, client, number):
    rules = [{"name": "production"}, {"name": "development"}]
    body = {"id": f"p{number}", "name": "P", "changeRequestEnvironments": rules}
    client.ok("POST", "/projects", body)


def make_feature(app, client, number):
    """A feature with two tags, and a child of one that all share."""
    if client.get(f"{FEATURES}/parent").status_code == 404:
        client.ok("POST", FEATURES, {"name": "parent"})
    name = f"f{number}"
    client.ok("POST", FEATURES, {"name": name})
    client.ok("POST", f"{FEATURES}/{name}/dependencies", {"feature": "parent"})
    added = [{"value": name}, {"value": "shared"}]
    body = {"features": [name], "tags": {"addedTags": added, "removedTags": []}}
    client.ok("PUT", "/projects/default/tags", body)


def make_user(app, client, number):
    client.ok("POST", "/user-admin", {"username": f"u{number}", "rootRole": 3})


def make_inactive_user(app, client, number):
    people = People(app)
    people.token(people.person(f"u{number}", away_days=200))


def make_service_account(app, client, number):
    id = client.ok("POST", "/service-account", {"username": f"s{number}", "rootRole": 3})["id"]
    client.ok("POST", f"/service-account/{id}/token", {"description": "x"})


def make_sdk_token(app, client, number):
    body = {"tokenName": f"t{number}", "type": "client", "environment": "production"}
    client.ok("POST", "/projects/default/api-tokens", body)


def make_webhook(app, client, number):
    """A webhook with a delivery."""
    hook = {"name": f"h{number}", "url": "https://hooks.example/"}
    id = client.ok("POST", "/webhooks", hook)["id"]
    client.ok("POST", f"/webhooks/{id}/test")


def make_delivery(app, client, number):
    if number == 0:
        make_webhook(app, client, number)
    client.ok("POST", "/webhooks/1/test")


def make_environment(app, client, number):
    with app.app_context(), unit_of_work(writes=True):
        type = EnvironmentType.TEST
        environments.create(COMMAND_LINE, name=f"e{number}", type=type)


def make_change_request(app, client, number):
    """One that waits for two approvals, and has one, a reviewer and a comment."""
    if client.get("/projects/pay").status_code == 404:
        rule = {"name": "production", "requiredApprovals": 2}
        body = {"id": "pay", "name": "Pay", "changeRequestEnvironments": [rule]}
        client.ok("POST", "/projects", body)
    author = People(app).member(f"a{number}", "pay")
    client.ok("POST", "/projects/pay/features", {"name": f"r{number}"})
    change = {"feature": f"r{number}", "action": "updateEnabled", "payload": {"enabled": True}}
    place = "/projects/pay/environments/production/change-requests"
    path = f"/projects/pay/change-requests/{author.ok('POST', place, change)['id']}"
    author.ok("PUT", f"{path}/approvers", {"reviewers": [1]})
    author.ok("PUT", f"{path}/state", {"state": "In review"})
    client.ok("PUT", f"{path}/state", {"state": "Approved", "comment": "Yes"})


def make_entry(app, client, number):
    account_id = People(app).person(f"u{number}")
    with app.app_context(), unit_of_work(writes=True):
        security_log.record(LogEntry(SecurityKind.SIGN_IN, "192.0.2.7", account_id, f"u{number}"))


def make_application(app, client, number):
    """An application that asks for a feature, and for one that does not exist."""
    client.post(FEATURES, json={"name": "cart"})
    hour = utcnow().replace(minute=0, second=0, microsecond=0)
    counts = {
        Counted(hour, "production", name, f"a{number}"): (1, 1) for name in ("cart", f"u{number}")
    }
    running = Running("production", f"a{number}", "1")
    with app.app_context(), unit_of_work(writes=True):
        seen = Seen(utcnow(), utcnow(), "unleash-java-sdk:9.2.0", token_id=0)
        usage.write(Report(counts, instances={running: seen}))


def make_tag_type(app, client, number):
    with app.app_context(), unit_of_work(writes=True):
        db.session.add(TagType(name=f"t{number}"))


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("/projects", make_project),
        ("/projects/pay/change-requests", make_change_request),
        ("/projects/pay/change-requests/pending", make_change_request),
        ("/search/change-requests", make_change_request),
        (FEATURES, make_feature),
        ("/tags", make_feature),
        ("/events", make_feature),
        ("/metrics/applications", make_application),
        ("/metrics/unknown-flags", make_application),
        ("/metrics/sdks/outdated", make_application),
        ("/security-log", make_entry),
        ("/user-admin", make_user),
        ("/user-admin/inactive", make_inactive_user),
        ("/service-account", make_service_account),
        ("/api-tokens", make_sdk_token),
        ("/webhooks", make_webhook),
        ("/webhooks/1/deliveries", make_delivery),
        ("/environments", make_environment),
        ("/tag-types", make_tag_type),
    ],
)
def test_a_list_takes_as_many_for_20_rows_as_for_5(app, admin, path, make):
    numbers = count()
    for _ in range(FEW):
        make(app, admin, next(numbers))
    few = number_of(app, admin, "GET", f"{path}?limit=1000")
    for _ in range(MANY - FEW):
        make(app, admin, next(numbers))
    assert number_of(app, admin, "GET", f"{path}?limit=1000") == few


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("/projects", make_project),
        ("/", make_project),
        ("/projects/default/health", make_feature),
        ("/projects/default", make_feature),
        ("/playground?context.userId=1", make_feature),
        ("/search?q=f", make_feature),
        ("/search?q=simple:f", make_feature),
        ("/search/hits?q=p", make_project),
        ("/search?q=a", make_application),
        ("/search?q=u", make_user),
        ("/search?q=s", make_service_account),
        ("/search?q=t&in=sdkTokens", make_sdk_token),
        ("/search", make_feature),
        ("/projects/default/settings", make_environment),
        ("/tags", make_feature),
        ("/applications", make_application),
        ("/events", make_feature),
        ("/security-log", make_entry),
        ("/users", make_user),
        ("/users/inactive", make_inactive_user),
        ("/service-accounts", make_service_account),
        ("/sdk-tokens", make_sdk_token),
        ("/webhooks", make_webhook),
        ("/webhooks/1", make_delivery),
        ("/environments", make_environment),
        ("/account/permissions", make_project),
        ("/change-requests", make_change_request),
        ("/projects/pay/change-requests", make_change_request),
    ],
)
def test_a_page_takes_as_many_for_20_rows_as_for_5(app, admin, browser, path, make):
    numbers = count()
    taken = []
    for rows in (FEW, MANY - FEW):
        for _ in range(rows):
            make(app, admin, next(numbers))
        assert browser.get(path).status == 200
        taken.append(len(settled(app, lambda: browser.get(path))))
    assert taken[0] == taken[1]


def test_one_project_with_many_environments_takes_no_more(app, admin):
    make_project(app, admin, "few")
    for number in range(20):
        make_environment(app, admin, number)
    make_project(app, admin, "many")
    few, many = (number_of(app, admin, "GET", f"/projects/p{size}") for size in ("few", "many"))
    assert few == many


def test_the_current_user_takes_at_most_five(app, people, admin):
    for number in range(20):
        make_project(app, admin, number)
    client = people.client("grace")
    for _ in range(2):  # the first one notes that the token was used
        with statements(app) as run:
            client.ok("GET", "/user")
        assert 0 < len(run) <= 5, run


def test_the_settings_of_a_project_take_at_most_14(app, browser):
    run = settled(app, lambda: browser.get("/projects/default/settings"))
    assert 0 < len(run) <= 14, run


def tag_change(features, added, removed):
    tags = {"addedTags": as_tags(added), "removedTags": as_tags(removed)}
    return {"features": features, "tags": tags}


def as_tags(values):
    return [{"value": value} for value in values]


def test_bulk_tags_take_as_many_for_900_times_5_as_for_10_times_2(app, admin):
    names = [f"f{number}" for number in range(900)]
    with app.app_context(), unit_of_work(writes=True):
        common = {"project_id": "default", "type": FeatureType.RELEASE, "created_at": utcnow()}
        rest = {"stale": False, "impression_data": False}
        insert_all([{"name": name} | common | rest for name in names], Feature)
    counts = []
    for features, tags in ((names[:10], 2), (names, 5)):
        first, second = ([f"{part}{len(features)}-{n}" for n in range(tags)] for part in "ab")
        admin.ok("PUT", "/projects/default/tags", tag_change(features, first, []))
        body = tag_change(features, second, first)
        counts.append(number_of(app, admin, "PUT", "/projects/default/tags", body))
    assert counts[0] == counts[1]


def test_archiving_takes_as_many_for_20_features_as_for_5(app, admin):
    for number in range(FEW + MANY):
        make_feature(app, admin, number)
    names = [f"f{number}" for number in range(FEW + MANY)]
    few, many = (
        number_of(app, admin, "POST", "/projects/default/archive", {"features": part})
        for part in (names[:FEW], names[FEW:])
    )
    assert few == many


@pytest.mark.parametrize("way", ["on", "off", "on/plan", "off/plan"])
def test_switching_takes_as_many_for_20_features_as_for_5(app, admin, way):
    names = [f"f{number}" for number in range(FEW + MANY)]
    for name in names:
        admin.ok("POST", FEATURES, {"name": name})
    path = "/projects/default/bulk_features/environments/production"
    if way.startswith("off"):
        admin.ok("POST", f"{path}/on", {"features": names})
    few, many = (
        number_of(app, admin, "POST", f"{path}/{way}", {"features": part})
        for part in (names[:FEW], names[FEW:])
    )
    assert few == many


def test_deleting_inactive_users_takes_as_many_for_20_as_for_5(app, admin, people):
    ids = [people.person(f"u{number}", away_days=200) for number in range(FEW + MANY)]
    few, many = (
        number_of(app, admin, "POST", "/user-admin/inactive/delete", {"ids": part})
        for part in (ids[:FEW], ids[FEW:])
    )
    assert few == many
