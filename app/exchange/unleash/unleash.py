"""Translates data from Unleash, in any of its formats, to a document of Flagstaff.

Names, groups and stickiness are never changed: with them, everyone keeps the answers they had. What
can’t be kept exactly is not changed silently, but reported with the reason.
"""

import colorsys
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import chain, count
from typing import Any

from app.accounts.tokens.models import HINT_LENGTH
from app.catalogue.context.models import BUILT_IN
from app.catalogue.environments.models import MAX_ORDER, EnvironmentType
from app.catalogue.features.models import LINK_URL, MAX_LINK_URL, FeatureType
from app.catalogue.projects.models import ProjectMode
from app.catalogue.sdk_tokens.models import ALL
from app.catalogue.strategies import types
from app.catalogue.tags.models import SIMPLE
from app.core.secrets import digest
from app.core.words import is_key, spoken
from app.exchange.documents.documents import Document, Fault, Item, Kind, empty, name_of

Raw = dict[str, Any]

HUE_ANGLES = {1: 190, 2: 265, 3: 25, 4: 120, 5: 330, 6: 215, 7: 48}
"""Hues of our tag type colours, in degrees on the colour wheel. 8 is grey."""
GREY = 8
LEAST_SATURATION = 0.15
LISTS = {"IN", "NOT_IN", "STR_CONTAINS", "STR_STARTS_WITH", "STR_ENDS_WITH", "IN_CIDR"}
OLD = ("userWithId", "gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom")
TYPES_OF_TOKENS = {"client": "client", "backend": "client", "frontend": "frontend"}
DISPLAY_LIMIT = 5


@dataclass(slots=True)
class Snapshot:
    """What was read from an Unleash, in the words of its export.

    ``states`` and ``strategies`` have an ``environment``; strategies are in their order.
    ``links``: None if it knows none. ``release_plans``: how many it counts.
    """

    source: str
    environments: list[Raw] = field(default_factory=list)
    projects: list[Raw] = field(default_factory=list)
    features: list[Raw] = field(default_factory=list)
    strategies: list[Raw] = field(default_factory=list)
    states: list[Raw] = field(default_factory=list)
    dependencies: list[Raw] = field(default_factory=list)
    feature_tags: list[Raw] = field(default_factory=list)
    tags: list[Raw] = field(default_factory=list)
    tag_types: list[Raw] = field(default_factory=list)
    segments: list[Raw] = field(default_factory=list)
    context_fields: list[Raw] = field(default_factory=list)
    strategy_types: list[Raw] = field(default_factory=list)
    users: list[Raw] = field(default_factory=list)
    root_roles: dict[int, str] = field(default_factory=dict)
    tokens: list[Raw] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    release_templates: list[Raw] = field(default_factory=list)
    release_plans: int = 0
    links: list[Raw] | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Translation:
    """``raws``: items of a document, not checked yet. ``fields``: see ``Wanted``.

    ``notes``: sentences about what was changed or left out. ``lost``: see ``Wanted``.
    """

    source: str
    raws: Document = field(default_factory=empty)
    faults: defaultdict[tuple[Kind, str], list[Fault]] = field(
        default_factory=lambda: defaultdict(list)
    )
    fields: dict[Kind | tuple[Kind, str], frozenset[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    lost: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: Kind, item: Item) -> None:
        self.raws[kind][name_of(kind, item)] = item


FIELDS: Mapping[Kind | tuple[Kind, str], frozenset[str]] = {
    Kind.ENVIRONMENTS: frozenset({"type", "deprecated"}),
    Kind.TAG_TYPES: frozenset({"description"}),
    Kind.PROJECTS: frozenset(
        {"name", "description", "mode", "defaultStickiness", "environments", "archived"}
    ),
    Kind.SDK_TOKENS: frozenset(),
    Kind.FEATURES: frozenset(
        {
            *("name", "project", "type", "description", "stale", "impressionData", "archived"),
            *("tags", "links", "parent", "environments"),
        }
    ),
}
"""Fields that Unleash knows, for kinds of which Flagstaff knows more."""
SCAFFOLD: frozenset[str] = frozenset()
"""Kinds that an export only references: create if missing, never update."""


def translate(snapshot: Snapshot) -> Translation:
    """Translate a snapshot. Empties its lists on the way, since they can be large."""
    translation = Translation(snapshot.source, fields=dict(FIELDS), notes=snapshot.notes)
    if snapshot.links is None:
        translation.fields[Kind.FEATURES] -= {"links"}
    _Translator(snapshot, translation).translate()
    return translation


class _Translator:
    def __init__(self, snapshot: Snapshot, result: Translation) -> None:
        self.snapshot, self.result = snapshot, result
        self.segments = {each["id"]: each["name"] for each in snapshot.segments}
        self.open = {each["id"] for each in snapshot.segments if each.get("constraints") == []}
        """Segments that everyone is in. Here, no strategy can use one."""
        self.users: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.old: Counter[str] = Counter()
        self.dropped: set[str] = set()
        self.links = {each["feature"]: each["links"] for each in snapshot.links or ()}
        self.lost_links = 0
        self.plans = 0
        self.exposed: defaultdict[str, list[str]] = defaultdict(list)
        """Steps that wait for exposures, by the names of their templates."""

    def translate(self) -> None:
        for kind, raws, item_of in (
            (Kind.ENVIRONMENTS, self.snapshot.environments, self._environment),
            (Kind.STRATEGY_TYPES, self.snapshot.strategy_types, _strategy_type),
            (Kind.TAG_TYPES, self.snapshot.tag_types, _tag_type),
            (
                Kind.TAGS,
                self.snapshot.tags,
                lambda raw: {key: raw[key] for key in ("type", "value")},
            ),
            (Kind.USERS, self.snapshot.users, self._user),
        ):
            for raw in raws:
                self.result.add(kind, item_of(raw))
        for name in types.TYPES:
            self.result.raws[Kind.STRATEGY_TYPES].pop(name, None)
        self.result.fields[Kind.TAG_TYPES, SIMPLE] = SCAFFOLD
        for each in self.snapshot.context_fields:
            self._context_field(each)
        for each in self.snapshot.projects:
            self._project(each)
        for each in self.snapshot.segments:
            self._segment(each)
        for each in self.snapshot.release_templates:
            self._release_template(each)
        self._features()
        self._tokens()
        if self.snapshot.origins:
            self.result.add(Kind.BROWSER_ORIGINS, {"origins": self.snapshot.origins})
        self._note_old()

    def _environment(self, raw: Raw) -> Item:
        type = raw.get("type") or "development"
        if type not in set(EnvironmentType):
            is_production = re.search("prod", raw["name"], re.IGNORECASE)
            type = "production" if is_production else "development"
        if raw.get("protected"):
            self.result.notes.append(
                f"{raw['name']} is protected in Unleash. To ask for approvals there, set them for "
                "each project."
            )
        return {
            "name": raw["name"],
            "type": type,
            "sortOrder": min(max(int(raw.get("sortOrder") or 0), 0), MAX_ORDER),
            "deprecated": raw.get("enabled") is False,
        }

    def _context_field(self, raw: Raw) -> None:
        name = raw["name"]
        self.result.add(
            Kind.CONTEXT_FIELDS,
            {
                "name": name,
                "description": raw.get("description") or None,
                "stickiness": bool(raw.get("stickiness")),
                "sortOrder": min(int(raw.get("sortOrder") or 0), MAX_ORDER),
                "legalValues": [
                    {"value": each["value"], "description": each.get("description") or None}
                    for each in raw.get("legalValues") or ()
                ],
            },
        )
        if raw.get("isOnlyNamed"):
            self.result.fields[Kind.CONTEXT_FIELDS, name] = SCAFFOLD
        if name in BUILT_IN:
            self.result.fields[Kind.CONTEXT_FIELDS, name] = frozenset({"legalValues"})

    def _user(self, raw: Raw) -> Item:
        role = self.snapshot.root_roles.get(raw.get("rootRole") or 0, "Viewer")
        name = raw.get("username") or raw.get("email") or raw.get("name")
        if role not in {"Admin", "Editor", "Viewer"}:
            self.result.notes.append(
                f"{name} has the root role {role} in Unleash, and becomes a Viewer here."
            )
            role = "Viewer"
        return {
            "username": raw.get("username") or None,
            "email": raw.get("email") or None,
            "name": raw.get("name") or None,
            "rootRole": role,
        }

    def _project(self, raw: Raw) -> None:
        if pattern := (raw.get("featureNaming") or {}).get("pattern"):
            self.result.notes.append(
                f"Project {raw['id']} asks for names like {pattern}. Flagstaff has no such rule."
            )
        used = [each["environment"] for each in raw["environments"]]
        mode, description = raw.get("mode") or "open", raw.get("description") or None
        self.result.add(
            Kind.PROJECTS,
            {
                "id": raw["id"],
                "name": raw.get("name") or raw["id"],
                # Unleash gives this description to its first project.
                "description": None if description == "Default project" else description,
                "mode": mode if mode in set(ProjectMode) else "protected",
                "defaultStickiness": raw.get("defaultStickiness") or "default",
                "environments": used,
                "archived": bool(raw.get("archivedAt")),
            },
        )
        if raw.get("isOnlyNamed"):
            self.result.fields[Kind.PROJECTS, raw["id"]] = SCAFFOLD
        for each in raw["environments"]:
            if default := each.get("defaultStrategy"):
                place = {"project": raw["id"], "environment": each["environment"]}
                owner = f"the default strategy of {raw['id']}"
                item = place | self._strategy(default, set(), owner)
                del item["disabled"]
                self.result.add(Kind.DEFAULT_STRATEGIES, item)

    def _segment(self, raw: Raw) -> None:
        if "constraints" not in raw:
            return  # an export of features: it only has the name
        name = raw["name"]
        faults = self.result.faults[Kind.SEGMENTS, name]
        item = {
            "name": name,
            "description": raw.get("description") or None,
            "project": raw.get("project") or raw.get("segmentProjectId"),
            "constraints": [_constraint(each) for each in raw["constraints"]],
        }
        faults += _inexact(item["constraints"], "constraints")
        self.result.add(Kind.SEGMENTS, item)

    def _release_template(self, raw: Raw) -> None:
        if raw.get("archivedAt"):
            return
        project = raw.get("project") or None
        name = self._free_name(raw["name"].strip(), project)
        steps = [
            {
                "name": step.get("name"),
                "strategies": [*self._step_strategies(name, place, step)],
                "transitionCondition": self._transition(name, step),
            }
            for place, step in enumerate(_in_order(raw.get("milestones")))
        ]
        self.result.add(
            Kind.RELEASE_TEMPLATES,
            {
                "name": name,
                "description": raw.get("description") or None,
                "project": project,
                "milestones": steps,
            },
        )

    def _free_name(self, name: str, project: str | None) -> str:
        """The name of a template; here no other has it, whatever its project."""
        known = self.result.raws[Kind.RELEASE_TEMPLATES]
        if name not in known:
            return name
        marks = ([project] if project else []), map(str, count(2))
        names = (f"{name} ({mark})" for mark in chain(*marks))
        free = next(each for each in names if each not in known)
        self.result.notes.append(
            f"Unleash has several release templates named {name}. One of them is {free} here."
        )
        return free

    def _step_strategies(self, template: str, place: int, step: Raw) -> Iterator[Item]:
        faults = self.result.faults[Kind.RELEASE_TEMPLATES, template]
        for number, raw in enumerate(_in_order(step.get("strategies"))):
            strategy = self._strategy(raw, self.dropped, f"the release template {template}")
            path = f"milestones/{place}/strategies/{number}"
            faults += _inexact(strategy["constraints"], f"{path}/constraints")
            faults += _inexact_parameters(strategy["parameters"], f"{path}/parameters")
            yield strategy

    def _transition(self, template: str, step: Raw) -> Item | None:
        """When the next step starts; None: when someone starts it."""
        condition = step.get("transitionCondition") or {}
        if condition and (condition.get("type") or "time") == "time":
            return {"intervalMinutes": condition.get("intervalMinutes"), "manual": False}
        if condition:
            self.exposed[template].append(step.get("name") or "")
        return None

    def _features(self) -> None:
        states: defaultdict[str, dict[str, Item]] = defaultdict(dict)
        for raw in _used_up(self.snapshot.states):
            self.plans += len(raw.get("releasePlans") or ())
            if raw.get("enabled") or raw.get("variants"):
                states[raw["featureName"]][raw["environment"]] = {
                    "enabled": bool(raw.get("enabled")),
                    "strategies": [],
                    "variants": [_variant(each) for each in raw.get("variants") or ()],
                }
        for raw in _used_up(self.snapshot.strategies):
            name, environment = raw["featureName"], raw["environment"]
            state = states[name].setdefault(
                environment, {"enabled": False, "strategies": [], "variants": []}
            )
            place = f"environments/{environment}/strategies/{len(state['strategies'])}"
            strategy = self._strategy(raw, self.dropped, name)
            faults = self.result.faults[Kind.FEATURES, name]
            faults += _inexact(strategy["constraints"], f"{place}/constraints")
            faults += _inexact_parameters(strategy["parameters"], f"{place}/parameters")
            state["strategies"].append(strategy)
            self.old[raw["name"]] += raw["name"] in OLD
        tags: defaultdict[str, set[str]] = defaultdict(set)
        for raw in self.snapshot.feature_tags:
            type = raw.get("tagType") or raw.get("type") or SIMPLE
            tags[raw["featureName"]].add(f"{type}:{raw.get('tagValue') or raw.get('value')}")
        parents = {raw["feature"]: raw["dependencies"] for raw in self.snapshot.dependencies}
        for raw in _used_up(self.snapshot.features):
            self._feature(raw, states[raw["name"]], tags[raw["name"]], parents.get(raw["name"]))

    def _feature(
        self, raw: Raw, states: dict[str, Item], tags: set[str], parents: list[Raw] | None
    ) -> None:
        name, type = raw["name"], raw.get("type") or "release"
        if type not in set(FeatureType):
            self.result.notes.append(f"{name} has the type {type}, and becomes a release feature.")
            type = "release"
        faults = self.result.faults[Kind.FEATURES, name]
        if not is_key(name):
            faults.append(Fault("name", "Names have at most 100 of A-Z a-z 0-9 _ ~ . -"))
        parent = parents[0] if parents else None
        if parents and len(parents) > 1:
            names = spoken(each["feature"] for each in parents)
            message = f"It depends on {names}. A feature depends on one other at most here."
            faults.append(Fault("parent", message))
        for environment, state in states.items():
            total = sum(variant["weight"] for variant in state["variants"])
            if state["variants"] and total != types.ALL * 10:
                path = f"environments/{environment}/variants"
                faults.append(Fault(path, f"The weights add up to {total:,} instead of 1,000."))
        self.result.add(
            Kind.FEATURES,
            {
                "name": name,
                "project": raw.get("project") or "default",
                "type": type,
                "description": raw.get("description") or None,
                "stale": bool(raw.get("stale")),
                "impressionData": bool(raw.get("impressionData")),
                "archived": bool(raw.get("archived") or raw.get("archivedAt")),
                "tags": sorted(tags),
                "links": [*self._links(name)],
                "parent": parent
                and {
                    "feature": parent["feature"],
                    "enabled": parent.get("enabled", True),
                    "variants": parent.get("variants") or [],
                },
                "environments": states,
            },
        )

    def _links(self, name: str) -> Iterator[Item]:
        for raw in self.links.get(name, ()):
            url, title = raw["url"], raw.get("title") or ""
            if re.match(LINK_URL, url) and len(url) <= MAX_LINK_URL:
                yield {"url": url, "title": title[:255] or None}
            else:
                self.lost_links += 1

    def _strategy(self, raw: Raw, dropped: set[str], owner: str) -> Item:
        segments = {*(raw.get("segments") or ())}
        for id in segments & self.open:
            self.users[self.segments[id]][owner] = None
        name = raw.get("name") or raw.get("strategyName") or ""
        known = types.TYPES.get(name)
        parameters = {
            key: str(value)
            for key, value in (raw.get("parameters") or {}).items()
            if value is not None and value != ""
        }
        if known is not None:
            dropped.update(f"{name}.{key}" for key in parameters if key not in known)
            parameters = {key: value for key, value in parameters.items() if key in known}
        return {
            "name": name,
            "title": raw.get("title") or None,
            "disabled": bool(raw.get("disabled")),
            "parameters": parameters,
            "constraints": [_constraint(each) for each in raw.get("constraints") or ()],
            "segments": sorted(self._segment_name(id) for id in segments - self.open),
            "variants": [_variant(each) for each in raw.get("variants") or ()],
        }

    def _segment_name(self, id: int) -> str:
        name: str = self.segments.get(id, f"segment {id}")
        return name

    def _tokens(self) -> None:
        for raw in self.snapshot.tokens:
            name = raw.get("tokenName") or raw.get("username") or "token"
            projects = raw.get("projects") or [raw.get("project") or ALL]
            secret, type = raw.get("secret") or "", TYPES_OF_TOKENS.get(raw.get("type") or "")
            if obstacle := _obstacle_of_token(raw, type):
                unique = f"{name} ({secret[-HINT_LENGTH:]})"
                self.result.faults[Kind.SDK_TOKENS, unique].append(Fault("", obstacle))
                self.result.lost[f"{Kind.SDK_TOKENS}:{unique}"] = projects
                continue
            item = {
                "name": name,
                "type": type,
                "environment": raw["environment"],
                "projects": projects,
                "expiresAt": raw.get("expiresAt"),
            }
            self._token(item, secret)
            if alias := raw.get("alias"):
                self._token(item | {"name": f"{name} (alias)"}, alias)

    def _token(self, item: Item, secret: str) -> None:
        """Add a token with the digest of its secret: the secret itself is never stored."""
        known = self.result.raws[Kind.SDK_TOKENS]
        found = item | {"digest": digest(secret).hex(), "hint": secret[-HINT_LENGTH:]}
        if found["name"] in known:
            found["name"] = f"{found['name'][:240]} ({found['hint']})"
        known[found["name"]] = found

    def _note_old(self) -> None:
        notes = self.result.notes
        if found := {name: number for name, number in self.old.items() if number}:
            what = spoken([f"{name} in {n:,}" for name, n in sorted(found.items())], DISPLAY_LIMIT)
            notes.append(
                f"Old types of strategy: {what} strategies. They work as before; use "
                "flexibleRollout for new ones."
            )
        for segment, users in self.users.items():
            notes.append(
                f"Segment {segment} has no constraints, so everyone is in it. Strategies come "
                f"without it, and reach the same people: {spoken(users, len(users))}."
            )
        if self.dropped:
            what = spoken(sorted(self.dropped), DISPLAY_LIMIT)
            notes.append(f"Parameters that SDKs don’t read were left out: {what}.")
        for template, steps in self.exposed.items():
            notes.append(
                f"Steps of the release template {template} that wait for exposures in Unleash: "
                f"{spoken(steps, len(steps))}. Here, someone starts the next step."
            )
        if plans := max(self.plans, self.snapshot.release_plans):
            notes.append(
                f"Release plans of features: {plans:,} left out. The features come with the "
                "strategies that they have now."
            )
        if self.lost_links:
            notes.append(f"Links that are no web addresses were left out: {self.lost_links:,}.")


def _in_order(found: list[Raw] | None) -> list[Raw]:
    return sorted(found or (), key=lambda each: each.get("sortOrder") or 0)


def _used_up(found: list[Raw]) -> Iterator[Raw]:
    """Yield the members in order, and remove each from the list to free its memory."""
    found.reverse()
    while found:
        yield found.pop()


def _strategy_type(raw: Raw) -> Item:
    return {
        "name": raw["name"],
        "description": raw.get("description") or None,
        "parameters": [
            {
                "name": each["name"],
                "type": each.get("type") or "string",
                "description": each.get("description") or "",
                "required": bool(each.get("required")),
            }
            for each in raw.get("parameters") or ()
        ],
        "deprecated": bool(raw.get("deprecated")),
    }


def _tag_type(raw: Raw) -> Item:
    return {
        "name": raw["name"],
        "description": raw.get("description") or None,
        "hue": _hue(raw.get("color")),
    }


def _hue(color: str | None) -> int:
    """The tag type colour nearest to a colour like ``#ff8800``."""
    if not color or not re.fullmatch("#[0-9A-Fa-f]{6}", color):
        return GREY
    red, green, blue = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
    if saturation < LEAST_SATURATION:
        return GREY
    angle = hue * 360
    return min(HUE_ANGLES, key=lambda each: min(d := abs(HUE_ANGLES[each] - angle), 360 - d))


def _constraint(raw: Raw) -> Item:
    """Keep what the operator uses: Unleash also keeps values of an earlier operator."""
    operator = raw.get("operator") or ""
    compared: Item = {"values": raw.get("values") or []}
    if operator not in LISTS:
        value = raw.get("value")
        is_number = operator.startswith("NUM_")
        compared = {"value": _plain_number(value) if is_number else value or ""}
    return {
        "contextName": raw.get("contextName") or "",
        "operator": operator,
        **compared,
        "inverted": bool(raw.get("inverted")) and operator != "REGEX",
        "caseInsensitive": bool(raw.get("caseInsensitive"))
        and (operator.startswith("STR_") or operator == "REGEX"),
    }


def _plain_number(value: Any) -> str:
    """``1000`` for ``1e3``: Flagstaff writes numbers without exponents."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return str(value)
    return f"{number:f}" if number.is_finite() and "e" in str(value).lower() else str(value)


def _inexact(constraints: Iterable[Item], path: str) -> Iterator[Fault]:
    for place, constraint in enumerate(constraints):
        values = constraint.get("values", [constraint.get("value")])
        if any(isinstance(value, str) and value != value.strip() for value in values or ()):
            message = "A value begins or ends with a space, which Flagstaff would take away."
            yield Fault(f"{path}/{place}", message)


def _inexact_parameters(parameters: Mapping[str, str], path: str) -> Iterator[Fault]:
    for name, value in parameters.items():
        if value != value.strip():
            message = "It begins or ends with a space, which Flagstaff would take away."
            yield Fault(f"{path}/{name}", message)


def _variant(raw: Raw) -> Item:
    found: Item = {
        "name": raw.get("name"),
        "weight": raw.get("weight", 0),
        "weightType": raw.get("weightType") or "variable",
        "stickiness": raw.get("stickiness") or "default",
    }
    if payload := raw.get("payload"):
        found["payload"] = {"type": payload.get("type"), "value": str(payload.get("value"))}
    if overrides := [each for each in raw.get("overrides") or () if each.get("values")]:
        found["overrides"] = overrides
    return found


def _obstacle_of_token(raw: Raw, type: str | None) -> str | None:
    if type is None:
        return "Tokens for the admin API can’t come. Create a service account for scripts."
    if raw.get("secure"):
        return "Unleash keeps its secret to itself. Create a new token."
    if raw.get("environment") in {None, "", ALL}:
        return "It is for all environments. A token reads one environment here."
    return None
