from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.catalogue.usage import service as usage
from app.catalogue.usage.service import Counted, Report, Running, Seen
from app.core.clock import utcnow
from app.core.db import unit_of_work
from tests.support.clients import ApiClient


@pytest.fixture
def shop(app: Flask, admin: ApiClient) -> dict[str, Any]:
    """One of everything that has “exp” in its name, in an open and in a private project.

    What is returned are the SDK tokens by name.
    """
    admin.ok("POST", "/projects", {"id": "payments", "name": "Payments"})
    admin.ok("POST", "/projects", {"id": "secret-exp", "name": "Expansion", "mode": "private"})
    for project, name, description in (
        ("payments", "checkout.express", "Pay in one step"),
        ("payments", "checkout.express.wallet", "A wallet in the basket"),
        ("payments", "search.expand-synonyms", None),
        ("payments", "inexpensive", None),
        ("payments", "old.express", "No one needs it"),
        ("secret-exp", "hidden.express", "Not for everyone"),
    ):
        feature = {"name": name, "description": description}
        admin.ok("POST", f"/projects/{project}/features", feature)
    admin.ok("POST", "/projects/payments/archive", {"features": ["old.express"]})
    admin.ok("POST", "/tag-types", {"name": "team"})
    change = {"addedTags": [{"type": "team", "value": "experience"}], "removedTags": []}
    body = {"features": ["checkout.express"], "tags": change}
    admin.ok("PUT", "/projects/payments/tags", body)
    admin.ok("PUT", "/projects/secret-exp/tags", body | {"features": ["hidden.express"]})
    rule = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    admin.ok("POST", "/segments", {"name": "Experts", "constraints": [rule]})
    hidden = {"name": "Explorers", "project": "secret-exp", "constraints": [rule]}
    admin.ok("POST", "/segments", hidden)
    admin.ok("POST", "/context", {"name": "experience"})
    admin.ok("POST", "/strategies", {"name": "expert-panel", "parameters": []})
    admin.ok("POST", "/environments", {"name": "experiments", "type": "test"})
    admin.ok("POST", "/user-admin", {"username": "tom", "name": "Tom Expósito", "rootRole": 2})
    admin.ok("POST", "/service-account", {"username": "exporter", "rootRole": 3})
    admin.ok("POST", "/user/tokens", {"description": "experiment"})
    share = {"name": "flexibleRollout", "parameters": {"rollout": "5"}}
    steps = [{"name": "5%", "strategies": [share]}]
    plans = "features/search.expand-synonyms/environments/production/release-plans"
    admin.ok("POST", f"/projects/payments/{plans}", {"milestones": steps})
    report = Report(
        {Counted(_hour(), "production", "checkout.express", "experiment-runner"): (1, 1)},
        instances={
            Running("production", "experiment-runner", "1"): Seen(utcnow(), utcnow(), None, 0)
        },
    )
    with app.app_context(), unit_of_work(writes=True):
        usage.write(report)
    tokens = {}
    for name, projects in (("export-job", ["*"]), ("expiry", ["payments"])):
        body = {"tokenName": name, "type": "client", "environment": "production"}
        tokens[name] = admin.ok("POST", "/api-tokens", body | {"projects": projects})
    return tokens


def _hour() -> Any:
    return utcnow().replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)


def found(client: ApiClient, asked: str, **more: Any) -> dict[str, list[str]]:
    """The names that are found, by kind."""
    return {
        group["kind"]: [hit["name"] for hit in group["hits"]]
        for group in answer(client, asked, **more)["groups"]
    }


def answer(client: ApiClient, asked: str, **more: Any) -> dict[str, Any]:
    got: dict[str, Any] = client.ok("GET", "/search", query_string={"q": asked, **more})
    return got
