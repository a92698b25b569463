"""Whom the requests go to, and every kind of request that is measured."""

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import HTTPResponse
from urllib.request import Request, urlopen

from tests.bench.load import Job, Refused, drive

API = "/api/admin"
PROJECT = "bench"
BULK = ((100, 5), (1_000, 5), (3_000, 5), (5_000, 20))
MOST_TAGGED = max(features for features, _ in BULK)
LISTED = 10_000
FILLING = 1_800.0
"""Seconds at most."""

SELDOM = "bench-seldom"
ENVIRONMENT = "development"
FRONTEND = "/api/frontend"
FEATURES, METRICS = "/api/client/features", "/api/client/metrics"
SDK = (
    ("Unleash-Client-Spec", "5.2.0"),
    ("unleash-appname", "bench"),
    ("unleash-sdk", "unleash-node-sdk:6.12.1"),
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A server, or several on one database, in which ``project`` is filled and then asked for."""

    servers: tuple[str, ...]
    token: str
    project: str = PROJECT
    features: str = field(default_factory=lambda: f"f{secrets.token_hex(3)}")

    def kinds(self) -> dict[str, Job]:
        """The usual requests, small and many."""
        three = [self.feature(number) for number in range(3)]
        swap = _tagging(three, ["bench-a"], ["bench-b"]), _tagging(three, ["bench-b"], ["bench-a"])
        new = json.dumps({"name": f"n{secrets.token_hex(3)}-@N@"})
        return {
            "GET user": self._job("GET", "/user"),
            "validate 3": self._of_project(
                "POST", "/archive/validate", json.dumps({"features": three})
            ),
            "tags 3 (+1 -1)": self._of_project("PUT", "/tags", *swap),
            "create feature": self._of_project("POST", "/features", new),
        }

    def bulk(self) -> dict[str, Job]:
        """Single requests about many features; the order matters."""
        jobs = {}
        for features, tags in BULK:
            named = [self.feature(number) for number in range(features)]
            values = [f"bench-{number}" for number in range(tags)]
            add, remove = _tagging(named, values, []), _tagging(named, [], values)
            for kind, body in (("add", add), ("add again", add), ("remove", remove)):
                jobs[f"tags {features:,} x {tags}, {kind}"] = _once(
                    self._of_project("PUT", "/tags", body)
                )
            jobs[f"validate {features:,}"] = _once(
                self._of_project("POST", "/archive/validate", json.dumps({"features": named}))
            )
        return jobs

    def lists(self) -> dict[str, Job]:
        """Lists of the project's features, of which ``mark`` has marked some."""
        found = f"?text=-9&tag=simple:{SELDOM}"  # about one in a hundred
        return {
            f"list of {LISTED:,}, a page": self._of_project("GET", "/features"),
            f"list of {LISTED:,}, limit=1000": self._of_project("GET", "/features?limit=1000"),
            f"list of {LISTED:,}, text and tag": self._of_project("GET", f"/features{found}"),
        }

    def reading(self) -> dict[str, Job]:
        """What SDKs ask for and report, with a token that is made for them."""
        token = self.new_token("client")
        etag = self._call("GET", FEATURES, token).headers["ETag"]
        reports = json.dumps({"appName": "bench", "bucket": self._bucket()})
        asks = Job(self.servers, "GET", FEATURES, token, headers=SDK)
        return {
            "features, unchanged": replace(asks, headers=(*SDK, ("If-None-Match", etag))),
            "features, gzip": replace(asks, headers=(*SDK, ("Accept-Encoding", "gzip"))),
            "metrics": Job(self.servers, "POST", METRICS, token, (reports,), headers=SDK),
        }

    def switch_on(self, features: int) -> None:
        """Let so many features be on for half of all users."""
        half = {"name": "flexibleRollout", "parameters": {"rollout": "50", "stickiness": "userId"}}
        path = f"{API}/projects/{self.project}/environments/{ENVIRONMENT}/default-strategy"
        self._call("POST", path, self.token, half)
        names = [self.feature(number) for number in range(1, features + 1)]
        path = f"{API}/projects/{self.project}/bulk_features/environments/{ENVIRONMENT}/on"
        self._call("POST", path, self.token, {"features": names})

    def switch(self, number: int, *, on: bool) -> None:
        """Switch one feature."""
        place = f"features/{self.feature(number)}/environments/{ENVIRONMENT}"
        path = f"{API}/projects/{self.project}/{place}/{'on' if on else 'off'}"
        self._call("POST", path, self.token)

    def new_token(self, type: str) -> str:
        """An SDK token for all projects."""
        new = {"tokenName": secrets.token_hex(8), "type": type, "environment": ENVIRONMENT}
        token: str = json.load(self._call("POST", f"{API}/api-tokens", self.token, new))["secret"]
        return token

    def evaluating(self, token: str) -> dict[str, Job]:
        """What SDKs in browsers ask for, each time about other people."""
        someone = secrets.token_hex(4)
        new = json.dumps({"context": {"userId": f"{someone}-@N@"}})
        return {
            "frontend, new context": Job(self.servers, "POST", FRONTEND, token, (new,)),
            "frontend, known context": Job(
                self.servers, "GET", f"{FRONTEND}?userId={someone}", token
            ),
        }

    def one_flag(self, token: str) -> Job:
        """What an OpenFeature SDK asks for; only Flagstaff speaks that."""
        body = json.dumps({"context": {"targetingKey": f"{secrets.token_hex(4)}-@N@"}})
        path = f"/ofrep/v1/evaluate/flags/{self.feature(1)}"
        return Job(self.servers, "POST", path, token, (body,))

    def _bucket(self) -> dict[str, object]:
        counts = {"yes": 3, "no": 1, "variants": {}}
        now = datetime.now(UTC).isoformat()
        toggles = {self.feature(number): counts for number in range(20)}
        return {"start": now, "stop": now, "toggles": toggles}

    def _call(self, method: str, path: str, token: str, body: object = None) -> HTTPResponse:
        request = Request(
            self.servers[0] + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": token, "Content-Type": "application/json", **dict(SDK)},
        )
        answer: HTTPResponse = urlopen(request, timeout=60)
        return answer

    def make_project(self) -> None:
        drive(_once(self._job("POST", "/projects", json.dumps({"id": self.project, "name": "B"}))))

    def fill(self, features: int) -> None:
        """Make this many features, one by one."""
        new = self._of_project("POST", "/features", json.dumps({"name": self.feature("@N@")}))
        drive(replace(new, requests=features, seconds=FILLING))

    def mark(self) -> None:
        drive(self.marking())

    def marking(self) -> Job:
        """Tags one feature in ten with what a list is then filtered by."""
        tenth = [self.feature(number) for number in range(0, LISTED, 10)]
        return _once(self._of_project("PUT", "/tags", _tagging(tenth, [SELDOM], [])))

    def feature(self, number: int | str) -> str:
        return f"{self.features}-{number}"

    def _of_project(self, method: str, path: str, *bodies: str) -> Job:
        return self._job(method, f"/projects/{self.project}{path}", *bodies)

    def _job(self, method: str, path: str, *bodies: str) -> Job:
        return Job(self.servers, method, f"{API}{path}", self.token, bodies or ("",))


def stranger(address: str, token: str) -> Subject:
    """Any server that speaks the same paths; where it makes no projects, its ``default`` is used.

    Raises:
        Refused: when it is not there.

    """
    subject = Subject((address.rstrip("/"),), token)
    try:
        subject.make_project()
    except Refused as refused:
        if not refused.status:
            raise
        if refused.status != HTTPStatus.CONFLICT:  # left by an earlier run
            return replace(subject, project="default")
    return subject


def _tagging(features: Iterable[str], added: Iterable[str], removed: Iterable[str]) -> str:
    tags = {
        part: [{"type": "simple", "value": value} for value in values]
        for part, values in (("addedTags", added), ("removedTags", removed))
    }
    return json.dumps({"features": list(features), "tags": tags})


def _once(job: Job) -> Job:
    return replace(job, requests=1, connections=1)
