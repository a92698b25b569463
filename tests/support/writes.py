"""Every kind of write, and a world in which each changes something."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from flask import Flask, url_for
from werkzeug.datastructures import MultiDict

from app.accounts.models import Account
from app.accounts.tokens.models import Token
from app.catalogue.usage import service as usage
from app.catalogue.usage.service import Proof, Report, Running, Seen
from app.core.clock import utcnow
from app.core.db import Model, db, unit_of_work
from app.delivery.webhooks.models import Delivery, DeliveryStatus
from tests.support import imports
from tests.support.browser import Browser, Page, attribute, sent_by, text_of
from tests.support.clients import ApiClient
from tests.support.instances import State, reset_database, state_of
from tests.support.people import People

PASSWORD = "four green ducks in a row"
ANOTHER = "five yellow geese in a pond"
GROUP = {"name": "devs", "rootRole": 2, "projects": [{"id": "shop", "roleId": 5}]}
ROBOT = {"name": "Build", "rootRole": 3}
FEATURES = "/projects/shop/features"
PLACE = f"{FEATURES}/a/environments/production"
SILENT = f"{FEATURES}/b/environments/production"
SEVERAL = "/projects/shop/bulk_features/environments/production"
DEFAULT = "/projects/shop/environments/production/default-strategy"
PROPOSING = "/projects/bank/environments/production/change-requests"
REQUESTS = "/projects/bank/change-requests"
USER = {"contextName": "userId", "operator": "IN", "values": ["1"]}
ROLLOUT = {"name": "flexibleRollout", "parameters": {"rollout": "25"}}
SDK = {"tokenName": "new", "type": "client", "environment": "production"}
PROPOSED = {"feature": "till", "action": "addStrategy", "payload": ROLLOUT}
EDITED = {**PROPOSED, "payload": {"name": "default"}}
APPROVALS = {"changeRequestsEnabled": True, "requiredApprovals": 2}
HOOK = {"name": "new", "url": "https://hooks.example/x"}
LINK = {"url": "https://tickets.example/1"}
SAVED = {"name": "Old", "address": "/features?stale=true"}
EXPORTED = {"features": [{"name": "moved", "project": "shop"}]}
DOCUMENT = {"version": 1, "features": [{"name": "new", "project": "shop"}]}
BROUGHT = {"project": "shop", "environment": "production", "data": EXPORTED}
BLUE = [{"name": "blue"}]
STEPS = [
    {"name": "5%", "strategies": [ROLLOUT], "transitionCondition": {"intervalMinutes": 60}},
    {"name": "25%", "strategies": [ROLLOUT]},
    {"name": "Everyone", "strategies": [ROLLOUT]},
]
RELEASE = {"milestones": STEPS, "start": True}
WALKING = f"{FEATURES}/walking/environments/production"
WALK = f"{WALKING}/release-plans/{{release}}"
RESTING = f"{FEATURES}/held/environments/production"
REST = f"{RESTING}/release-plans/{{held}}"
TEMPLATES = "/release-plan-templates"
OWN_TEMPLATES = "/projects/shop/release-templates"
TAG = {"addedTags": [{"value": "red"}], "removedTags": []}


World = dict[str, Any]
"""Ids of accounts, tokens, strategies and so on, by the name that a path or a body has."""

# Every kind of write, each of which changes something in the world below.
WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/projects/shop/access-reviews", "{reviewing}"),
    ("POST", "/scim-tokens", {"tokenName": "new"}),
    ("DELETE", "/scim-tokens/{scim}", None),
    ("POST", "/scim-tokens/disconnect", None),
    ("POST", "/groups", GROUP | {"name": "new"}),
    ("PUT", "/groups/{group}", {"rootRole": 3}),
    ("DELETE", "/groups/{group}", None),
    ("POST", "/service-account", ROBOT),
    ("PUT", "/service-account/{robot}", {"name": "Robot"}),
    ("DELETE", "/service-account/{robot}", None),
    ("POST", "/service-account/{robot}/token", {"description": "new"}),
    ("POST", "/service-account/{robot}/token/{token}/rotate", {"overlapHours": 1}),
    ("DELETE", "/service-account/{robot}/token/{token}", None),
    ("POST", "/api-tokens", SDK),
    ("PUT", "/api-tokens/{sdk}", {"expiresAt": "2099-01-01T00:00:00Z"}),
    ("POST", "/api-tokens/{sdk}/rotate", {"overlapHours": 1}),
    ("DELETE", "/api-tokens/{sdk}", None),
    ("POST", "/ui-config/cors", {"frontendApiOrigins": ["https://shop.example"]}),
    ("POST", "/maintenance", {"enabled": True}),
    ("POST", "/webhooks", HOOK),
    ("PUT", "/webhooks/{hook}", {"paused": True}),
    ("DELETE", "/webhooks/{hook}", None),
    ("POST", "/webhooks/{hook}/rotate", None),
    ("POST", "/webhooks/{hook}/test", None),
    ("POST", "/webhooks/{hook}/deliveries/{delivery}/send-again", None),
    ("PUT", "/user/notices/read", {"upTo": 1}),
    ("POST", "/features-batch/import", BROUGHT),
    ("POST", "/configuration/apply", DOCUMENT),
    ("POST", "/imports", {"content": EXPORTED}),
    ("PATCH", "/imports/{planned}", {"different": "take"}),
    ("POST", "/imports/{planned}/apply", {"digest": "0"}),
    ("POST", "/imports/{done}/undo", None),
    ("POST", "/tags/rename-type", {"type": "team", "to": "squad"}),
    ("PUT", "/user/display/projects", {"hidden": ["mode"]}),
    ("POST", "/user/filters", SAVED | {"name": "New"}),
    ("PUT", "/user/filters/{saved}", {"name": "New"}),
    ("DELETE", "/user/filters/{saved}", None),
    ("POST", "/projects/shop/favorites", None),
    ("DELETE", "/projects/empty/favorites", None),
    ("POST", f"{FEATURES}/a/favorites", None),
    ("DELETE", f"{FEATURES}/b/favorites", None),
    ("POST", "/projects/shop/api-tokens", SDK),
    ("POST", "/projects/shop/api-tokens/{own_sdk}/rotate", {"overlapHours": 1}),
    ("DELETE", "/projects/shop/api-tokens/{own_sdk}", None),
    ("POST", "/user/tokens", {"description": "new"}),
    ("PUT", "/user/mail", {"kinds": ["reviews"]}),
    ("PUT", "/user/time-zone", {"timeZone": "Europe/Oslo"}),
    ("DELETE", "/user/tokens/{own}", None),
    ("POST", "/user/change-password", {"oldPassword": PASSWORD, "newPassword": ANOTHER}),
    ("POST", "/feedback", {"feedbackId": "menu"}),
    ("PUT", "/feedback/menu", {"neverShow": True}),
    ("POST", "/splash/tour", None),
    ("POST", "/user-admin", {"username": "ada", "rootRole": 2}),
    ("PUT", "/user-admin/{person}", {"rootRole": 2}),
    ("DELETE", "/user-admin/{person}", None),
    ("POST", "/user-admin/{gone}/restore", None),
    ("POST", "/user-admin/{kept_out}/reactivate", None),
    ("POST", "/user-admin/{person}/deactivate", None),
    ("POST", "/user-admin/deactivate", {"ids": ["{person}"]}),
    ("POST", "/user-admin/reactivate", {"ids": ["{kept_out}"]}),
    ("DELETE", "/user-admin/{person}/token/{personal}", None),
    ("POST", "/user-admin/inactive/delete", {"ids": [1, 2, 3, 4, 5, 6]}),
    ("POST", "/projects", {"id": "new", "name": "New"}),
    ("PUT", "/projects/shop", {"name": "Other"}),
    ("DELETE", "/projects/empty", None),
    ("POST", "/projects/old/restore", None),
    ("PUT", "/projects/empty/environments", {"environments": ["production"]}),
    ("POST", PROPOSING, PROPOSED),
    ("PUT", f"{PROPOSING}/config", APPROVALS),
    ("PUT", f"{REQUESTS}/{{draft}}/state", {"state": "In review"}),
    ("PUT", f"{REQUESTS}/{{draft}}/title", {"title": "Other"}),
    ("PUT", f"{REQUESTS}/{{draft}}/approvers", {"reviewers": [1]}),
    ("PUT", f"{REQUESTS}/{{draft}}/changes/{{change}}", EDITED),
    ("DELETE", f"{REQUESTS}/{{draft}}/changes/{{change}}", None),
    ("DELETE", f"{REQUESTS}/{{draft}}", None),
    ("POST", f"{REQUESTS}/{{reviewed}}/comments", {"text": "Wait"}),
    ("POST", f"{REQUESTS}/{{applied}}/reverse", None),
    ("PUT", "/projects/shop/access", {"members": [{"id": 1, "roleId": 4}]}),
    ("POST", "/projects/shop/access", {"id": 1, "roleId": 4}),
    ("DELETE", "/projects/shop/access/{person}", None),
    ("PUT", "/feature-types/release/lifetime", {"lifetimeDays": 40}),
    ("POST", FEATURES, {"name": "new"}),
    ("PUT", f"{FEATURES}/a", {"stale": True}),
    ("PATCH", f"{FEATURES}/a", [{"op": "replace", "path": "/stale", "value": True}]),
    ("DELETE", f"{FEATURES}/a", None),
    ("POST", f"{FEATURES}/a/clone", {"name": "new"}),
    ("PUT", f"{FEATURES}/a/variants-batch", {"environments": ["production"], "variants": BLUE}),
    ("PATCH", f"{PLACE}/variants", [{"op": "add", "path": "/0", "value": {"name": "blue"}}]),
    ("POST", "/features/a/tags", {"value": "new"}),
    ("PUT", "/features/a/tags", TAG),
    ("DELETE", "/features/a/tags/simple/old", None),
    ("POST", "/archive/revive/resting", None),
    ("POST", "/projects/shop/revive", {"features": ["resting"]}),
    ("POST", "/projects/empty/environments", {"environment": "spare"}),
    ("DELETE", "/projects/empty/environments/development", None),
    ("PUT", "/environments/sort-order", {"production": 7}),
    ("POST", "/environments/production/off", None),
    ("POST", "/environments/spare/on", None),
    ("POST", "/tags", {"value": "loose"}),
    ("DELETE", "/tags/simple/unused", None),
    ("POST", "/user-admin/{person}/change-password", {"password": ANOTHER}),
    ("POST", "/user-admin/reset-password", {"id": "{person}"}),
    ("DELETE", "/user-admin/scim-users", None),
    ("POST", "/metrics/applications/new", {}),
    ("POST", f"{FEATURES}/a/link", LINK),
    ("PUT", f"{FEATURES}/b/link/{{link}}", {"url": "https://tickets.example/2"}),
    ("DELETE", f"{FEATURES}/b/link/{{link}}", None),
    ("POST", f"{FEATURES}/a/lifecycle/complete", {"status": "kept"}),
    ("POST", f"{FEATURES}/b/lifecycle/uncomplete", None),
    ("POST", f"{FEATURES}/a/dependencies", {"feature": "b"}),
    ("DELETE", f"{FEATURES}/child/dependencies", None),
    ("DELETE", f"{FEATURES}/child/dependencies/parent", None),
    ("POST", f"{PLACE}/on", None),
    ("POST", f"{FEATURES}/b/environments/production/off", None),
    ("POST", f"{PLACE}/release-plans", RELEASE),
    ("DELETE", WALK, None),
    ("POST", f"{WALK}/milestones/{{second_step}}/start", None),
    ("POST", f"{WALK}/hold", {"reason": "Wait"}),
    ("POST", f"{WALK}/stop", {"reason": "Enough"}),
    ("POST", f"{REST}/resume", None),
    ("POST", f"{RESTING}/progressions/{{held}}/resume", None),
    (
        "PUT",
        f"{WALKING}/progressions/{{first_step}}",
        {"transitionCondition": {"intervalMinutes": 5}},
    ),
    ("DELETE", f"{WALKING}/progressions/{{first_step}}", None),
    ("POST", TEMPLATES, {"name": "New", "milestones": STEPS}),
    ("PUT", f"{TEMPLATES}/{{template}}", {"name": "Other"}),
    ("DELETE", f"{TEMPLATES}/{{template}}", None),
    ("POST", OWN_TEMPLATES, {"name": "New", "milestones": STEPS}),
    ("PUT", f"{OWN_TEMPLATES}/{{template}}", {"name": "Other"}),
    ("POST", f"{SILENT}/receipts/notify", {}),
    ("POST", f"{SILENT}/instances/mark-as-ended", {}),
    ("POST", f"{PLACE}/strategies", ROLLOUT),
    ("POST", f"{PLACE}/strategies/set-sort-order", [{"id": "{second}", "sortOrder": 0}]),
    ("PUT", f"{PLACE}/strategies/{{first}}", {"title": "Other"}),
    ("DELETE", f"{PLACE}/strategies/{{first}}", None),
    ("PATCH", f"{PLACE}/strategies/{{first}}", [{"op": "replace", "path": "/title", "value": "x"}]),
    ("PUT", f"{PLACE}/variants", [{"name": "blue"}]),
    ("POST", DEFAULT, ROLLOUT),
    ("DELETE", DEFAULT.replace("production", "development"), None),
    ("POST", f"{SEVERAL}/on", {"features": ["a", "b"]}),
    ("POST", f"{SEVERAL}/off", {"features": ["a", "b"]}),
    ("PUT", "/projects/shop/tags", {"features": ["a", "b"], "tags": TAG}),
    ("POST", "/projects/shop/stale", {"features": ["a", "b"], "stale": True}),
    ("POST", "/projects/shop/type", {"features": ["a", "b"], "type": "experiment"}),
    ("POST", "/projects/shop/archive", {"features": ["child", "a"]}),
    ("POST", "/projects/shop/delete", {"features": ["resting"]}),
    ("DELETE", "/archive/resting", None),
    ("POST", "/projects/shop/revive-features", {"features": ["resting"]}),
    ("POST", "/tags/rename", {"tag": {"value": "old"}, "to": {"value": "new"}}),
    ("POST", "/tags/merge", {"tag": {"value": "old"}, "to": {"value": "older"}}),
    ("POST", "/tags/undo", {"batch": "{batch}"}),
    ("POST", "/events/{switched}/undo", None),
    ("POST", "/tags/delete", {"value": "unused"}),
    ("POST", "/tag-types", {"name": "new"}),
    ("PUT", "/tag-types/team", {"hue": 3}),
    ("DELETE", "/tag-types/team", None),
    ("POST", "/context", {"name": "new", "legalValues": [{"value": "a"}]}),
    ("PUT", "/context/plan", {"stickiness": True}),
    ("POST", "/context/plan/legal-values", {"value": "gold"}),
    ("DELETE", "/context/plan/legal-values/free", None),
    ("DELETE", "/context/plan", None),
    ("POST", "/segments", {"name": "New", "constraints": [USER]}),
    ("PUT", "/segments/{segment}", {"name": "Other"}),
    ("DELETE", "/segments/{segment}", None),
    (
        "POST",
        "/segments/strategies",
        {
            "projectId": "shop",
            "environmentId": "production",
            "strategyId": "{first}",
            "segmentIds": ["{segment}"],
        },
    ),
    ("POST", "/strategies", {"name": "new", "parameters": [{"name": "regions"}]}),
    ("PUT", "/strategies/by-region", {"description": "Other"}),
    ("POST", "/strategies/by-region/deprecate", None),
    ("POST", "/strategies/retired/reactivate", None),
    ("DELETE", "/strategies/by-region", None),
    ("DELETE", "/metrics/applications/web-shop", None),
    ("POST", "/environments", {"name": "new", "type": "test"}),
    ("PUT", "/environments/production", {"deprecated": True}),
]


@pytest.fixture
def root(app: Flask, admin: ApiClient, people: People) -> ApiClient:
    """An Admin with a password, the only one who writes in these tests."""
    return new_root(app, admin, people)


def new_root(app: Flask, admin: ApiClient, people: People) -> ApiClient:
    """As the fixture ``root``, for an application that a test made itself."""
    created = admin.ok("POST", "/user-admin", {"username": "root", "rootRole": 1})
    path = urlsplit(created["inviteLink"]).path
    assert Browser(app).post(path, {"new_password": PASSWORD}).status == 303
    return ApiClient(app, people.token(created["id"]))


_worlds: dict[str, tuple[State, str | None, str | None, World]] = {}


@pytest.fixture
def world(app: Flask, root: ApiClient, admin: ApiClient, people: People) -> World:
    """Something to do each of WRITES to, and the ids that their paths name.

    It is made once for each database, and put back for each test, with the tokens of its people.
    """
    with app.app_context():
        backend = db.engine.dialect.name
        if backend not in _worlds:
            made = new_world(root, admin, people)
            with unit_of_work(writes=True):
                db.session.execute(sa.update(Token).values(last_seen_at=None))
            _worlds[backend] = state_of(db.engine), root.token, admin.token, made
        state, root.token, admin.token, world = _worlds[backend]
        reset_database(state)
    root.ok("GET", "/user")  # notes the use of the token, which is not done again for a minute
    return world


def new_world(root: ApiClient, admin: ApiClient, people: People) -> World:
    """As the fixture ``world``, for an application that a test made itself."""
    for id in ("shop", "empty", "old"):
        root.ok("POST", "/projects", {"id": id, "name": id})
    root.ok("DELETE", "/projects/old")
    for path, body in (("", {"name": "spare", "type": "test"}), ("/spare/off", None)):
        root.ok("POST", f"/environments{path}", body)
    root.ok("POST", "/context", {"name": "plan", "legalValues": [{"value": "free"}]})
    segment = root.ok("POST", "/segments", {"name": "Staff", "constraints": [USER]})
    for name in ("by-region", "retired"):
        root.ok("POST", "/strategies", {"name": name})
    root.ok("POST", "/strategies/retired/deprecate")
    root.ok("POST", DEFAULT.replace("production", "development"), ROLLOUT)
    for name in ("a", "b", "child", "parent", "resting", "walking", "held"):
        root.ok("POST", FEATURES, {"name": name})
    root.ok("POST", f"{FEATURES}/child/dependencies", {"feature": "parent"})
    first, second = (root.ok("POST", f"{PLACE}/strategies", ROLLOUT)["id"] for _ in range(2))
    for path in ("/projects/empty", f"{FEATURES}/b"):
        root.ok("POST", f"{path}/favorites")
    root.ok("POST", f"{FEATURES}/b/environments/production/on")
    [switched] = root.ok("GET", "/events?feature=b&type=feature-environment-enabled")["events"]
    root.ok("POST", f"{FEATURES}/b/lifecycle/complete", {"status": "kept"})
    root.ok("POST", f"{FEATURES}/b/link", LINK)
    root.ok("POST", "/projects/shop/archive", {"features": ["resting"]})
    for added, removed in ((["old", "older", "unused", "first"], []), ([], ["unused"])):
        tags = {
            "addedTags": [{"value": value} for value in added],
            "removedTags": [{"value": value} for value in removed],
        }
        root.ok("PUT", "/projects/shop/tags", {"features": ["a"], "tags": tags})
    renamed = root.ok(
        "POST", "/tags/rename", {"tag": {"value": "first"}, "to": {"value": "second"}}
    )
    root.ok("POST", "/tag-types", {"name": "team"})
    with people.app.app_context(), unit_of_work(writes=True):
        usage.write(_report())
    robot, gone = people.service_account("robot"), people.person("gone", away_days=200)
    root.ok("DELETE", f"/user-admin/{gone}")
    people.person("away", away_days=200)
    token = root.ok("POST", f"/service-account/{robot}/token", {"description": "old"})
    group = root.ok("POST", "/groups", GROUP)
    scim = root.ok("POST", "/scim-tokens", {"tokenName": "old"})
    own = root.ok("POST", "/user/tokens", {"description": "old"})
    sdk = root.ok("POST", "/api-tokens", SDK | {"tokenName": "old"})
    own_sdk = root.ok("POST", "/projects/shop/api-tokens", SDK | {"tokenName": "own"})
    hook = root.ok("POST", "/webhooks", HOOK | {"name": "old"})
    delivery = root.ok("POST", f"/webhooks/{hook['id']}/test")
    kept_out, managed = people.person("kept.out"), people.person("managed")
    with people.app.app_context(), unit_of_work(writes=True):
        db.session.get_one(Account, kept_out).deactivated_at = utcnow()
        db.session.get_one(Account, managed).scim_id = "managed"
        ended = {"status": DeliveryStatus.FAILED, "next_at": None, "ended_at": utcnow()}
        db.session.execute(sa.update(Delivery).values(ended))
    saved = root.ok("POST", "/user/filters", SAVED)
    planned, done = (_imported(root, name) for name in ("planned", "done"))
    imports.finish(root, done)
    person = people.person("grace")
    people.token(person)
    root.ok("POST", "/projects/shop/access", {"id": person, "roleId": 5})
    [personal] = root.ok("GET", f"/user-admin/{person}/token")["tokens"]
    seen = root.ok("GET", "/projects/shop/access-reviews/current")
    keep = [{"id": entry["id"], "decision": "keep"} for entry in seen["entries"]]
    return {
        "reviewing": {"version": seen["version"], "entries": keep},
        "robot": robot,
        "group": group["id"],
        "scim": scim["id"],
        "gone": gone,
        "kept_out": kept_out,
        "person": person,
        "personal": personal["id"],
        "token": token["id"],
        "own": own["id"],
        "sdk": sdk["id"],
        "own_sdk": own_sdk["id"],
        "hook": hook["id"],
        "delivery": delivery["id"],
        "saved": saved["id"],
        "planned": planned,
        "done": done,
        "batch": renamed["batch"],
        "switched": switched["id"],
        "first": first,
        "link": root.ok("GET", f"{FEATURES}/b")["links"][0]["id"],
        "segment": segment["id"],
        "second": second,
        **_releases(root),
        **_change_requests(root, admin),
    }


def _releases(root: ApiClient) -> World:
    """One under way, one on hold, and a template."""
    release = root.ok("POST", f"{WALKING}/release-plans", RELEASE)
    held = root.ok("POST", f"{RESTING}/release-plans", RELEASE)["id"]
    root.ok("POST", f"{RESTING}/release-plans/{held}/hold", {})
    template = root.ok("POST", OWN_TEMPLATES, {"name": "Old", "milestones": STEPS})
    first, second, _ = (step["id"] for step in release["milestones"])
    found = {"release": release["id"], "first_step": first, "second_step": second}
    return {**found, "held": held, "template": template["id"]}


def _report() -> Report:
    """What was known of an application that was silent when things changed above."""
    at = utcnow() - timedelta(minutes=10)
    seen = Seen(at, at, None, token_id=0, proof=Proof(at, keeps_etags=True))
    running = Running("production", "web-shop", "1")
    return Report(strategies={"web-shop": []}, instances={running: seen})


def _imported(root: ApiClient, name: str) -> int:
    """The id of an import that waits for a decision."""
    content = {"features": [{"name": name, "project": "shop"}]}
    found: int = root.ok("POST", "/imports", {"content": content})["id"]
    return found


def _change_requests(root: ApiClient, admin: ApiClient) -> World:
    """Some of root's, in a project of their own: a draft, one in review, and one applied."""
    rule = {"name": "production", "requiredApprovals": 1}
    bank = {"id": "bank", "name": "bank", "changeRequestEnvironments": [rule]}
    root.ok("POST", "/projects", bank)
    for name in ("till", "vault"):
        root.ok("POST", "/projects/bank/features", {"name": name})
    switching = {"feature": "vault", "action": "updateEnabled", "payload": {"enabled": True}}
    applied = root.ok("POST", PROPOSING, switching)["id"]
    for client, state in ((root, "In review"), (admin, "Approved"), (root, "Applied")):
        client.ok("PUT", f"{REQUESTS}/{applied}/state", {"state": state})
    reviewed = root.ok("POST", PROPOSING, PROPOSED)["id"]
    root.ok("PUT", f"{REQUESTS}/{reviewed}/state", {"state": "In review"})
    draft = root.ok("POST", PROPOSING, PROPOSED)
    [change] = draft["features"][0]["changes"]
    found = {"applied": applied, "reviewed": reviewed, "draft": draft["id"]}
    return {**found, "change": change["id"]}


def filled(body: Any, world: World) -> Any:
    """A body of WRITES with what the world has for ``{batch}`` and the like."""
    if isinstance(body, list):
        return [filled(each, world) for each in body]
    if isinstance(body, dict):
        return {key: filled(value, world) for key, value in body.items()}
    is_name = isinstance(body, str) and body.startswith("{")
    return world[body.strip("{}")] if is_name else body


def addresses(app: Flask, world: World) -> Iterator[str]:
    """Addresses of all pages, and of all routes of the API that read, about what is there."""
    known = {
        "project_id": "shop",
        "name": "b",
        "environment": "production",
        "strategy": world["first"],
        "release": world["release"],
        "step": world["first_step"],
        "template": world["template"],
        "account_id": world["person"],
        "segment_id": world["segment"],
        "field": "plan",
        "import_id": world["planned"],
    }
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            if "GET" in (rule.methods or ()) and not rule.alias:
                about = {"name": "walking"} if "release" in rule.arguments else {}
                yield url_for(
                    rule.endpoint, **{n: (known | about).get(n, 1) for n in rule.arguments}
                )


def forms(page: Page) -> Iterator[tuple[str, str, MultiDict[str, str]]]:
    """Each form of a page with each of its buttons: the address, the button, what is sent."""
    if page.status != 200 or page.answer.mimetype != "text/html":
        return
    for form in page.select('form[method="post"]'):
        id = attribute(form, "id")
        more = page.select(f'button[form="{id}"]') if id else []
        for button in [*form.css("button"), *more]:
            data = sent_by(form)
            if name := attribute(button, "name"):
                data.add(name, attribute(button, "value"))
            action = attribute(form, "action", page.path)
            yield attribute(button, "formaction") or action or page.path, text_of(button), data


def rows(app: Flask) -> dict[str, list[str]]:
    """All that the database holds."""
    with app.app_context(), db.engine.connect() as connection:
        return {
            table.name: sorted(repr(row) for row in connection.execute(sa.select(table)))
            for table in Model.metadata.sorted_tables
        }
