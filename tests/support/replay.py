"""How features are switched, as the event log alone tells it."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Any

Place = tuple[str, str]
"""A feature, and an environment."""


class Replay:
    """Events of one project, applied in their order; what each says was before must be so."""

    def __init__(self, events: Iterable[dict[str, Any]]) -> None:
        self.on: set[Place] = set()
        self.strategies: defaultdict[Place, list[dict[str, Any]]] = defaultdict(list)
        self.variants: defaultdict[Place, list[dict[str, Any]]] = defaultdict(list)
        self.defaults: dict[str, dict[str, Any]] = {}
        self.segments: dict[int, dict[str, Any]] = {}
        for event in events:
            self._apply(event["type"], event["featureName"], event["preData"], event["data"])

    def uses(self, segment: int) -> int:
        """How many strategies use it, also those of environments that are not used now."""
        everything = [*chain(*self.strategies.values()), *self.defaults.values()]
        return sum(segment in each["segments"] for each in everything)

    def _apply(self, type: str, name: str, before: Any, after: Any) -> None:
        what, _, how = type.rpartition("-")
        match what:
            case "feature-environment":
                self._switch((name, after["environment"]), how)
            case "feature" if how == "revived":
                self.on = {place for place in self.on if place[0] != name}
            case "project-environments":
                self.on = {place for place in self.on if place[1] in after["environments"]}
            case "feature-strategy":
                self._change_strategy(name, before, after)
            case "feature-strategies":
                self._sort((name, after["environment"]), before, after)
            case "feature-environment-variants":
                place = (name, after["environment"])
                assert before["variants"] == self.variants[place]
                self.variants[place] = after["variants"]
            case "default-strategy":
                self._choose_default(before, after)
            case "segment":
                self._change_segment(before, after)

    def _switch(self, place: Place, how: str) -> None:
        assert (place in self.on) is (how == "disabled"), f"{place} was {how} already"
        self.on ^= {place}

    def _change_strategy(self, name: str, before: Any, after: Any) -> None:
        present = self.strategies[name, (before or after)["environment"]]
        if before:
            assert present.pop(before["sortOrder"]) | {"sortOrder": before["sortOrder"]} == before
        if after:
            present.insert(after["sortOrder"], after)

    def _sort(self, place: Place, before: Any, after: Any) -> None:
        by_id = {each["id"]: each for each in self.strategies[place]}
        assert before["strategies"] == [*by_id]
        assert after["strategies"] != before["strategies"]
        self.strategies[place] = [by_id[id] for id in after["strategies"]]

    def _choose_default(self, before: Any, after: Any) -> None:
        assert self.defaults.pop(after["environment"], None) == before
        if "name" in after:
            self.defaults[after["environment"]] = after

    def _change_segment(self, before: Any, after: Any) -> None:
        if before:
            assert self.segments.pop(before["id"]) == before
        if after:
            self.segments[after["id"]] = after
