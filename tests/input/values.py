"""Every kind of value, sent to every field."""

import json
from collections.abc import Callable
from http import HTTPStatus
from itertools import product
from typing import Any

import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.access.auth.models import Throttle
from app.core.db import db, unit_of_work
from tests.input import fields
from tests.input.fields import (
    DEFAULT,
    READABLE,
    SEVERAL,
    SHOP,
    SLOTS,
    STRATEGIES,
    UNREADABLE,
    Slot,
    with_value,
)
from tests.support.clients import REASON, ApiClient, problems_of
from tests.support.writes import ANOTHER, BROUGHT, DOCUMENT, WRITES, World, filled

PLACE = '"the value comes here"'
CONSTRAINT = {"contextName": "userId", "operator": "IN", "values": ["1"]}
VARIANT = {"name": "v", "payload": {"type": "string", "value": "x"}}
STRATEGY = {
    "name": "flexibleRollout",
    "parameters": {"rollout": "25"},
    "constraints": [CONSTRAINT],
    "segments": [1],
    "variants": [VARIANT],
}
RELEASE = {
    "milestones": [
        {"name": "1%", "strategies": [STRATEGY], "transitionCondition": {"intervalMinutes": 1}}
    ]
}
TEMPLATE = {"name": "New", **RELEASE}
SEGMENT = {"name": "New", "constraints": [CONSTRAINT]}
GIVES = {"rootRole": 3, "projects": [{"id": "shop", "roleId": 5}]}
ASKED = {"projects": ["shop"], "context": {"userId": "1"}}
RED_TOO = [{"value": "red too"}]
TYPE = {"name": "new", "parameters": [{"name": "regions"}]}


BODIES: dict[tuple[str, str], Any] = {
    (method, path): body for method, path, body in WRITES if body is not None
} | {
    **{("POST", f"{SHOP}/archive/{way}"): {"features": ["a"]} for way in ("plan", "validate")},
    **{("POST", f"{SEVERAL}/{way}/plan"): {"features": ["a"]} for way in ("on", "off")},
    ("POST", "/features-batch/export"): {"environment": "production"},
    ("POST", "/features-batch/validate"): BROUGHT,
    ("POST", "/configuration/plan"): DOCUMENT,
    ("POST", "/constraints/validate"): CONSTRAINT,
    ("POST", "/segments/validate"): {"name": "New"},
    ("POST", "/context/validate"): {"name": "new"},
    ("POST", "/features/validate"): {"name": "new"},
    ("POST", "/tag-types/validate"): {"name": "new"},
    ("POST", "/user-admin/validate-password"): {"password": ANOTHER},
    ("POST", "/playground"): {"environment": "production"} | ASKED,
    ("POST", "/playground/advanced"): {"environments": ["production"]} | ASKED,
}


# Where the usual body lacks the object that a field belongs to.
RULES: dict[str, Any] = {
    "environments": ["production"],
    "changeRequestEnvironments": [{"name": "production"}],
}


FULLER: dict[tuple[str, str], Any] = {
    ("POST", "/projects"): {"id": "new", "name": "New", **RULES},
    ("PUT", "/projects/empty/environments"): RULES,
    ("PUT", "/projects/shop"): {"name": "Shop"},
    ("POST", f"{SHOP}/features"): {"name": "new", "tags": [{"value": "red"}]},
    ("PUT", "/features/a/tags"): {"addedTags": [{"value": "red"}], "removedTags": RED_TOO},
    ("PUT", f"{SHOP}/tags"): {
        "features": ["a"],
        "tags": {"addedTags": [{"value": "red"}], "removedTags": RED_TOO},
    },
    ("PUT", f"{fields.PIECE}/variants-batch"): {
        "environments": ["production"],
        "variants": [VARIANT | {"overrides": [{"contextName": "userId", "values": ["1"]}]}],
    },
    ("POST", STRATEGIES): STRATEGY,
    ("PUT", f"{STRATEGIES}/{{first}}"): STRATEGY,
    ("POST", DEFAULT): STRATEGY,
    ("POST", f"{fields.PLACE}/release-plans"): RELEASE,
    ("POST", "/release-plan-templates"): TEMPLATE,
    ("PUT", "/release-plan-templates/{template}"): TEMPLATE,
    ("POST", f"{SHOP}/release-templates"): TEMPLATE,
    ("PUT", f"{SHOP}/release-templates/{{template}}"): TEMPLATE,
    ("PUT", f"{fields.PLACE}/variants"): [
        VARIANT | {"overrides": [{"contextName": "userId", "values": ["1"]}]}
    ],
    ("POST", "/segments"): SEGMENT,
    ("PUT", "/segments/{segment}"): SEGMENT,
    ("POST", "/groups"): {"name": "new"} | GIVES,
    ("PUT", "/groups/{group}"): GIVES,
    ("POST", "/strategies"): TYPE,
    ("PUT", "/strategies/by-region"): {"parameters": [{"name": "regions"}]},
    ("POST", "/ui-config/cors"): {"frontendApiOrigins": ["https://a.example"]},
    ("PUT", "/context/plan"): {"legalValues": [{"value": "free"}]},
}


Send = Callable[[Slot, str], TestResponse]


def _forgive(app: Flask) -> None:
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.delete(Throttle))


def sender(client: ApiClient, world: World) -> Send:
    """Rehearses a request with that JSON text at that place of its body."""

    def send(slot: Slot, text: str) -> TestResponse:
        which = (slot.method, slot.path)
        _forgive(client.app)  # what was typed wrongly before, or no password is looked at any more
        usual = FULLER.get(which) or filled(BODIES[which], world)
        body = with_value(usual, slot.pointer, json.loads(PLACE))
        return client.request(
            slot.method,
            f"{slot.path.format_map(world)}?dryRun=true",
            data=json.dumps(body).replace(PLACE, text).encode(),
            content_type="application/json",
            headers=REASON,  # an Admin with a reason passes the approvals
        )

    return send


def mistakes(send: Send, every: int = 1) -> list[tuple[object, ...]]:
    """What was not answered as the table says, and how."""
    found: list[tuple[object, ...]] = []
    for slot, name in list(product(SLOTS, READABLE))[::every]:
        answer = send(slot, READABLE[name])
        taken = HTTPStatus.OK if name in slot.known else slot.status
        expected = taken if name in slot.takes else 400
        if answer.status_code != expected or (expected == 400 and not problems_of(answer)):
            found.append((*slot[:3], name, answer.status_code, answer.text[-150:]))
    for slot, name in list(product(SLOTS, UNREADABLE))[::every]:
        answer = send(slot, UNREADABLE[name])
        if answer.status_code != 400 or list(problems_of(answer)) != [""]:
            found.append((*slot[:3], name, answer.status_code, answer.text[-150:]))
    return found
