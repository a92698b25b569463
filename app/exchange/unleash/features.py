"""Imports an export of features from Unleash into one project and one environment."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.catalogue.projects import service as projects
from app.catalogue.strategies.service import project_environment
from app.core.actor import Actor
from app.core.errors import Invalid, NoAccess
from app.core.events import service as events
from app.core.permissions import Permission
from app.core.words import spoken
from app.exchange.documents import service as configuration
from app.exchange.documents.documents import Kind
from app.exchange.documents.plans import Choice, Decisions, Plan, Status, Wanted

OF_FEATURES = (
    Permission.CREATE_FEATURE,
    Permission.UPDATE_FEATURE,
    Permission.CREATE_FEATURE_STRATEGY,
    Permission.UPDATE_FEATURE_STRATEGY,
    Permission.DELETE_FEATURE_STRATEGY,
    Permission.UPDATE_FEATURE_ENVIRONMENT,
    Permission.UPDATE_FEATURE_ENVIRONMENT_VARIANTS,
    Permission.UPDATE_FEATURE_DEPENDENCY,
)
NAMED = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """An error or a warning about an import, and the names of the things it is about."""

    message: str
    affected_items: list[str]


@dataclass(frozen=True, slots=True)
class Findings:
    errors: list[Finding]
    warnings: list[Finding]
    permissions: list[Finding]


def validate(
    actor: Actor, project_id: str, environment: str, wanted: Wanted, notes: Sequence[str]
) -> Findings:
    """Dry run of an import: its errors, warnings and missing permissions."""
    plan = _plan(actor, project_id, environment, wanted)
    missing = _missing(actor, project_id, plan)
    proposed = [entry.name for entry in plan.entries if entry.proposed]
    warnings = [Finding(note, []) for note in notes]
    if proposed:
        warnings.append(Finding(f"Changes in {environment} will be proposed for review.", proposed))
    permissions = [Finding("You lack permissions.", [*missing])] if missing else []
    return Findings(list(_errors(plan)), warnings, permissions)


def import_features(
    actor: Actor, project_id: str, environment: str, wanted: Wanted
) -> tuple[str, list[int]]:
    """Create or change features as the export says. Return batch id and change request ids.

    Raises:
        Invalid: when anything of it can’t be imported; then nothing is.
        NoAccess: when the actor lacks a permission.

    """
    plan = _plan(actor, project_id, environment, wanted)
    if errors := list(_errors(plan)):
        raise Invalid.because(
            [
                {
                    "path": "/data",
                    "message": f"{error.message} ({spoken(error.affected_items, NAMED)})",
                }
                for error in errors
            ]
        )
    if missing := _missing(actor, project_id, plan):
        names = spoken(missing, len(missing))
        raise NoAccess(f"You need the permissions {names} in project {project_id}.")
    batch_id = events.new_batch()
    result = configuration.write(actor.for_act(batch_id, "Imported from an export"), plan)
    return batch_id, result.change_requests


_ALL = Decisions(Choice.TAKE)


def _plan(actor: Actor, project_id: str, environment: str, wanted: Wanted) -> Plan:
    projects.require_for_content(actor, project_id)
    project_environment(project_id, environment)
    return configuration.plan(wanted, _ALL)


def _errors(plan: Plan) -> Iterator[Finding]:
    """Things that can’t be imported, grouped by the reason."""
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for entry in plan.entries:
        if entry.status is Status.IMPOSSIBLE:
            by_reason[entry.faults[0].message].append(entry.name)
        elif entry.kind is Kind.FEATURES and (entry.current or {}).get("archived"):
            by_reason["It is archived here. Revive it first."].append(entry.name)
    for reason, names in by_reason.items():
        yield Finding(reason, names)


def _missing(actor: Actor, project_id: str, plan: Plan) -> list[Permission]:
    needed: list[tuple[Permission, str | None]] = []
    kinds = {entry.kind for entry in plan.written}
    if kinds & {Kind.FEATURES, Kind.TAGS}:
        needed += [(permission, project_id) for permission in OF_FEATURES]
    if Kind.TAG_TYPES in kinds:
        needed.append((Permission.CREATE_TAG_TYPE, None))
    if Kind.CONTEXT_FIELDS in kinds:
        needed.append((Permission.CREATE_CONTEXT_FIELD, None))
    return [permission for permission, project in needed if not actor.may(permission, project)]


def only(content: Any, project_id: str, environment: str) -> Any:
    """The export, as if it had been made of this project and this environment."""

    def placed(rows: Any) -> Any:
        return [{**row, "environment": environment} for row in rows or ()]

    return {
        **content,
        "features": [{**feature, "project": project_id} for feature in content["features"]],
        "featureStrategies": placed(content.get("featureStrategies")),
        "featureEnvironments": placed(content.get("featureEnvironments")),
    }
