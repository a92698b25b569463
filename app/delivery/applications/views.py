"""Applications as pages and the API show them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from app.catalogue.strategies.queries import EnvironmentState
from app.catalogue.usage import sdks
from app.catalogue.usage.models import Application, Instance
from app.catalogue.usage.queries import RECENT
from app.catalogue.usage.sdks import Sdk
from app.core.clock import utcnow
from app.delivery.applications.queries import AskedFor, Unknown, Unreadable


def running(instances: Iterable[Instance]) -> list[Instance]:
    """Return the instances that were seen in the last 24 hours."""
    since = utcnow() - RECENT
    return [one for one in instances if one.last_seen_at >= since]


class _Instances:
    """Properties of instances of the last 7 days, which are sorted: seen last comes first."""

    instances: list[Instance]

    @property
    def last_seen(self) -> datetime | None:
        return self.instances[0].last_seen_at if self.instances else None

    @property
    def instance_count(self) -> int:
        """How many are running."""
        return len(running(self.instances))

    @property
    def sdks(self) -> list[Sdk]:
        return sdks.read(one.sdk for one in self.instances)

    @property
    def sdk_versions(self) -> list[dict[str, Any]]:
        """Each SDK with its versions, as they were reported: ``name:version``."""
        found: dict[str, list[str]] = {}
        for sdk in self.sdks:
            name, _, version = sdk.reported.partition(":")
            found.setdefault(name, []).append(version)
        return [{"name": name, "versions": versions} for name, versions in found.items()]

    @property
    def outdated_sdks(self) -> list[Sdk]:
        return [sdk for sdk in self.sdks if sdk.newest]


@dataclass(frozen=True)
class ApplicationView(_Instances):
    """An application; ``usage``: where it asks for features, by project that the reader can see."""

    application: Application
    instances: list[Instance] = field(default_factory=list)
    usage: list[dict[str, Any]] = field(default_factory=list)

    @property
    def environments(self) -> list[str]:
        return sorted({one.environment for one in self.instances})


class Suggestion(NamedTuple):
    """A feature with a name like one that no feature has."""

    name: str
    project_id: str


@dataclass(frozen=True)
class EnvironmentUse(_Instances):
    """An application in one environment.

    ``missing``: names that no feature has. ``unreadable``: features that its token doesn't read.
    """

    name: str
    instances: list[Instance]
    missing: list[str]
    unreadable: list[str]

    @property
    def frontend_sdks(self) -> list[Sdk]:
        return [sdk for sdk in self.sdks if sdk.is_frontend]

    @property
    def backend_sdks(self) -> list[Sdk]:
        return [sdk for sdk in self.sdks if not sdk.is_frontend]

    @property
    def issues(self) -> dict[str, Any]:
        return {
            "missing_features": self.missing,
            "unreadable_features": self.unreadable,
            "outdated_sdks": self.outdated_sdks,
        }


@dataclass(frozen=True, slots=True)
class ApplicationOverview:
    """Everything about an application. ``asked_for``: by hour, in projects that the reader can see.

    ``missing_strategies``: types of strategies of these features that it can't evaluate; empty if
    it didn't report which it can.
    """

    view: ApplicationView
    environments: list[EnvironmentUse]
    asked_for: list[AskedFor]
    unknown: list[Unknown]
    unreadable: list[Unreadable]
    missing_strategies: list[str]

    @property
    def projects(self) -> list[str]:
        return sorted({one.project_id for one in self.asked_for})

    @property
    def feature_count(self) -> int:
        return len({one.feature_id for one in self.asked_for})

    @property
    def issues(self) -> dict[str, list[str]]:
        return {"missing_strategies": self.missing_strategies}


@dataclass(frozen=True, slots=True)
class FeatureUse:
    """A feature that an application asked for, with its states and how often it was on and off."""

    name: str
    project_id: str
    is_archived: bool
    states: dict[str, EnvironmentState]
    yes: int
    checks: int
