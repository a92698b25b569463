"""Random states and contexts, on which two evaluators must agree: ours and that of Node's SDK."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.delivery.sdk.frontend import Toggles
from app.evaluation.evaluator import Evaluator
from tests.support.programs import SDKS

Json = dict[str, Any]

NAMES = ("a", "b", "c")
PARENT = "parent"
FIELDS = ("userId", "sessionId", "country", "note", "appName", "remoteAddress")
SESSION = "sessionId"
"""In every context: what is random can’t be compared."""
PLAIN = ("1", "2", "7", "NO", "no", "x y", "a", "10.0.0.1", "1.2.3", "1042", 'a"b', "a\\b", "a'b")
ODD = ("é", "日本", "\0", "☃ ☂", "ß", "1.0", "-3", "2e3", "::1", "10.0.0.255")
"""Not for what sticks: Node hashes these by half of each character (murmurhash3js).

Nor are there values that JavaScript takes for spaces, such as U+2028: Node trims them, and then
every text begins with them, and as a number they are 0.
"""
STICKY = ("userId", "sessionId", "country")
TIMES = ("2024-01-01T00:00:00Z", "2026-06-01T12:00:00.500Z", "2030-01-01T00:00:00+02:00")

lists = st.lists(st.sampled_from([*PLAIN, *ODD]), min_size=1, max_size=4, unique=True)
LISTED = ("IN", "NOT_IN", "STR_STARTS_WITH", "STR_ENDS_WITH", "STR_CONTAINS")
SINGLE = {
    **dict.fromkeys(("NUM_EQ", "NUM_GT", "NUM_GTE", "NUM_LT", "NUM_LTE"), ("1", "2.5", "-3", "7")),
    **dict.fromkeys(
        ("SEMVER_EQ", "SEMVER_GT", "SEMVER_LT", "SEMVER_GTE", "SEMVER_LTE"),
        ("1.2.3", "2.0.0", "2.0.0-rc.1"),
    ),
    "REGEX": ("^a", "[0-9]+$", "N|x", "."),
}


@st.composite
def constraints(draw: st.DrawFn) -> Json:
    operator = draw(st.sampled_from([*LISTED, *SINGLE, "DATE_AFTER", "DATE_BEFORE", "IN_CIDR"]))
    found: Json = {
        "contextName": draw(st.sampled_from(FIELDS)),
        "operator": operator,
        "inverted": operator != "REGEX" and draw(st.booleans()),
        "caseInsensitive": draw(st.booleans()),
    }
    if operator in LISTED:
        return found | {"values": draw(lists)}
    if operator == "IN_CIDR":
        return found | {"values": draw(st.sampled_from([["10.0.0.0/24"], ["::/64", "1.0.0.0/8"]]))}
    if operator.startswith("DATE_"):
        time = draw(st.sampled_from(TIMES))
        return found | {"contextName": "currentTime", "value": time}
    return found | {"value": draw(st.sampled_from(SINGLE[operator]))}


@st.composite
def variants(draw: st.DrawFn, inherited: str | None = None) -> list[Json]:
    """Those of a strategy stick to what it sticks to itself.

    Where they say something else, Node goes by that, and the engine by the strategy.
    """
    names = draw(st.lists(st.sampled_from(["blue", "green", "red"]), max_size=3, unique=True))
    share = 1_000 // len(names) if names else 0
    weights = [share] * (len(names) - 1) + [1_000 - share * (len(names) - 1)]
    stickiness = inherited or draw(st.sampled_from(["default", SESSION]))
    payload = {"type": "string", "value": 'é "\\\u2028'}
    return [
        {"name": name, "weight": weight, "weightType": "variable", "stickiness": stickiness}
        | ({"payload": payload} if draw(st.booleans()) else {})
        for name, weight in zip(names, weights, strict=False)
    ]


@st.composite
def strategies(draw: st.DrawFn, name: str) -> Json:
    kind = draw(st.sampled_from(["flexibleRollout", "flexibleRollout", "default", "userWithId"]))
    kind = draw(st.sampled_from([kind, kind, "gradualRolloutUserId", "remoteAddress", "custom"]))
    number = str(draw(st.sampled_from([0, 1, 25, 50, 99, 100])))
    stickiness = draw(st.sampled_from(["default", *STICKY]))
    parameters = {
        "flexibleRollout": {"rollout": number, "stickiness": stickiness, "groupId": name},
        "userWithId": {"userIds": "1, 2,NO"},
        "gradualRolloutUserId": {"percentage": number, "groupId": name},
        "remoteAddress": {"IPs": "10.0.0.1,192.168.0.0/16"},
    }.get(kind, {})
    return {
        "name": kind,
        "parameters": parameters,
        "constraints": draw(st.lists(constraints(), max_size=2)),
        "variants": draw(variants(stickiness)) if kind == "flexibleRollout" else [],
        "segments": draw(st.sampled_from([[], [], [1], [1, 2]])),
    }


@st.composite
def features(draw: st.DrawFn, name: str) -> Json:
    found: Json = {
        "name": name,
        "enabled": draw(st.sampled_from([True, True, True, False])),
        "project": "default",
        "strategies": draw(st.lists(strategies(name), min_size=1, max_size=3)),
        "variants": draw(variants()),
        "impressionData": draw(st.booleans()),
    }
    if name == PARENT or draw(st.booleans()):
        return found
    needed: Json = {"feature": PARENT, "enabled": draw(st.booleans())}
    if needed["enabled"]:
        needed["variants"] = draw(st.sampled_from([[], ["blue"], ["disabled", "red"]]))
    return found | {"dependencies": [needed]}


states = st.builds(
    lambda found, one, two: {
        "version": 2,
        "features": found,
        "segments": [{"id": 1, "constraints": one}, {"id": 2, "constraints": two}],
    },
    st.tuples(*map(features, (*NAMES, PARENT))).map(list),
    st.lists(constraints(), max_size=2),
    st.lists(constraints(), max_size=2),
)
plain, any_text = st.sampled_from(PLAIN), st.sampled_from([*PLAIN, *ODD])
contexts = st.fixed_dictionaries(
    {SESSION: plain, "currentTime": st.sampled_from(TIMES)},
    optional={
        "userId": plain,
        "appName": any_text,
        "remoteAddress": any_text,
        "properties": st.fixed_dictionaries({}, optional={"country": plain, "note": any_text}),
    },
)


class Node:
    """The SDK for Node, which answers for as long as the process runs."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, state: Json, asked: list[Json]) -> list[Json]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"state": state, "contexts": asked}) + "\n")
        self._process.stdin.flush()
        found: list[Json] = json.loads(self._process.stdout.readline())
        return found


@contextmanager
def node() -> Iterator[Node]:
    command = ["node", str(SDKS / "evaluate.mjs")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield Node(process)
        process.kill()


def compare(examples: int, each: int) -> int:
    """Compare the evaluators on this many states, with this many contexts each; how many pairs."""
    pairs = 0

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(states, st.lists(contexts, min_size=each, max_size=each))
    def agree(state: Json, asked: list[Json]) -> None:
        nonlocal pairs
        evaluator, view = Evaluator(json.dumps(state).encode()), Toggles()
        assert not evaluator.problems, evaluator.problems
        for context, theirs in zip(asked, oracle.ask(state, asked), strict=True):
            for _ in range(2):  # evaluated, and remembered
                toggles = json.loads(evaluator.all(view, None, context).body)["toggles"]
                ours = {toggle["name"]: toggle["variant"] for toggle in toggles}
                different = {
                    name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)
                }
                assert not different, (
                    context,
                    {name: (ours.get(name), theirs.get(name)) for name in different},
                    [one for one in state["features"] if one["name"] in {*different, PARENT}],
                    state["segments"],
                )
            pairs += 1

    with node() as oracle:
        agree()
    return pairs
