"""Applications that ask for the demo's features, as their SDKs would report it."""

import json
import math
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.journeys.instance import Instance
from tests.journeys.written import await_written

PROGRAMS = {
    "web-shop": ("unleash-node-sdk:6.12.1", 19, 1_900),
    "checkout-api": ("unleash-java-sdk:9.2.0", 12, 700),
    "integration-tests": ("unleash-python-sdk:6.9.1", 1, 12),
}
"""The SDK, the number of instances and about how often they ask in an hour."""
TYPO = "checkout.expres"
HOURS = 47


def report(instance: Instance) -> str:
    """A feature that applications asked for in the last two days, in production."""
    rows = [row["name"] for row in instance.rows if not row["dependencies"]]
    asked, archived = rows[0], "checkout.gift-wrap"
    if is_known(instance, *PROGRAMS):
        return str(asked)
    project = "/projects/checkout"
    for name in ("checkout.express", archived):
        instance.api("POST", f"{project}/features", {"name": name})
    instance.api("POST", f"{project}/archive", {"features": [archived]})
    token = new_token(instance, "production")
    for name, (sdk, instances, often) in PROGRAMS.items():
        applications = [
            {"appName": name, "instanceId": f"{name}-{number}", "sdkVersion": sdk}
            for number in range(instances)
        ]
        features = [*rows[:6], "checkout.express", archived, *([TYPO] if often > 1_000 else [])]
        metrics = [
            _hour(name, feature, back, often // (place + 1))
            for place, feature in enumerate(features)
            for back in range(HOURS)
            if not 8 <= back < 10  # when there was no contact
        ]
        body = {"applications": applications, "metrics": metrics}
        send(instance, token, body)
    await_applications(instance, *PROGRAMS)
    return str(asked)


def new_token(instance: Instance, environment: str) -> str:
    named = {"tokenName": "journeys", "type": "client", "environment": environment}
    return str(instance.api("POST", "/api-tokens", named)["secret"])


def await_applications(instance: Instance, *applications: str) -> None:
    """What is reported is written every few seconds."""
    await_written(lambda: is_known(instance, *applications))


def is_known(instance: Instance, *applications: str) -> bool:
    """Whether all of them have reported; the demo has some of its own."""
    known = instance.api("GET", "/metrics/applications?limit=1000")["applications"]
    return {*applications} <= {row["appName"] for row in known}


def _hour(application: str, feature: str, back: int, often: int) -> dict[str, Any]:
    """Most around 19:00, fewest around 07:00; a quarter is on."""
    at = datetime.now(UTC) - timedelta(hours=back)
    checks = int(often * (1 + 0.7 * math.cos((at.hour - 19) * math.pi / 12)))
    yes = checks // 4
    return {
        "appName": application,
        "featureName": feature,
        "environment": "production",
        "timestamp": at.isoformat(),
        "yes": yes,
        "no": checks - yes,
        "variants": {"control": yes // 2, "one-step": yes - yes // 2},
    }


def send(instance: Instance, token: str, body: Any) -> None:
    """What a proxy collected from applications."""
    request = Request(
        f"{instance.address}/api/client/metrics/bulk",
        method="POST",
        data=json.dumps(body).encode(),
        headers={"Authorization": token, "Content-Type": "application/json"},
    )
    with urlopen(request, timeout=30) as answer:
        answer.read()


def project_of_its_own(instance: Instance) -> str:
    """A project with one feature and one environment, in which nothing runs."""
    environment = f"night-{instance.next_number()}"
    instance.api("POST", "/environments", {"name": environment, "type": "test"})
    return instance.project(1, environments=[environment])


class Polling:
    """An instance of an application that polls when it is asked to.

    It reads the only environment of its project.
    """

    def __init__(self, instance: Instance, project: str, interval: int = 15) -> None:
        [self.environment] = instance.api("GET", f"/projects/{project}")["environments"]
        named = {"tokenName": project, "type": "client"}
        body = named | {"environment": self.environment}
        token = instance.api("POST", f"/projects/{project}/api-tokens", body)["secret"]
        application = f"app-of-{project}"
        self._url = f"{instance.address}/api/client/features"
        self._headers = {
            "Authorization": str(token),
            "Unleash-AppName": application,
            "Unleash-Connection-Id": f"{application}-1",
            "Unleash-SDK": "unleash-node-sdk:6.12.1",
            "Unleash-Interval": f"{interval}000",
        }
        self.poll()
        await_applications(instance, application)

    def poll(self) -> None:
        try:
            with urlopen(Request(self._url, headers=self._headers), timeout=30) as answer:
                answer.read()
                self._headers["If-None-Match"] = answer.headers["ETag"]
        except HTTPError as error:
            if error.code != HTTPStatus.NOT_MODIFIED:
                raise
