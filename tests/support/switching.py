"""Random sequences of changes never lead to a state that lies to SDKs."""

from contextlib import suppress
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.clients import ApiClient

PROJECT = "/projects/default"
FEATURES = ("a", "b")
ENVIRONMENTS = ("development", "production")

feature = st.sampled_from(FEATURES)
environment = st.sampled_from(ENVIRONMENTS)
number = st.integers(0, 3)
on_or_off = st.sampled_from(["on", "off"])
body = st.fixed_dictionaries(
    {
        "name": st.just("flexibleRollout"),
        "parameters": st.fixed_dictionaries({"rollout": st.integers(0, 100).map(str)}),
        "disabled": st.booleans(),
    },
    optional={
        "sortOrder": number,
        "variants": st.lists(
            st.fixed_dictionaries(
                {"name": st.text("abc", min_size=1, max_size=2)},
                optional={"weight": st.integers(0, 1_000)},
            ),
            max_size=3,
            unique_by=lambda variant: variant["name"],
        ),
    },
)


class Machine(RuleBasedStateMachine):
    """Everything that changes where two features are on, and for whom."""

    admin: ClassVar[ApiClient]

    @initialize()
    def begin(self) -> None:
        for name in FEATURES:
            self.admin.post(f"{PROJECT}/features", {"name": name})
        self.send("PUT", f"{PROJECT}/environments", {"environments": list(ENVIRONMENTS)})
        self.send("POST", f"{PROJECT}/revive-features", {"features": list(FEATURES)})

    @rule(name=feature, place=environment, way=on_or_off)
    def switch(self, name: str, place: str, way: str) -> None:
        self.send("POST", f"{self.at(name, place)}/{way}")

    @rule(place=environment, way=on_or_off)
    def switch_all(self, place: str, way: str) -> None:
        path = f"{PROJECT}/bulk_features/environments/{place}/{way}"
        self.send("POST", path, {"features": list(FEATURES)})

    @rule(name=feature, place=environment, sent=body)
    def add(self, name: str, place: str, sent: dict[str, Any]) -> None:
        self.send("POST", f"{self.at(name, place)}/strategies", sent)

    @rule(name=feature, place=environment, which=number, sent=body)
    def change(self, name: str, place: str, which: int, sent: dict[str, Any]) -> None:
        with suppress(IndexError):
            self.send("PUT", self.strategy(name, place, which), sent)

    @rule(name=feature, place=environment, which=number)
    def delete(self, name: str, place: str, which: int) -> None:
        with suppress(IndexError):
            self.send("DELETE", self.strategy(name, place, which))

    @rule(name=feature, place=environment, order=st.permutations(range(4)))
    def sort(self, name: str, place: str, order: list[int]) -> None:
        found = self.strategies(name, place)
        orders = [
            {"id": each["id"], "sortOrder": order[turn % 4]} for turn, each in enumerate(found)
        ]
        self.send("POST", f"{self.at(name, place)}/strategies/set-sort-order", orders)

    @rule(name=feature, way=st.sampled_from(["archive", "revive-features"]))
    def archive_or_revive(self, name: str, way: str) -> None:
        self.send("POST", f"{PROJECT}/{way}", {"features": [name]})

    @rule(places=st.lists(environment, min_size=1, unique=True))
    def use(self, places: list[str]) -> None:
        self.send("PUT", f"{PROJECT}/environments", {"environments": places})

    @invariant()
    def every_state_is_one_that_sdks_read_as_it_is_meant(self) -> None:
        for name in FEATURES:
            row = self.admin.ok("GET", f"{PROJECT}/features/{name}")
            for state in row["environments"]:
                found = state["strategies"]
                assert [each["sortOrder"] for each in found] == list(range(len(found)))
                if state["enabled"]:
                    assert any(not each["disabled"] for each in found), state
                for each in found:
                    weights = [variant["weight"] for variant in each["variants"]]
                    assert sum(weights) in {0, 1_000}

    def teardown(self) -> None:
        """The events lead to the states that there are."""
        events = self.admin.ok("GET", "/events?limit=1000&project=default")["events"]
        on: set[tuple[str, str]] = set()
        for event in reversed(events):
            name, data = event["featureName"], event["data"] or {}
            if event["type"] == "feature-environment-enabled":
                on.add((name, data["environment"]))
            elif event["type"] == "feature-environment-disabled":
                on.discard((name, data["environment"]))
            elif event["type"] == "feature-revived":
                on = {place for place in on if place[0] != name}
            elif event["type"] == "project-environments-updated":
                on = {place for place in on if place[1] in data["environments"]}
        for name in FEATURES:
            row = self.admin.ok("GET", f"{PROJECT}/features/{name}")
            states = {state["name"] for state in row["environments"] if state["enabled"]}
            used = {state["name"] for state in row["environments"]}
            assert states == {place for one, place in on if one == name and place in used}

    def at(self, name: str, place: str) -> str:
        return f"{PROJECT}/features/{name}/environments/{place}"

    def strategies(self, name: str, place: str) -> list[dict[str, Any]]:
        answer = self.admin.get(f"{self.at(name, place)}/strategies")
        return list(answer.json or ()) if answer.status_code == 200 else []

    def strategy(self, name: str, place: str, which: int) -> str:
        return f"{self.at(name, place)}/strategies/{self.strategies(name, place)[which]['id']}"

    def send(self, method: str, path: str, sent: Any = None) -> None:
        answer = self.admin.request(method, path, json=sent)
        assert answer.status_code < 500, (method, path, sent, answer.text)


def check_promises(admin: ApiClient, steps: int, examples: int) -> None:
    bound = type("Bound", (Machine,), {"admin": admin})
    run_state_machine_as_test(
        bound,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
