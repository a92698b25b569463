"""Random sequences of changes never lead to a state that lies to SDKs."""

from collections.abc import Callable, Iterator
from itertools import count
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

from tests.support.clients import ApiClient
from tests.support.replay import Replay

PROJECT = "/projects/default"
ENVIRONMENTS = ("development", "production")
WEIGHTS = 1_000
FEW = {"contextName": "userId", "operator": "IN", "values": ["1"]}

feature = st.sampled_from(("a", "b"))
segment = st.sampled_from(("s", "t"))
used = st.sets(segment)
environment = st.sampled_from(ENVIRONMENTS)
number = st.integers(0, 7)
on_or_off = st.sampled_from(["on", "off"])
rules = st.lists(
    st.fixed_dictionaries(
        {
            "contextName": st.sampled_from(["userId", "appName"]),
            "operator": st.sampled_from(["IN", "NOT_IN"]),
            "values": st.lists(st.text("123", min_size=1, max_size=2), min_size=1, max_size=2),
        }
    ),
    max_size=2,
)
variants = st.lists(
    st.fixed_dictionaries(
        {"name": st.text("abc", min_size=1, max_size=2)},
        optional={
            "weight": st.integers(0, WEIGHTS),
            "weightType": st.sampled_from(["fix", "variable"]),
        },
    ),
    max_size=3,
    unique_by=lambda variant: variant["name"],
)
contents = {
    "name": st.just("flexibleRollout"),
    "parameters": st.fixed_dictionaries({"rollout": st.integers(0, 100).map(str)}),
}
choices = {"constraints": rules, "variants": variants}
default = st.fixed_dictionaries(contents, optional=choices)
body = st.fixed_dictionaries(
    contents | {"disabled": st.booleans()}, optional=choices | {"sortOrder": number}
)


class Machine(RuleBasedStateMachine):
    """Everything that changes where two features are on, and for whom."""

    admin: ClassVar[ApiClient]
    turns: ClassVar[Iterator[int]]
    also: ClassVar[Callable[[], None]]
    """What must hold too after each step."""

    @initialize()
    def begin(self) -> None:
        """With two features and a segment that are new, and no default that anyone has chosen."""
        self.turn = next(self.turns)
        self.admin.ok("PUT", f"{PROJECT}/environments", {"environments": list(ENVIRONMENTS)})
        for place in ENVIRONMENTS:
            self.reset_default(place)
        self.first = self.admin.ok("GET", "/events?limit=1")["events"][0]["id"]
        for name in self.features():
            self.admin.ok("POST", f"{PROJECT}/features", {"name": name})
        self.create_segment("s", None, [FEW])
        for _ in range(2):
            self.add("a", "production", {"name": "flexibleRollout"}, {"s"})

    @rule(name=feature, place=environment, way=on_or_off)
    def switch(self, name: str, place: str, way: str) -> None:
        self.send("POST", f"{self.at(name, place)}/{way}")

    @rule(place=environment, way=on_or_off)
    def switch_all(self, place: str, way: str) -> None:
        path = f"{PROJECT}/bulk_features/environments/{place}/{way}"
        self.send("POST", path, {"features": self.features()})

    @rule(name=feature, place=environment, sent=body, used=used)
    def add(self, name: str, place: str, sent: dict[str, Any], used: set[str]) -> None:
        whole = sent | {"segments": self.ids(used)}
        self.send("POST", f"{self.at(name, place)}/strategies", whole)

    @rule(which=number, sent=body)
    def change(self, which: int, sent: dict[str, Any]) -> None:
        for place, id in self.one_strategy(which):
            self.send("PUT", f"{place}/strategies/{id}", sent)

    @rule(which=number)
    def delete(self, which: int) -> None:
        for place, id in self.one_strategy(which):
            self.send("DELETE", f"{place}/strategies/{id}")

    @rule(name=feature, place=environment, order=st.permutations(range(4)))
    def sort(self, name: str, place: str, order: list[int]) -> None:
        found = self.strategies(name, place)
        orders = [
            {"id": each["id"], "sortOrder": order[turn % 4]} for turn, each in enumerate(found)
        ]
        self.send("POST", f"{self.at(name, place)}/strategies/set-sort-order", orders)

    @rule(name=feature, place=environment, sent=variants)
    def share_variants(self, name: str, place: str, sent: list[dict[str, Any]]) -> None:
        self.send("PUT", f"{self.at(name, place)}/variants", sent)

    @rule(place=environment, sent=default, used=used)
    def choose_default(self, place: str, sent: dict[str, Any], used: set[str]) -> None:
        path = f"{PROJECT}/environments/{place}/default-strategy"
        self.send("POST", path, sent | {"segments": self.ids(used)})

    @rule(place=environment)
    def reset_default(self, place: str) -> None:
        self.send("DELETE", f"{PROJECT}/environments/{place}/default-strategy")

    @rule(name=segment, project=st.sampled_from([None, "default"]), sent=rules)
    def create_segment(self, name: str, project: str | None, sent: list[Any]) -> None:
        named = {"name": self.own(name), "project": project}
        self.send("POST", "/segments", named | {"constraints": sent})

    @rule(name=segment, sent=rules)
    def change_segment(self, name: str, sent: list[Any]) -> None:
        for found in self.segments(name):
            status = self.send("PUT", f"/segments/{found['id']}", {"constraints": sent})
            would_be_everyone = found["usedInStrategies"] and not sent
            assert status == (409 if would_be_everyone else 204)

    @rule(name=segment)
    def delete_segment(self, name: str) -> None:
        for found in self.segments(name):
            status = self.send("DELETE", f"/segments/{found['id']}")
            assert status == (409 if found["usedInStrategies"] else 204)

    @rule(which=number, used=used)
    def choose_segments(self, which: int, used: set[str]) -> None:
        """One or two, or none any more."""
        for place, id in self.one_strategy(which):
            sent = {"projectId": "default", "environmentId": place.rpartition("/")[2]}
            chosen = {"strategyId": id, "segmentIds": self.ids(used)}
            self.send("POST", "/segments/strategies", sent | chosen)

    @rule(name=feature, way=st.sampled_from(["archive", "revive-features"]))
    def archive_or_revive(self, name: str, way: str) -> None:
        self.send("POST", f"{PROJECT}/{way}", {"features": [self.own(name)]})

    @rule(places=st.lists(environment, min_size=1, unique=True))
    def use(self, places: list[str]) -> None:
        self.send("PUT", f"{PROJECT}/environments", {"environments": places})

    @invariant()
    def every_state_is_one_that_sdks_read_as_it_is_meant(self) -> None:
        constraints = {found["id"]: found["constraints"] for found in self.segments()}
        for state in (state for name in self.features() for state in self.states(name)):
            found = state["strategies"]
            assert [each["sortOrder"] for each in found] == list(range(len(found)))
            assert any(not each["disabled"] for each in found) or not state["enabled"], state
            for each in (state, *found):
                weights = [variant["weight"] for variant in each["variants"]]
                assert sum(weights) == WEIGHTS or not weights
            for each in found:
                assert all(constraints[id] for id in each["segments"]), each
        type(self).also()

    def teardown(self) -> None:
        """The events lead to the states that there are."""
        events = self.admin.ok("GET", "/events?limit=1000")["events"]
        told = Replay(event for event in reversed(events) if event["id"] > self.first)
        for name in self.features():
            for state in self.states(name):
                place = name, state["name"]
                assert state["enabled"] is (place in told.on)
                assert state["variants"] == told.variants[place]
                expected = enumerate(told.strategies[place])
                assert [read | {"environment": place[1]} for read in state["strategies"]] == [
                    each | {"sortOrder": order, "summary": read["summary"]}
                    for read, (order, each) in zip(state["strategies"], expected, strict=True)
                ]
        found = self.segments()
        assert [each["usedInStrategies"] for each in found] == [
            told.uses(each["id"]) for each in found
        ]
        stored = ("id", "name", "description", "project", "constraints")
        assert {each["id"]: {key: each[key] for key in stored} for each in found} == told.segments

    def own(self, name: str) -> str:
        return f"{name}{self.turn}"

    def features(self) -> list[str]:
        return [self.own(name) for name in "ab"]

    def states(self, feature: str) -> list[dict[str, Any]]:
        return list(self.admin.ok("GET", f"{PROJECT}/features/{feature}")["environments"])

    def segments(self, *names: str) -> list[dict[str, Any]]:
        """Those of this turn, or with names these of them that there are."""
        wanted = {self.own(name) for name in names or "st"}
        found = self.admin.ok("GET", "/segments?limit=1000")["segments"]
        return [each for each in found if each["name"] in wanted]

    def ids(self, names: set[str]) -> list[int]:
        return [each["id"] for each in self.segments(*names)] if names else []

    def at(self, name: str, place: str) -> str:
        return f"{PROJECT}/features/{self.own(name)}/environments/{place}"

    def strategies(self, name: str, place: str) -> list[dict[str, Any]]:
        answer = self.admin.get(f"{self.at(name, place)}/strategies")
        return list(answer.json or ()) if answer.status_code == 200 else []

    def one_strategy(self, which: int) -> list[tuple[str, str]]:
        """The place and the id of one of all strategies, if there is any."""
        found = [
            (f"{PROJECT}/features/{feature}/environments/{state['name']}", each["id"])
            for feature in self.features()
            for state in self.states(feature)
            for each in state["strategies"]
        ]
        return [found[which % len(found)]] if found else []

    def send(self, method: str, path: str, sent: Any = None) -> int:
        """The status of the answer, which is no fault of the server's."""
        answer = self.admin.request(method, path, json=sent)
        assert answer.status_code < 500, (method, path, sent, answer.text)
        return answer.status_code


def check_promises(
    admin: ApiClient, steps: int, examples: int, also: Callable[[], None] = lambda: None
) -> None:
    """``also``: what must hold too after each step."""
    own = {"admin": admin, "turns": count(), "also": staticmethod(also)}
    bound = type("Bound", (Machine,), own)
    run_state_machine_as_test(
        bound,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
