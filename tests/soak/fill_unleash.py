"""Fills a real Unleash as an organisation would have: projects, features in three environments,
segments, variants, dependencies, archived features, tags, people and tokens.

The same seed gives the same features every time, on one version. Their answers differ by context:
see ``ask_both.mjs``, which asks for them with the same fields.
"""

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.soak.unleash_peer import Peer, Refused

Json = dict[str, Any]

AT_ONCE = 8
"""Requests at the same time."""

AT_MOST = 50
"""Features in one request: Unleash takes 500 kB."""

ENVIRONMENTS = ("development", "staging", "production")
ON = {"development": 0.85, "staging": 0.6, "production": 0.55}
PROJECTS = {
    "default": "Default",
    "checkout": "Checkout",
    "search": "Search & recommendations",
    "mobile-app": "Mobile app",
}
AREAS = ("basket", "login", "list", "banner", "payment", "profile", "cache", "mail")
TYPES = ("release", "release", "release", "experiment", "operational", "kill-switch", "permission")
COUNTRIES = ("NO", "SE", "DK", "FI", "DE", "FR", "IT", "ES", "PL", "NL")
PLANS = ("free", "plus", "gold")
TEAMS = ("team-red", "team-blue", "team-green", "platform")
QUARTERS = tuple(f"quarter {number}" for number in range(1, 5))
TAGS = (*(("team", each) for each in TEAMS), *(("simple", each) for each in QUARTERS))
USERS = 700
"""User ids are 0 to 699."""

ARCHIVED_SHARE, DEPENDENT_SHARE = 0.05, 0.08
NEWER_OPERATORS, NUMBER_PAYLOADS, TAG_COLOURS = 8, 6, 6
"""The first versions that have them."""

FIELDS: tuple[Json, ...] = (
    {
        "name": "country",
        "description": "Where they are",
        "stickiness": True,
        "sortOrder": 10,
        "legalValues": [{"value": each, "description": f"code {each}"} for each in COUNTRIES],
    },
    {
        "name": "plan",
        "description": "What they pay for",
        "sortOrder": 11,
        "legalValues": [{"value": each} for each in PLANS],
    },
    {"name": "age", "description": "", "sortOrder": 12},
    {"name": "appVersion", "description": "Of the app", "sortOrder": 13},
    {"name": "joined", "description": "Since when", "sortOrder": 14},
    {"name": "tenant", "description": "Their company", "stickiness": True, "sortOrder": 15},
)
BY_REGION: Json = {
    "name": "byRegion",
    "title": "By region",
    "description": "On for the customers of some regions",
    "parameters": [
        {"name": "regions", "type": "list", "description": "countries", "required": True},
        {"name": "share", "type": "percentage", "description": "", "required": False},
        {"name": "note", "type": "string", "description": "", "required": False},
        {"name": "least", "type": "number", "description": "", "required": False},
        {"name": "strict", "type": "boolean", "description": "", "required": False},
    ],
}
LEGACY: dict[str, tuple[tuple[str, str], ...]] = {
    "userWithId": (("userIds", "list"),),
    "gradualRolloutUserId": (("percentage", "percentage"), ("groupId", "string")),
    "gradualRolloutSessionId": (("percentage", "percentage"), ("groupId", "string")),
    "gradualRolloutRandom": (("percentage", "percentage"),),
}
"""Types that only instances which are older than their version still have."""

ROOT_ADMIN, ROOT_EDITOR, ROOT_VIEWER = 1, 2, 3
PEOPLE = 12


@dataclass(frozen=True, slots=True)
class Filled:
    """``tokens``: secrets by name; ``features`` and ``archived``: names."""

    tokens: dict[str, str]
    features: list[str]
    archived: list[str]


@dataclass(slots=True)
class Feature:
    """``strategies`` and ``variants``: by environment; these variants are the old kind."""

    facts: Json
    strategies: dict[str, list[Json]]
    on: set[str]
    tags: list[tuple[str, str]]
    variants: dict[str, list[Json]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    @property
    def project(self) -> str:
        return str(self.facts["project"])


def fill(peer: Peer, features: int = 1_000, seed: int = 1) -> Filled:
    """Fill an empty Unleash of version 5 or newer, in which projects can be several."""
    random = Random(seed)
    _places(peer)
    segments = _vocabulary(peer)
    make = Maker(peer.major, random, segments)
    made = [make.feature(number) for number in range(features)]
    for environment in ENVIRONMENTS:
        wanted = [_part(each, environment, segments) for each in _portions(made)]
        _each(peer, "POST", (("/features-batch/import", part) for part in wanted))
    free = _dependencies(peer, made, random)
    archived = random.sample(free, min(len(free), int(features * ARCHIVED_SHARE)))
    _archive(peer, archived)
    _people(peer)
    _cors(peer)
    gone = {each.name for each in archived}
    tokens = _tokens(peer)
    return Filled(tokens, [each.name for each in made if each.name not in gone], sorted(gone))


def _places(peer: Peer) -> None:
    """Environments and projects: only the paid editions make them through the API."""
    peer.sql(
        "INSERT INTO environments (name, sort_order, type, enabled, protected)"
        " VALUES ('staging', 2, 'preproduction', true, false)"
    )
    for id, name in PROJECTS.items():
        if id != "default":
            peer.sql(
                "INSERT INTO projects (id, name, description) VALUES (%s, %s, %s)",
                *(id, name, f"Everything of {name}"),
            )
            peer.sql(
                "INSERT INTO project_settings (project, default_stickiness, project_mode)"
                " VALUES (%s, 'userId', 'open')",
                id,
            )
        has = [] if id != "default" else ["development", "production"]
        for environment in ENVIRONMENTS:
            if environment not in has:
                peer.call("POST", f"/projects/{id}/environments", {"environment": environment})
    peer.call(
        "POST",
        "/projects/checkout/environments/production/default-strategy",
        _flexible("checkout", 25, "userId"),
    )


def _vocabulary(peer: Peer) -> dict[str, int]:
    """Context fields, tag types and strategy types; the ids of the segments by name."""
    for each in FIELDS:
        peer.call("POST", "/context", each)
    colour = {"color": "#b0413e"} if peer.major >= TAG_COLOURS else {}
    peer.call("POST", "/tag-types", {"name": "team", "description": "Whose", "icon": "T", **colour})
    for type, value in TAGS:  # made beforehand: version 5 can't make one in two imports at once
        peer.call("POST", "/tags", {"type": type, "value": value})
    peer.call("POST", "/strategies", BY_REGION)
    for name, parameters in LEGACY.items():
        described = [{"name": each, "type": type} for each, type in parameters]
        peer.sql(
            "INSERT INTO strategies (name, description, parameters, built_in, deprecated)"
            " VALUES (%s, '', %s::json, 0, true) ON CONFLICT DO NOTHING",
            *(name, json.dumps(described)),
        )
    segments = {
        "Beta testers": [_in("userId", *(str(each) for each in range(0, USERS, 9)))],
        "Nordic": [_in("country", "NO", "SE", "DK", "FI")],
        "Not Nordic": [{**_in("country", "NO", "SE", "DK", "FI"), "inverted": True}],
        "Paying": [_in("plan", "plus", "gold")],
        "Grown up": [_one("age", "NUM_GTE", "18")],
        "Old apps": [_one("appVersion", "SEMVER_LT", "3.0.0")],
        "Long with us": [_one("joined", "DATE_BEFORE", "2022-01-01T00:00:00.000Z")],
        "Gold in the south": [_in("plan", "gold"), _in("country", "IT", "ES", "FR")],
        "Odd tenants": [_many("tenant", "STR_ENDS_WITH", "1", "3", "5")],
        "No one uses this": [_in("userId", "1")],
    }
    return {
        name: peer.call(
            "POST",
            "/segments",
            {"name": name, "description": f"{name}.", "constraints": constraints},
        )["id"]
        for name, constraints in segments.items()
    }


class Maker:
    """Makes features, the same from the same seed."""

    def __init__(self, major: int, random: Random, segments: dict[str, int]) -> None:
        self.major, self.random = major, random
        self.segments = [id for name, id in segments.items() if name != "No one uses this"]

    def feature(self, number: int) -> Feature:
        random = self.random
        project = random.choice(list(PROJECTS))
        name = f"{project}.{random.choice(AREAS)}-{number:04}"
        facts = {
            "name": name,
            "description": random.choice((None, "", f"What {name} does", "Two\nlines")),
            "type": random.choice(TYPES),
            "project": project,
            "stale": random.random() < 0.1,
            "impressionData": random.random() < 0.2,
        }
        made = Feature(facts, {}, set(), self._tags())
        for environment in ENVIRONMENTS:
            if random.random() < ON[environment]:
                made.on.add(environment)
            least = 1 if environment in made.on else 0
            count = random.choices((least, 1, 2, 3), (6, 9, 4, 2))[0]
            made.strategies[environment] = [
                self._strategy(name, position) for position in range(count)
            ]
        if random.random() < 0.04:
            made.variants = dict.fromkeys(("development", "production"), self._old_variants())
        return made

    def _tags(self) -> list[tuple[str, str]]:
        random = self.random
        tags = [("team", random.choice(TEAMS))] if random.random() < 0.6 else []
        if random.random() < 0.1:
            tags.append(("simple", random.choice(QUARTERS)))
        return tags

    def _strategy(self, feature: str, position: int) -> Json:
        random = self.random
        strategy = self._of_type(feature)
        strategy |= {"sortOrder": position, "disabled": position > 0 and random.random() < 0.1}
        strategy["constraints"] = [
            self._constraint() for _ in range(random.choices((0, 1, 2, 3), (9, 6, 3, 1))[0])
        ]
        if random.random() < 0.25:
            strategy["segments"] = random.sample(self.segments, random.choice((1, 1, 2)))
        if random.random() < 0.2:
            strategy["title"] = random.choice(("Some first", "Everyone else", "As agreed"))
        if strategy["name"] == "flexibleRollout" and random.random() < 0.25:
            strategy["variants"] = self._variants(strategy["parameters"]["stickiness"])
        return strategy

    def _of_type(self, feature: str) -> Json:
        random = self.random
        share = str(random.choice((0, 5, 10, 25, 33, 50, 75, 90, 100)))
        group = feature if random.random() < 0.8 else f"group-{random.randint(1, 5)}"
        users = ", ".join(str(each) for each in random.sample(range(USERS), 30))
        addresses = "10.0.0.0/9, 192.168.7.7,172.16.1.1"
        sticky = ("default", "default", "default", "userId", "sessionId", "country", "tenant")
        stickiness = "random" if random.random() < 0.02 else random.choice(sticky)
        kinds: list[tuple[int, str, Json]] = [
            (68, "flexibleRollout", _rollout(group, share, stickiness)),
            (10, "default", {}),
            (5, "userWithId", {"userIds": users}),
            (4, "gradualRolloutUserId", {"percentage": share, "groupId": group}),
            (3, "gradualRolloutSessionId", {"percentage": share, "groupId": group}),
            (1, "gradualRolloutRandom", {"percentage": share}),
            (4, "remoteAddress", {"IPs": addresses}),
            (1, "applicationHostname", {"hostNames": "web-1, web-2"}),
            (4, "byRegion", self._region(share)),
        ]
        _, name, parameters = random.choices(kinds, [each[0] for each in kinds])[0]
        return {"name": name, "parameters": parameters}

    def _region(self, share: str) -> Json:
        regions = ",".join(self.random.sample(COUNTRIES, 3))
        return {"regions": regions, "share": share, "note": "x", "least": "3", "strict": "true"}

    def _constraint(self) -> Json:
        random = self.random
        users = (str(each) for each in random.sample(range(USERS), 60))
        digits = random.sample("0123456789", 3)
        version = f"{random.randint(1, 5)}.{random.randint(0, 9)}.0"
        year = random.randint(2020, 2029)
        comparison = random.choice(("NUM_GT", "NUM_GTE", "NUM_LT", "NUM_LTE", "NUM_EQ"))
        text = random.choice(("STR_ENDS_WITH", "STR_STARTS_WITH", "STR_CONTAINS"))
        choices = [
            _in("country", *random.sample(COUNTRIES, 4)),
            _in("plan", *random.sample(PLANS, random.choice((1, 2)))),
            {**_in("country", *random.sample(COUNTRIES, 2)), "operator": "NOT_IN"},
            _in("userId", *users),
            _many("userId", text, *digits),
            {**_many("tenant", "STR_CONTAINS", "COMPANY-1"), "caseInsensitive": True},
            _one("age", comparison, str(random.randint(15, 60))),
            _one("appVersion", random.choice(("SEMVER_GT", "SEMVER_LT")), version),
            _one("joined", "DATE_AFTER", f"{min(year, 2025)}-03-01T00:00:00.000Z"),
            _one("currentTime", "DATE_BEFORE", f"{year}-06-01T12:00:00.000Z"),
        ]
        if self.major >= NEWER_OPERATORS:
            choices.append(_one("appVersion", "SEMVER_GTE", version))
            choices.append(_one("tenant", "REGEX", "^company-[1-4]$"))
        chosen = random.choice(choices)
        if random.random() < 0.1 and chosen["operator"] != "REGEX":  # that can't be
            chosen["inverted"] = True
        return chosen

    def _variants(self, stickiness: str) -> list[Json]:
        random = self.random
        names = random.sample(("blue", "red", "green", "control"), random.choice((1, 2, 3, 4)))
        variants: list[Json] = [
            {"name": name, "weightType": "variable", "weight": 0, "stickiness": stickiness}
            for name in names
        ]
        fixed = 0
        if len(variants) > 1 and random.random() < 0.4:
            fixed = random.choice((100, 250, 555))
            variants[0] |= {"weightType": "fix", "weight": fixed}
        _share(variants, 1000 - fixed)
        payloads: list[Json] = [
            {"type": "string", "value": "a text"},
            {"type": "json", "value": '{"steps": [1, 2], "name": "Ø"}'},
            {"type": "csv", "value": "1,2,3"},
        ]
        if self.major >= NUMBER_PAYLOADS:
            payloads.append({"type": "number", "value": "3.5"})
        for variant in variants:
            if random.random() < 0.6:
                variant["payload"] = random.choice(payloads)
        return variants

    def _old_variants(self) -> list[Json]:
        variants = self._variants("default")
        users = [str(each) for each in self.random.sample(range(USERS), 5)]
        variants[-1]["overrides"] = [{"contextName": "userId", "values": users}]
        return variants


def _share(variants: list[Json], rest: int) -> None:
    """Share the rest of the weight among the variants without a fixed one."""
    variable = [each for each in variants if each["weightType"] == "variable"]
    for position, each in enumerate(variable):
        each["weight"] = rest // len(variable) + (position < rest % len(variable))


def _in(name: str, *values: str) -> Json:
    return _many(name, "IN", *values)


def _many(name: str, operator: str, *values: str) -> Json:
    return _constraint(name, operator) | {"values": list(values)}


def _one(name: str, operator: str, value: str) -> Json:
    return _constraint(name, operator) | {"values": [], "value": value}


def _constraint(name: str, operator: str) -> Json:
    return {
        "contextName": name,
        "operator": operator,
        "inverted": False,
        "caseInsensitive": False,
    }


def _rollout(group: str, share: str, stickiness: str) -> Json:
    return {"rollout": share, "stickiness": stickiness, "groupId": group}


def _flexible(group: str, share: int, stickiness: str) -> Json:
    parameters = _rollout(group, str(share), stickiness)
    return {"name": "flexibleRollout", "parameters": parameters, "constraints": []}


def _portions(features: list[Feature]) -> Iterator[list[Feature]]:
    for project in PROJECTS:
        own = [each for each in features if each.project == project]
        for start in range(0, len(own), AT_MOST):
            yield own[start : start + AT_MOST]


def _part(features: list[Feature], environment: str, segments: dict[str, int]) -> Json:
    """What imports these features of one project into one environment."""
    tags = sorted((*tag, each.name) for each in features for tag in each.tags)  # one order of locks
    return {
        "project": features[0].project,
        "environment": environment,
        "data": {
            "features": [each.facts for each in features],
            "featureStrategies": [
                {**strategy, "featureName": each.name}
                for each in features
                for strategy in each.strategies[environment]
            ],
            "featureEnvironments": [
                {
                    "name": each.name,
                    "featureName": each.name,
                    "environment": environment,
                    "enabled": environment in each.on,
                    "variants": each.variants.get(environment, []),
                }
                for each in features
            ],
            "featureTags": [
                {"featureName": name, "tagType": type, "tagValue": value}
                for type, value, name in tags
            ],
            "segments": [{"id": id, "name": name} for name, id in segments.items()],
            "contextFields": [],
            "tagTypes": [],
        },
    }


def _each(peer: Peer, method: str, requests: Iterable[tuple[str, Json]]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(lambda request: peer.call(method, *request), requests):
            pass


def _dependencies(peer: Peer, features: list[Feature], random: Random) -> list[Feature]:
    """Add them; the features that depend on none and on which none does."""
    wanted: list[tuple[str, Json]] = []
    children, parents = set[str](), set[str]()
    for child in random.sample(features, int(len(features) * DEPENDENT_SHARE)):
        own = [each for each in features if each.project == child.project and each is not child]
        parent = random.choice(own)
        if child.name in parents or parent.name in children or child.name in children:
            continue
        body: Json = {"feature": parent.name, "enabled": random.random() < 0.8}
        names = {v["name"] for s in parent.strategies["production"] for v in s.get("variants", [])}
        if names and body["enabled"] and random.random() < 0.6:
            body["variants"] = sorted(names)[:2]
        children.add(child.name)
        parents.add(parent.name)
        path = f"/projects/{child.project}/features/{child.name}/dependencies"
        wanted.append((path, body))
    _each(peer, "POST", wanted)
    bound = children | parents
    return [each for each in features if each.name not in bound]


def _archive(peer: Peer, features: list[Feature]) -> None:
    for project in PROJECTS:
        names = [each.name for each in features if each.project == project]
        if names:
            peer.call("POST", f"/projects/{project}/archive", {"features": names})


def _people(peer: Peer) -> None:
    roots = (ROOT_ADMIN, ROOT_EDITOR, ROOT_EDITOR, ROOT_VIEWER)
    people: list[Json] = [
        {
            "username": f"person{number}",
            "name": f"Person {number}",
            "email": f"person{number}@example.com",
            "rootRole": roots[number % len(roots)],
        }
        for number in range(PEOPLE)
    ]
    del people[-1]["email"], people[-2]["username"], people[-3]["name"]
    _each(peer, "POST", (("/user-admin", {**each, "sendEmail": False}) for each in people))


def _cors(peer: Peer) -> None:
    origins = {"frontendApiOrigins": ["https://shop.example.com", "http://localhost:3000"]}
    try:
        peer.call("POST", "/ui-config/cors", origins)
    except Refused:  # as it was before
        peer.call("POST", "/ui-config", {"frontendSettings": origins})


def _tokens(peer: Peer) -> dict[str, str]:
    wanted: list[tuple[str, str, str, list[str]]] = [
        (f"client {environment}", "client", environment, ["*"]) for environment in ENVIRONMENTS
    ]
    wanted += [
        (f"frontend {environment}", "frontend", environment, ["*"]) for environment in ENVIRONMENTS
    ]
    wanted += [(f"client {id}", "client", "production", [id]) for id in PROJECTS]
    wanted.append(("client two", "client", "production", ["checkout", "search"]))
    tokens = {}
    for name, type, environment, projects in [*wanted, ("ends", "client", "production", ["*"])]:
        body: Json = {"tokenName": name, "type": type, "environment": environment}
        if name == "ends":
            body["expiresAt"] = "2090-01-01T00:00:00.000Z"
        made = peer.call("POST", "/api-tokens", {**body, "projects": projects})
        tokens[name] = str(made["secret"])
    return tokens
