"""Random people in a random order never get a change past the approvals that it needs."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from flask import Flask
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from werkzeug.test import TestResponse

from app.core import clock
from app.releases.change_requests import applying
from app.releases.plans.running import start_due
from tests.support.change_requests import LIST, PROJECT, rollout, switching
from tests.support.clients import REASON, ApiClient
from tests.support.instances import reset_database
from tests.support.people import People
from tests.support.replay import Replay

FEATURES = ("card", "tips")
PEOPLE = ("kim", "finn", "sofia", "ada", "boss")
"""Two Members, an Owner, someone who is an Admin at first, and an Admin who always is one."""
SELLS = {"contextName": "userId", "operator": "IN"}

ENVIRONMENTS = ("production", "development")

person = st.sampled_from(PEOPLE)
environment = st.sampled_from(ENVIRONMENTS)
feature = st.sampled_from(FEATURES)
which = st.integers(0, 3)
percent = st.integers(0, 100)
seconds = st.sampled_from([1, 30, 90])
WAIT = timedelta(minutes=1)
ACTS = ("hold", "resume", "stop", "next", "leave")
EMPTY: dict[str, Any] = {"variants": [], "impressionData": False}
ELSEWHERE = ("on", "off", "strategies", "variants", "default")
DIRECT = (
    *ELSEWHERE,
    *("archive", "revive-features", "segment", "parent", "orphan", "impressions"),
)


class Request(NamedTuple):
    """What the API says of a request that is no draft."""

    id: int
    state: str


class Office(RuleBasedStateMachine):
    """A project in which two environments need approvals, with its people."""

    app: ClassVar[Flask]

    @initialize()
    def open_office(self) -> None:
        with self.app.app_context():
            reset_database()
        self.people, self.now = People(self.app), datetime.now(UTC)
        self.ids = {
            name: self.people.person(name, role="Admin" if name in {"ada", "boss"} else "Viewer")
            for name in PEOPLE
        }
        self.people.give_password(self.ids["boss"])  # so that ada isn’t the last Admin
        self.clients = {
            name: ApiClient(self.app, self.people.token(id)) for name, id in self.ids.items()
        }
        self.admin = self.clients["boss"]
        self.members, self.gone, self.admins = {"boss"}, set[str](), {"ada", "boss"}
        self.given: dict[int, dict[str, Any]] = {}
        self.plans: dict[tuple[str, str], list[Any]] = {}
        self.began: dict[tuple[str, str], datetime] = {}
        self.admin.ok("POST", "/projects", {"id": "pay", "name": "Pay"})
        for name, role in (("kim", 5), ("finn", 5), ("sofia", 4)):
            self.admin.ok("POST", f"{PROJECT}/access", {"id": self.ids[name], "roleId": role})
            self.members.add(name)
        for name in FEATURES:
            self.admin.ok("POST", f"{PROJECT}/features", {"name": name})
        staff = {"name": "Staff", "project": "pay", "constraints": [SELLS | {"values": ["1"]}]}
        self.segment = self.admin.ok("POST", "/segments", staff)["id"]
        at = f"{PROJECT}/features/card/environments"
        for place in ("development", "production"):
            self.admin.ok("POST", f"{at}/{place}/strategies", rollout(50, segments=[self.segment]))
        self.admin.ok("POST", f"{PROJECT}/features/card/dependencies", {"feature": "tips"})
        self.admin.ok("POST", f"{at}/production/on")
        self.sdks = {
            name: self.admin.ok(
                "POST", "/api-tokens", {"tokenName": name, "type": "client", "environment": name}
            )["secret"]
            for name in ENVIRONMENTS
        }
        self.required = dict.fromkeys(ENVIRONMENTS, 0)
        self.ask_for("boss", "production", 2, reasoned=False)
        self.ask_for("boss", "development", 1, reasoned=False)
        self.required, self.used = self.needed(), self.environments()
        self.seen, self.delivered = self.newest(), self.delivery()
        self.carry_a_release_through("tips", 30, "development")

    # What people do with change requests

    @rule(who=person, name=feature, on=st.booleans(), where=environment)
    def propose_to_switch(self, who: str, name: str, on: bool, where: str) -> None:
        self.propose(who, switching(name, on=on), where)

    @rule(who=person, name=feature, share=percent, where=environment)
    def propose_a_strategy(self, who: str, name: str, share: int, where: str) -> None:
        added = {"feature": name, "action": "addStrategy", "payload": rollout(share)}
        self.propose(who, added, where)

    @rule(who=person, number=st.integers(0, 3), where=environment)
    def propose_approvals(self, who: str, number: int, where: str) -> None:
        payload = {"requiredApprovals": number}
        self.propose(who, {"feature": None, "action": "updateApprovals", "payload": payload}, where)

    @rule(who=person, name=feature, share=percent, way=st.sampled_from(["update", "delete"]))
    def propose_about_a_strategy(self, who: str, name: str, share: int, way: str) -> None:
        for strategy in self.strategies(name)[:1]:
            payload = {"id": strategy["id"]}
            if way == "update":
                payload |= {"parameters": {"rollout": str(share)}}
            self.propose(who, {"feature": name, "action": f"{way}Strategy", "payload": payload})

    @rule(who=person, name=feature, where=environment)
    def propose_to_archive(self, who: str, name: str, where: str) -> None:
        self.propose(who, {"feature": name, "action": "archiveFeature"}, where)

    @rule(who=person, way=st.sampled_from(["addDependency", "deleteDependency"]))
    def propose_about_a_parent(self, who: str, way: str) -> None:
        self.propose(who, {"feature": "card", "action": way, "payload": {"feature": "tips"}})

    @rule(who=person, name=feature, share=st.integers(2, 90), where=environment)
    def propose_a_release(self, who: str, name: str, share: int, where: str) -> None:
        payload = self.plan(share)
        self.propose(who, {"feature": name, "action": "addReleasePlan", "payload": payload}, where)

    @rule(name=feature, share=st.integers(2, 90), where=environment)
    def carry_a_release_through(self, name: str, share: int, where: str) -> None:
        """Chance alone seldom does all of this in a row."""
        self.propose_a_release("kim", name, share, where)
        self.carry_through()

    @rule(place=which)
    def carry_a_step_through(self, place: int) -> None:
        self.propose_a_step("kim", place)
        self.carry_through()

    def carry_through(self) -> None:
        """Kim sends what they proposed; others approve all there is, and Kim applies it."""
        self.send_draft("kim")
        for place in range(len(self.opened())):
            for who in ("finn", "sofia", "boss"):
                self.approve(who, place)
        for place in range(len(self.opened())):
            self.take("kim", place, "Applied")

    @rule(who=person, place=which)
    def propose_a_step(self, who: str, place: int) -> None:
        for name, where, release in self.one_release(place):
            step = release["milestones"][-1]["id"]
            payload = {"planId": release["id"], "milestoneId": step}
            change = {"feature": name, "action": "startMilestone", "payload": payload}
            self.propose(who, change, where)

    @rule(who=person, values=st.lists(st.sampled_from("123"), min_size=1, unique=True))
    def propose_about_the_segment(self, who: str, values: list[str]) -> None:
        changed = {"id": self.segment, "constraints": [SELLS | {"values": values}]}
        self.propose(who, {"feature": None, "action": "updateSegment", "payload": changed})

    @rule(who=person)
    def send_draft(self, who: str) -> None:
        for draft in self.listed(who):
            if draft["state"] == "Draft":
                self.decide(who, draft["id"], "In review")

    @rule(who=person, place=which)
    def approve(self, who: str, place: int) -> None:
        for found in self.one(place):
            if self.decide(who, found.id, "Approved") == 200 and found.state != "Scheduled":
                self.given.setdefault(found.id, {})[who] = self.whole_outcome(found.id)

    @rule(who=person, place=which)
    def withdraw_approval(self, who: str, place: int) -> None:
        for found in self.one(place):
            if self.decide(who, found.id, "In review") == 200:
                self.given[found.id].pop(who, None)

    @rule(who=person, place=which, state=st.sampled_from(["Applied", "Cancelled", "Draft"]))
    def take(self, who: str, place: int, state: str) -> None:
        for found in self.one(place):
            self.decide(who, found.id, state)

    @rule(who=person, place=which)
    def reject(self, who: str, place: int) -> None:
        for found in self.one(place):
            self.decide(who, found.id, "Rejected", comment="Not now")

    @rule(who=person, place=which, after=seconds)
    def schedule(self, who: str, place: int, after: int) -> None:
        at = (self.now + timedelta(seconds=after)).isoformat()
        for found in self.one(place):
            self.decide(who, found.id, "Scheduled", scheduledAt=at)

    @rule(who=person, place=which, share=percent)
    def edit(self, who: str, place: int, share: int) -> None:
        for found in self.one(place):
            body = self.read(found.id)
            for each in body["features"]:
                for change in each["changes"]:
                    sent = {"feature": each["name"], "action": change["action"]}
                    payload = change["payload"]
                    if change["action"] == "addStrategy":
                        payload = rollout(share)
                    path = f"{LIST}/{found.id}/changes/{change['id']}"
                    self.ask(who, "PUT", path, sent | {"payload": payload})

    @rule(who=person, place=which)
    def comment_and_describe(self, who: str, place: int) -> None:
        for found in self.one(place):
            self.ask(who, "POST", f"{LIST}/{found.id}/comments", {"text": "Well"})
            self.ask(who, "PUT", f"{LIST}/{found.id}/title", {"title": f"By {who}"})

    @rule(who=person)
    def reverse(self, who: str) -> None:
        applied = [each["id"] for each in self.listed("boss") if each["state"] == "Applied"]
        for id in applied[:1]:
            self.ask(who, "POST", f"{LIST}/{id}/reverse")

    # What happens around them

    @rule(who=person, where=environment, number=st.integers(0, 3), reasoned=st.booleans())
    def ask_for(self, who: str, where: str, number: int, reasoned: bool) -> None:
        sent: dict[str, Any] = {"changeRequestsEnabled": bool(number)}
        if number:
            sent["requiredApprovals"] = number
        headers = REASON if reasoned else {}
        self.ask(who, "PUT", f"{self.place(where)}/config", sent, headers=headers)

    @rule(who=person, used=st.booleans(), reasoned=st.booleans())
    def use(self, who: str, used: bool, reasoned: bool) -> None:
        sent = {"environments": [*ENVIRONMENTS] if used else ["production"]}
        headers = REASON if reasoned else {}
        self.ask(who, "PUT", f"{PROJECT}/environments", sent, headers=headers)

    @rule(who=st.sampled_from(["kim", "finn", "ada"]))
    def leave_or_join(self, who: str) -> None:
        if who in self.gone:
            return
        if who in self.members:
            self.ask("boss", "DELETE", f"{PROJECT}/access/{self.ids[who]}")
        else:
            self.ask("boss", "POST", f"{PROJECT}/access", {"id": self.ids[who], "roleId": 5})
        self.members ^= {who}

    @rule()
    def promote_or_demote(self) -> None:
        if "ada" not in self.gone:
            role = 3 if "ada" in self.admins else 1
            self.ask("boss", "PUT", f"/user-admin/{self.ids['ada']}", {"rootRole": role})
            self.admins ^= {"ada"}

    @rule(who=st.sampled_from(["finn", "ada"]))
    def delete_or_restore(self, who: str) -> None:
        path = f"/user-admin/{self.ids[who]}"
        if who in self.gone:
            assert self.ask("boss", "POST", f"{path}/restore").status_code == 200
            self.clients[who] = ApiClient(self.app, self.people.token(self.ids[who], str(self.now)))
        else:
            assert self.ask("boss", "DELETE", path).status_code == 200
        self.gone ^= {who}

    @rule(who=person, name=feature, way=st.sampled_from(DIRECT), reasoned=st.booleans())
    def change_directly(self, who: str, name: str, way: str, reasoned: bool) -> None:
        headers = REASON if reasoned else {}
        self.ask(who, *self.direct(name, way, "production"), headers=headers)

    @rule(who=person, name=feature, way=st.sampled_from(ELSEWHERE), reasoned=st.booleans())
    def change_elsewhere(self, who: str, name: str, way: str, reasoned: bool) -> None:
        headers = REASON if reasoned else {}
        self.ask(who, *self.direct(name, way, "development"), headers=headers)

    @rule(who=person, name=feature, share=st.integers(2, 90), where=environment)
    def start_a_release(self, who: str, name: str, share: int, where: str) -> None:
        path = f"{PROJECT}/features/{name}/environments/{where}/release-plans"
        self.ask(who, "POST", path, self.plan(share) | {"start": True})

    @rule(who=person, place=which, act=st.sampled_from(ACTS))
    def act_on_a_release(self, who: str, place: int, act: str) -> None:
        for name, where, release in self.one_release(place):
            path = f"{PROJECT}/features/{name}/environments/{where}/release-plans/{release['id']}"
            waiting = [step for step in release["milestones"] if not step["startedAt"]]
            if act == "leave":
                self.ask(who, "DELETE", path)
            elif act == "next":
                self.ask(who, "POST", f"{path}/milestones/{waiting[0]['id']}/start")
            else:
                self.ask(who, "POST", f"{path}/{act}", {} if act != "resume" else None)

    @rule(passed=st.sampled_from([2, 40, 120, 120, -40]))
    def wait(self, passed: int) -> None:
        """The clock may also be set back."""
        self.now += timedelta(seconds=passed)
        with self.app.app_context(), clock.at(self.now):
            applying.apply_due()
            applying.check_outcomes()
            start_due()

    # What must hold

    @invariant()
    def nothing_is_delivered_that_was_not_approved(self) -> None:
        if not hasattr(self, "seen"):
            return
        events = self.events_since(self.seen)
        applied = [event for event in events if event["type"] == "change-request-applied"]
        led_to: dict[str, dict[str, Any]] = {name: {} for name in ENVIRONMENTS}
        required = dict(self.required)
        for event in applied:
            number, author = event["data"]["id"], event["data"]["createdBy"]
            where, body = event["data"]["environment"], self.read(number)
            outcome, whole = self.outcome(number), self.whole_outcome(number)
            agreed = {
                name
                for name, seen in self.given.get(number, {}).items()
                if seen == whole and name != author and self.counts(name)
            }
            approvers = set(event["data"]["approvedBy"])
            assert approvers <= agreed, (event, self.given.get(number), outcome)
            assert len(approvers) >= required[where], event
            led_to[where] |= outcome
            self.note_plans(where, body["outcomes"])
            for change in body["projectChanges"]:
                required[where] = change["payload"]["requiredApprovals"]
        stopped = self.follow_releases(events, led_to)
        now, rules, used = self.delivery(), self.needed(), self.environments()
        bypassed = {
            event["data"]["environment"]
            for event in events
            if event["type"] == "change-request-bypassed"
        }
        for where in set(ENVIRONMENTS) - bypassed:
            assert rules[where] >= required[where], (where, events)
            assert where in used or not required[where] or where not in self.used, events
            if self.required[where]:
                before, after, meant = self.delivered[where], now[where], led_to[where]
                for name in before.keys() | after.keys() | meant.keys():
                    if (where, name) in stopped and after.get(name) is None:
                        continue  # which needs no approval
                    assert after.get(name) == meant.get(name, before.get(name)), (name, events)
        self.seen, self.delivered, self.required, self.used = self.newest(), now, rules, used

    def note_plans(self, where: str, outcomes: list[dict[str, Any]]) -> None:
        """Note who gets a feature at each step of the releases that a request starts."""
        for row in outcomes:
            if plan := (row["after"] or {}).get("release"):
                self.plans[where, row["feature"]] = [
                    comparable({**EMPTY, **step}) for step in plan["steps"]
                ]

    def follow_releases(
        self, events: list[dict[str, Any]], led_to: dict[str, dict[str, Any]]
    ) -> set[tuple[str, str]]:
        """Add what steps of approved releases lead to. Return where a release was stopped."""
        stopped = set()
        applied = {e["batchId"] for e in events if e["type"] == "change-request-applied"}
        for event in events:
            name, where = event["featureName"], (event["data"] or {}).get("environment", "")
            place = where, name
            if event["type"] == "release-plan-stopped":
                stopped.add(place)
            elif event["type"] == "release-plan-added" and event["batchId"] not in applied:
                self.plans.pop(place, None)  # no one approved this one
            elif event["type"] == "release-plan-progressions-resumed":
                self.began[place] = at(event)
            elif event["type"] == "release-plan-milestone-started":
                is_alone = event["batchId"] not in applied and place in self.plans
                if is_alone and self.required[where]:
                    assert at(event) - self.began[place] >= WAIT, event
                    step = self.plans[place][event["data"]["milestone"]["number"] - 1]
                    before = led_to[where].get(name, self.delivered[where].get(name))
                    led_to[where][name] = [step[0], *(before or step)[1:]]
                self.began[place] = at(event)
        return stopped

    def teardown(self) -> None:
        """The event log alone leads to the features and the requests that there are."""
        if not hasattr(self, "seen"):
            return
        events = self.events_since(0)
        told = Replay(
            event for event in events if event["project"] == "pay" or not event["project"]
        )
        for name in FEATURES:
            found = self.admin.ok("GET", f"{PROJECT}/features/{name}")["environments"]
            for state in found:
                place = name, state["name"]
                assert state["enabled"] is (place in told.on)
                ids = [each["id"] for each in state["strategies"]]
                assert ids == [each["id"] for each in told.strategies[place]]
        found = self.listed("boss")
        others = [each for each in found if each["state"] != "Draft"]
        assert self._states(events) == {each["id"]: self.stored(each["state"]) for each in others}

    def _states(self, events: Iterable[dict[str, Any]]) -> dict[int, str]:
        """The states of requests that are no drafts, as the log tells them."""
        told: dict[int, str] = {}
        for event in events:
            if event["type"].startswith("change-request-") and "id" in (event["data"] or {}):
                told[event["data"]["id"]] = event["data"]["state"]
        return {id: state for id, state in told.items() if state != "Draft"}

    # Means

    def counts(self, name: str) -> bool:
        return name not in self.gone and (name in self.members or name in self.admins)

    @staticmethod
    def stored(state: str) -> str:
        return "In review" if state == "Approved" else state

    def ask(self, who: str, method: str, path: str, sent: Any = None, **more: Any) -> TestResponse:
        with clock.at(self.now):
            answer = self.clients[who].request(method, path, json=sent, **more)
        assert answer.status_code < 500, (who, method, path, sent, answer.text)
        return answer

    def propose(self, who: str, change: dict[str, Any], where: str = "production") -> None:
        self.ask(who, "POST", self.place(where), change)

    @staticmethod
    def place(environment: str) -> str:
        return f"{PROJECT}/environments/{environment}/change-requests"

    def environments(self) -> set[str]:
        return set(self.admin.ok("GET", PROJECT)["environments"])

    def needed(self) -> dict[str, int]:
        """How many approvals each environment needs."""
        found = self.admin.ok("GET", PROJECT)["changeRequestEnvironments"]
        return dict.fromkeys(ENVIRONMENTS, 0) | {
            each["name"]: each["requiredApprovals"] for each in found
        }

    def decide(self, who: str, id: int, state: str, **fields: Any) -> int:
        sent = {"state": state, **fields}
        return self.ask(who, "PUT", f"{LIST}/{id}/state", sent).status_code

    def direct(self, name: str, way: str, place: str) -> tuple[str, str, Any]:
        feature = f"{PROJECT}/features/{name}"
        at = f"{feature}/environments/{place}"
        card, flipped = f"{PROJECT}/features/card/dependencies", name == "tips"
        ways: dict[str, tuple[str, str, Any]] = {
            "on": ("POST", f"{at}/on", None),
            "off": ("POST", f"{at}/off", None),
            "strategies": ("POST", f"{at}/strategies", rollout(7)),
            "variants": ("PUT", f"{at}/variants", [{"name": "blue"}]),
            "segment": (
                "PUT",
                f"/segments/{self.segment}",
                {"constraints": [SELLS | {"values": ["1", "9"]}]},
            ),
            "parent": ("POST", card, {"feature": "tips"}),
            "orphan": ("DELETE", card, None),
            "impressions": ("PUT", feature, {"type": "release", "impressionData": True}),
            "default": (
                "POST",
                f"{PROJECT}/environments/{place}/default-strategy",
                rollout(20 if flipped else 80),
            ),
            "archive": (
                "POST",
                f"{PROJECT}/archive",
                {"features": [name], "removeDependenciesOn": [name]},
            ),
            "revive-features": ("POST", f"{PROJECT}/revive-features", {"features": [name]}),
        }
        return ways[way]

    def listed(self, who: str) -> list[dict[str, Any]]:
        answer = self.ask(who, "GET", f"{LIST}?limit=1000")
        body: Any = answer.json
        return list(body["changeRequests"]) if answer.status_code == 200 else []

    def read(self, id: int) -> dict[str, Any]:
        return dict(self.admin.ok("GET", f"{LIST}/{id}"))

    def one(self, place: int) -> list[Request]:
        """One of those that are open and sent, if there is any."""
        found = self.opened()
        return [found[place % len(found)]] if found else []

    def opened(self) -> list[Request]:
        return [
            Request(each["id"], each["state"])
            for each in self.listed("boss")
            if each["state"] in {"In review", "Approved", "Scheduled"}
        ]

    def plan(self, share: int) -> dict[str, Any]:
        """Three steps, of a minute each; the second is for a segment and a share."""
        wait = {"transitionCondition": {"intervalMinutes": 1}}
        return {
            "milestones": [
                {"name": "1%", "strategies": [rollout(1)], **wait},
                {"name": "some", "strategies": [rollout(share, segments=[self.segment])], **wait},
                {"name": "all", "strategies": [rollout(100)]},
            ]
        }

    def one_release(self, place: int) -> list[tuple[str, str, dict[str, Any]]]:
        """A release that is under way, with its feature and environment, if there is any."""
        found = [
            (each["featureName"], each["environment"], each)
            for each in self.admin.ok("GET", "/releases")["releases"]
            if each["state"] in {"running", "held"}
        ]
        return [found[place % len(found)]] if found else []

    def strategies(self, name: str) -> list[dict[str, Any]]:
        path = f"{PROJECT}/features/{name}/environments/production/strategies"
        return list(self.admin.ok("GET", path))

    def newest(self) -> int:
        return int(self.admin.ok("GET", "/events?limit=1")["events"][0]["id"])

    def events_since(self, id: int) -> list[dict[str, Any]]:
        """Oldest first."""
        found = self.admin.ok("GET", "/events?limit=1000")["events"]
        return [event for event in reversed(found) if event["id"] > id]

    def delivery(self) -> dict[str, dict[str, Any]]:
        return {name: documents(ApiClient(self.app, sdk)) for name, sdk in self.sdks.items()}

    def whole_outcome(self, id: int) -> dict[str, Any]:
        """The same, with the plans of releases."""
        return {row["feature"]: row["after"] for row in self.read(id)["outcomes"]}

    def outcome(self, id: int) -> dict[str, Any]:
        """What a change request leads to, by feature."""
        return {row["feature"]: comparable(row["after"]) for row in self.read(id)["outcomes"]}


def at(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["createdAt"])


def documents(sdk: ApiClient) -> dict[str, Any]:
    """What an application gets of the features that are on, by name."""
    headers = {"Unleash-Client-Spec": "5.2.0"}
    answer: Any = sdk.request("GET", "/api/client/features", headers=headers).json
    segments = {each["id"]: each for each in answer.get("segments", ())}
    for feature in answer["features"]:
        for strategy in feature["strategies"]:
            strategy["segments"] = [segments[id] for id in strategy.get("segments", ())]
    return {
        feature["name"]: comparable(feature) for feature in answer["features"] if feature["enabled"]
    }


def comparable(document: dict[str, Any] | None) -> list[Any] | None:
    """The parts of a feature that count. SDKs and change requests have the same names for them."""
    if document is None:
        return None
    strategies = [
        [
            *(strategy[name] for name in ("name", "parameters", "constraints", "variants")),
            [segment["constraints"] for segment in strategy["segments"]],
        ]
        for strategy in document["strategies"]
    ]
    rest = document["variants"], document["impressionData"], document.get("dependencies", [])
    return [strategies, *rest]


def check_approvals(app: Flask, *, steps: int, examples: int) -> None:
    bound = type("Bound", (Office,), {"app": app})
    run_state_machine_as_test(
        bound,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],  # no shrinking: each try is long
        ),
    )
