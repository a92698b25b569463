"""What things can refer to: what exists here, and what a plan creates before them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from app.accounts.models import key_of
from app.catalogue.constraints.models import Constraint, values_of
from app.catalogue.constraints.operators import Operator
from app.catalogue.constraints.service import not_legal
from app.catalogue.sdk_tokens.models import ALL
from app.catalogue.strategies import types
from app.catalogue.strategies.types import Parameter
from app.catalogue.tags.models import TagName
from app.exchange.documents.documents import Document, Fault, Item, Kind


class _Field(NamedTuple):
    legal_values: frozenset[str]
    is_sticky: bool


class _Segment(NamedTuple):
    project: str | None
    is_empty: bool


class _Project(NamedTuple):
    environments: frozenset[str]
    is_archived: bool
    stickiness: str = "default"


class Known:
    """Checks references. ``add`` each thing that a plan takes, so that the next can refer to it."""

    def __init__(self, document: Document) -> None:
        self.environments: set[str] = set()
        self.fields: dict[str, _Field] = {}
        self.types: dict[str, Mapping[str, Parameter]] = dict(types.TYPES)
        self.tag_types: set[str] = set()
        self.accounts: dict[str, str] = {}
        """The names of accounts by the keys of their user names and addresses."""
        self.projects: dict[str, _Project] = {}
        self.segments: dict[str, _Segment] = {}
        for kind in Kind:
            for item in document[kind].values():
                self.add(kind, item)

    def add(self, kind: Kind, item: Item) -> None:
        match kind:
            case Kind.ENVIRONMENTS:
                self.environments.add(item["name"])
            case Kind.CONTEXT_FIELDS:
                legal = frozenset(each["value"] for each in item["legalValues"])
                self.fields[item["name"]] = _Field(legal, item["stickiness"])
            case Kind.STRATEGY_TYPES:
                self.types[item["name"]] = types.of_custom(item["parameters"])
            case Kind.TAG_TYPES:
                self.tag_types.add(item["name"])
            case Kind.USERS | Kind.SERVICE_ACCOUNTS:
                for name in filter(None, (item["username"], item.get("email"))):
                    self.accounts[key_of(name)] = item["username"] or item["email"]
            case Kind.PROJECTS:
                environments = frozenset(item["environments"])
                sticky = item["defaultStickiness"]
                self.projects[item["id"]] = _Project(environments, item["archived"], sticky)
            case Kind.SEGMENTS:
                self.segments[item["name"]] = _Segment(item["project"], not item["constraints"])

    def stickiness(self, project_id: str) -> str:
        """The default stickiness of the project."""
        found = self.projects.get(project_id)
        return found.stickiness if found else "default"

    def faults(self, kind: Kind, item: Item) -> Iterator[Fault]:
        """Errors in the references of a thing."""
        match kind:
            case Kind.TAGS:
                yield from self._tag(item["type"], "type")
            case Kind.PROJECTS:
                yield from self._project(item)
            case Kind.SEGMENTS:
                if item["project"] is not None:
                    yield from self._in_project(item["project"])
                yield from self._constraints(item["constraints"], "constraints")
            case Kind.DEFAULT_STRATEGIES:
                yield from self._in_project(item["project"])
                yield from self._environment(item["environment"], "environment")
                yield from self._strategy(item["project"], item, "")
            case Kind.RELEASE_TEMPLATES:
                yield from self._release_template(item)
            case Kind.FEATURES:
                yield from self._feature(item)
            case Kind.SDK_TOKENS:
                yield from self._sdk_token(item)

    def _project(self, item: Item) -> Iterator[Fault]:
        for name in (*item["environments"], *item["approvals"]):
            yield from self._environment(name, "environments")
        for name in item["members"]:
            if key_of(name) not in self.accounts:
                yield Fault("members", f"No account matches {name!r}.")

    def _release_template(self, item: Item) -> Iterator[Fault]:
        if item["project"] is not None:
            yield from self._in_project(item["project"])
        for place, step in enumerate(item["milestones"]):
            for number, strategy in enumerate(step["strategies"]):
                here = f"milestones/{place}/strategies/{number}/"
                yield from self._strategy(item["project"], strategy, here)

    def _feature(self, item: Item) -> Iterator[Fault]:
        yield from self._in_project(item["project"])
        for tag in item["tags"]:
            yield from self._tag(TagName.read(tag).type, "tags")
        used = self.projects.get(item["project"], _Project(frozenset(), is_archived=False))
        for name, state in item["environments"].items():
            path = f"environments/{name}"
            yield from self._environment(name, path)
            if state["enabled"] and name not in used.environments:
                yield Fault(path, f"Project {item['project']} does not use this environment.")
            for place, strategy in enumerate(state["strategies"]):
                here = f"{path}/strategies/{place}/"
                yield from self._strategy(item["project"], strategy, here)
            for variant in state["variants"]:
                yield from self._sticky(variant["stickiness"], f"{path}/variants")
                for override in variant.get("overrides", ()):
                    yield from self._field(override["contextName"], f"{path}/variants")

    def _sdk_token(self, item: Item) -> Iterator[Fault]:
        yield from self._environment(item["environment"], "environment")
        for id in item["projects"]:
            if id != ALL:
                yield from self._in_project(id, "projects")

    def _strategy(self, project: str | None, strategy: Item, path: str) -> Iterator[Fault]:
        """``project``: None for a strategy that any project can use."""
        name, parameters = strategy["name"], strategy["parameters"]
        if name not in self.types:
            yield Fault(f"{path}name", f"There is no strategy type named {name!r}.")
        else:
            for key, message in types.problems(name, self.types[name], parameters).items():
                yield Fault(f"{path}parameters/{key}", message)
        yield from self._constraints(strategy["constraints"], f"{path}constraints")
        if name in types.TYPES:
            sticky = parameters.get("stickiness", "default")
            yield from self._sticky(sticky, f"{path}parameters/stickiness")
        for variant in strategy["variants"]:
            yield from self._sticky(variant["stickiness"], f"{path}variants")
        for segment in strategy["segments"]:
            found = self.segments.get(segment)
            if found is None or found.project not in {None, project}:
                message = f"Project {project} has no segment named {segment!r}."
                if project is None:
                    message = f"There is no segment named {segment!r} that all projects can use."
                yield Fault(f"{path}segments", message)
            elif found.is_empty:
                message = f"Segment {segment} has no constraints, so everyone would be in it."
                yield Fault(f"{path}segments", message)

    def _constraints(self, constraints: list[Constraint], path: str) -> Iterator[Fault]:
        for place, constraint in enumerate(constraints):
            field = self.fields.get(constraint["contextName"])
            if field is None:
                yield from self._field(constraint["contextName"], f"{path}/{place}")
            elif field.legal_values and Operator(constraint["operator"]).compares_whole_values:
                for value in values_of(constraint):
                    if value not in field.legal_values:
                        message = not_legal(constraint["contextName"], value, field.legal_values)
                        yield Fault(f"{path}/{place}", message)

    def _field(self, name: str, path: str) -> Iterator[Fault]:
        if name not in self.fields:
            yield Fault(path, f"There is no context field named {name!r}.")

    def _sticky(self, name: str, path: str) -> Iterator[Fault]:
        field = self.fields.get(name)
        if name not in types.ALWAYS_STICKY and (field is None or not field.is_sticky):
            message = f"There is no context field named {name!r} that stickiness can go by."
            yield Fault(path, message)

    def _environment(self, name: str, path: str) -> Iterator[Fault]:
        if name not in self.environments:
            yield Fault(path, f"There is no environment named {name!r}.")

    def _in_project(self, id: str, path: str = "project") -> Iterator[Fault]:
        if id not in self.projects:
            yield Fault(path, f"There is no project with the id {id!r}.")

    def _tag(self, type: str, path: str) -> Iterator[Fault]:
        if type not in self.tag_types:
            yield Fault(path, f"There is no tag type named {type!r}.")
