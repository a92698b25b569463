"""Compares the answers of two servers, to show that nothing changes for anyone.

Both are read as applications read them, with the same tokens. The engine of the SDKs then evaluates
what they answer, for many contexts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlencode

from app.core.errors import Conflict
from app.evaluation.engine import Engine
from app.exchange.unleash.client import TokenRefused, Unleash
from app.exchange.unleash.unleash import TYPES_OF_TOKENS, Raw

FEATURES = "/api/client/features"
FRONTEND = "/api/frontend"
ASKED_IN_BROWSERS = 20
"""Contexts that are sent to the frontend API, one request each."""
TIME = "2026-06-01T12:00:00.000Z"
"""Fixed for all questions, since two servers are never asked at the same moment."""
USERS = 5_000


class Unlike(NamedTuple):
    """A feature with different answers. ``contexts``: for how many contexts."""

    environment: str
    feature: str
    contexts: int
    reason: str


@dataclass(slots=True)
class Comparison:
    """``answers``: how many were compared. ``places``: what was compared, in words.

    ``by_engine``: features with equal rules that the other server’s frontend API evaluates
    differently, since it does not use the engine of the SDKs. ``alike``, ``random``: by
    environment, features with equal answers, and features with random ones. ``left_out``: what was
    not compared, since no token for it is valid on both servers.
    """

    answers: int = 0
    places: list[str] = field(default_factory=list)
    unlike: list[Unlike] = field(default_factory=list)
    by_engine: list[Unlike] = field(default_factory=list)
    alike: dict[str, set[str]] = field(default_factory=dict)
    random: dict[str, set[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def compare(there: Unleash, here_url: str, contexts: int) -> Comparison:
    """Compare the answers of an Unleash with those of this instance, at ``here_url``.

    Raises:
        UnleashRefused: when one of the two can’t be read.
        Conflict: when there is no token that both know.

    """
    comparison = Comparison()
    found = _tokens(there.get("/api/admin/api-tokens")["tokens"])
    if not found:
        raise Conflict("The Unleash has no SDK token with a readable secret to ask both with.")
    for (kind, environment), tokens in sorted(found.items()):
        token = next((t for t in tokens if _is_valid(t, kind, (here_url, there.url))), None)
        if token is None:
            who = "browsers" if kind == "frontend" else "applications"
            comparison.left_out.append(f"{environment} for {who}")
            continue
        theirs, ours = (Unleash(url, token["secret"]) for url in (there.url, here_url))
        if kind == "frontend":
            _compare_browsers(comparison, token, theirs, ours)
        else:
            _compare_applications(comparison, token, theirs, ours, contexts)
    if not comparison.places:
        raise Conflict(
            f"None of the SDK tokens of the Unleash is valid at {here_url} too. Import from it "
            "again, with its SDK tokens, and compare then."
        )
    return comparison


def _tokens(tokens: Sequence[Raw]) -> dict[tuple[str, str], list[Raw]]:
    """The tokens that both could know by kind and environment, those for most projects first."""
    found: dict[tuple[str, str], list[Raw]] = {}
    for token in sorted(tokens, key=_reach, reverse=True):
        kind = TYPES_OF_TOKENS.get(token.get("type") or "")
        if kind is None or token.get("secure") or token.get("environment") in {None, "", "*"}:
            continue
        found.setdefault((kind, token["environment"]), []).append(token)
    return found


def _is_valid(token: Raw, kind: str, urls: Sequence[str]) -> bool:
    """Whether all servers take it: one may be new there, deleted here, or expired."""
    try:
        for url in urls:
            Unleash(url, token["secret"]).get(FRONTEND if kind == "frontend" else FEATURES)
    except TokenRefused:
        return False
    return True


def _reach(token: Raw) -> int:
    projects = token.get("projects") or ["*"]
    return 1_000_000 if "*" in projects else len(projects)


def _compare_applications(
    comparison: Comparison, token: Raw, theirs: Unleash, ours: Unleash, number: int
) -> None:
    there, here = theirs.get(FEATURES), ours.get(FEATURES)
    names = {
        side: {f["name"]: f for f in state["features"]}
        for side, state in (("there", there), ("here", here))
    }
    where = token["environment"]
    comparison.random[where] = _random_ones({**names["here"], **names["there"]})
    known = sorted({*names["there"], *names["here"]} - comparison.random[where])
    engines = [Engine(json.dumps(state).encode()) for state in (there, here)]
    differ: dict[str, int] = {}
    keys = [name.encode() for name in known]
    for context in samples(there, number):
        sent = json.dumps(context).encode()
        answers = [engine.variants_if_on(keys, sent) for engine in engines]
        for name, one, other in zip(known, *answers, strict=True):
            if one != other:
                differ[name] = differ.get(name, 0) + 1
        comparison.answers += len(known)
    comparison.alike[where] = {*known} - differ.keys()
    comparison.places.append(f"{len(known):,} features in {where} for {number:,} contexts")
    for name, contexts in sorted(differ.items()):
        reason = _reason(names["there"].get(name), names["here"].get(name))
        comparison.unlike.append(Unlike(where, name, contexts, reason))


def _compare_browsers(comparison: Comparison, token: Raw, theirs: Unleash, ours: Unleash) -> None:
    differ: dict[str, int] = {}
    for context in samples({"features": []}, ASKED_IN_BROWSERS):
        flat = {key: value for key, value in context.items() if isinstance(value, str)}
        own = {f"properties[{key}]": value for key, value in context["properties"].items()}
        path = f"{FRONTEND}?{urlencode(flat | own)}"
        there, here = (_on(server.get(path)) for server in (theirs, ours))
        for name in {*there, *here}:
            comparison.answers += 1
            if there.get(name) != here.get(name):
                differ[name] = differ.get(name, 0) + 1
    where = token["environment"]
    comparison.places.append(f"what is on in {where} for {ASKED_IN_BROWSERS} people in browsers")
    for name, contexts in sorted(differ.items()):
        if name in comparison.random.get(where, ()):
            continue
        is_alike = name in comparison.alike.get(where, ())
        reason = "Its rules are the same." if is_alike else "The API for browsers differs."
        (comparison.by_engine if is_alike else comparison.unlike).append(
            Unlike(where, name, contexts, reason)
        )


def _random_ones(features: Mapping[str, Raw]) -> set[str]:
    """Features that are random, or depend on a random one."""
    found = {name for name, feature in features.items() if _is_random(feature)}
    return found | {
        name
        for name, feature in features.items()
        if any(parent["feature"] in found for parent in feature.get("dependencies") or ())
    }


def _is_random(feature: Raw) -> bool:
    """Whether equal questions can have different answers."""
    return any(
        strategy["name"] == "gradualRolloutRandom"
        or (strategy.get("parameters") or {}).get("stickiness") == "random"
        or any(variant.get("stickiness") == "random" for variant in strategy.get("variants") or ())
        for strategy in feature.get("strategies") or ()
    )


def _on(answer: Raw) -> dict[str, Any]:
    return {
        each["name"]: (each["variant"]["name"], each["variant"].get("payload"))
        for each in answer["toggles"]
        if each.get("enabled", True)
    }


def samples(state: Raw, number: int) -> Iterator[dict[str, Any]]:
    """Contexts from the values in the rules, and from others; equal in every run."""
    chance = Random("contexts")  # noqa: S311 - so that two runs can be compared
    values = _values(state)
    for place in range(number):
        properties = {
            name: chance.choice([*known, f"{known[0]}x"])
            for name, known in values.items()
            if known and chance.random() < 0.8  # noqa: PLR2004 - some leave it out
        }
        context: dict[str, Any] = {
            "userId": str(chance.randrange(USERS)),
            "sessionId": f"s{place}",
            "remoteAddress": f"10.{place % 250}.0.1",
            "currentTime": TIME,
        }
        for name in ("userId", "sessionId", "appName", "environment", "remoteAddress"):
            if name in properties:
                context[name] = properties.pop(name)
        properties.pop("currentTime", None)
        yield context | {"properties": properties}


def _values(state: Raw) -> Mapping[str, list[str]]:
    """The values that the rules compare each context field with."""
    found: dict[str, list[str]] = {}
    rules = [c for segment in state.get("segments") or () for c in segment["constraints"]]
    for feature in state["features"]:
        for strategy in feature.get("strategies") or ():
            rules += strategy.get("constraints") or ()
            sticky = (strategy.get("parameters") or {}).get("stickiness", "default")
            if sticky not in {"default", "random", "userId", "sessionId"}:
                found.setdefault(sticky, ["1", "2", "3", "a", "b", "c"])
    for rule in rules:
        known = found.setdefault(rule["contextName"], [])
        known += [str(each) for each in (rule.get("values") or [rule.get("value")])[:5]]
    return {name: sorted(set(known))[:50] for name, known in sorted(found.items())}


def _reason(there: Raw | None, here: Raw | None) -> str:
    if here is None:
        return "It is not here, or not for this token."
    if there is None:
        return "It is not there, or not for this token."
    for key in ("enabled", "dependencies", "variants"):
        if (there.get(key) or []) != (here.get(key) or []):
            return f"{key}: {_short(there.get(key))} there, {_short(here.get(key))} here."
    for place, (one, other) in enumerate(
        zip(there.get("strategies") or (), here.get("strategies") or (), strict=False)
    ):
        for key in ("name", "parameters", "constraints", "variants"):  # ids of segments differ
            if (one.get(key) or []) != (other.get(key) or []):
                return (
                    f"strategy {place + 1}, {key}: {_short(one.get(key))} there, "
                    f"{_short(other.get(key))} here."
                )
    numbers = [len(each.get("strategies") or ()) for each in (there, here)]
    if numbers[0] != numbers[1]:
        return f"It has {numbers[0]} strategies there, and {numbers[1]} here."
    return "Its segments or its parent have other rules."


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"  # noqa: PLR2004 - a line of a terminal
